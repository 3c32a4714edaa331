//! The handshake: the client's [`Hello`], the daemon's [`Welcome`] with the two pages' file descriptors, and
//! another [`Hello`] whenever the client meets a new module ([`MORE_MODULES`]) or wants its contexts back
//! ([`ENTERED`]). Packets have a fixed layout in native byte order: both sides run on one machine. Who the
//! client is, the daemon learns from the socket (`SO_PEERCRED`), never from the packet.

use crate::{MAGIC, MASK_WORDS, VERSION};

/// Bytes of a program's name in a packet; the rest is zero.
pub const NAME_BYTES: usize = 64;
/// [`Hello::kind`]: attach me.
pub const ATTACH: u32 = 1;
/// [`Hello::kind`]: I met a further module; inspect me again.
pub const MORE_MODULES: u32 = 2;
/// [`Hello::kind`]: look at my page. I entered a region while contexts of mine were lent
/// ([`crate::grant::Word::lent`]), or I wait in MPI, or no longer ([`crate::rank`]).
pub const ENTERED: u32 = 3;
/// [`Hello::flags`]: its runtime binds threads, by its user's settings (`OMP_PROC_BIND` and the like).
pub const FLAG_BOUND: u32 = 1;
/// [`Hello::flags`]: the user says that it needs all its contexts at once (`scaf run --rigid`).
pub const FLAG_RIGID: u32 = 2;
/// [`Hello::flags`]: the user wants results to keep their bits (`scaf run --exact`).
pub const FLAG_EXACT: u32 = 4;
/// [`Hello::flags`]: a library computes on several threads ([`crate::runtimes::RuntimeCopy::at_work`]).
pub const FLAG_AT_WORK: u32 = 8;
/// [`Hello::flags`]: the program starts, and has met no region yet.
pub const FLAG_STARTING: u32 = 16;
/// [`Hello::flags`]: the user says that it may be stopped for others' turns even while others may wait for it
/// (`scaf run --turns`),
pub const FLAG_TURNS: u32 = 32;
/// [`Hello::flags`]: or that it may never be (`scaf run --no-turns`).
pub const FLAG_NO_TURNS: u32 = 64;
/// [`Hello::flags`]: from this bit on, 16 bits of the Slurm step's number, if there is a [`Hello::job`].
pub const STEP_SHIFT: u32 = 16;

/// Client to daemon.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`] of the client.
    pub version: u32,
    /// [`ATTACH`], [`MORE_MODULES`] or [`ENTERED`].
    pub kind: u32,
    /// [`FLAG_BOUND`], [`FLAG_RIGID`], [`FLAG_EXACT`], [`FLAG_AT_WORK`], [`FLAG_STARTING`], [`FLAG_TURNS`],
    /// [`FLAG_NO_TURNS`]; a step from [`STEP_SHIFT`] on.
    pub flags: u32,
    /// Modules with parallel regions met so far.
    pub modules: u32,
    /// Team size that the program would have without scaf, at least 1.
    pub natural: u32,
    /// Fewest contexts wanted, at least 1.
    pub min: u32,
    /// Most contexts wanted; 0 for no limit.
    pub max: u32,
    /// Weight in thousandths; 1,000 is normal.
    pub weight_milli: u32,
    /// Slurm's number of the job that it says it belongs to: a label, no more. 0 for none, as of clients
    /// that don't know of jobs.
    pub job: u32,
    /// Affinity that the program has of its own, as it was when the library was loaded.
    pub own: [u64; MASK_WORDS],
    /// What the user calls the program, in UTF-8; all zero for the name of its executable.
    pub name: [u8; NAME_BYTES],
}

/// Daemon to client; the grant page's and the report page's file descriptors come with it, in this order.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`] of the daemon. With another version no file descriptors come.
    pub version: u32,
    /// Number of the program, unique for the life of the daemon; 0 if it was refused.
    pub program: u64,
}

const _: () = {
    assert!(size_of::<Hello>() == 40 + 8 * MASK_WORDS + NAME_BYTES);
    assert!(size_of::<Welcome>() == 16);
};

/// Why a packet isn't taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No packet of this protocol.
    Garbage,
    /// Another version's.
    Version(u32),
    /// A field is out of its range; the name of the field.
    Range(&'static str),
}

impl Hello {
    /// The hello of a client with this team size and no requests of its own.
    pub const fn new(kind: u32, natural: u32) -> Hello {
        Hello {
            magic: MAGIC,
            version: VERSION,
            kind,
            flags: 0,
            modules: 1,
            natural,
            min: 1,
            max: 0,
            weight_milli: 1_000,
            job: 0,
            own: [0; MASK_WORDS],
            name: [0; NAME_BYTES],
        }
    }

    /// The packet as it is sent.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: Hello is repr(C), of integers without padding (asserted above): all bytes are initialised.
        unsafe { core::slice::from_raw_parts((self as *const Self).cast(), size_of::<Self>()) }
    }

    /// Reads a packet from an untrusted peer and checks the ranges of its numbers.
    /// # Errors
    /// What is wrong with it. Another version's packet is known as such whatever its size.
    pub fn parse(bytes: &[u8]) -> Result<Hello, Refusal> {
        let word = |at: usize| {
            bytes
                .get(at..at + 4)
                .and_then(|b| b.try_into().ok())
                .map(u32::from_ne_bytes)
                .ok_or(Refusal::Garbage)
        };
        if word(0)? != MAGIC {
            return Err(Refusal::Garbage);
        }
        match word(4)? {
            VERSION => {}
            other => return Err(Refusal::Version(other)),
        }
        if bytes.len() != size_of::<Hello>() {
            return Err(Refusal::Garbage);
        }
        // SAFETY: the length was checked, and any bytes are a value of Hello, which consists of integers.
        let hello: Hello = unsafe { core::ptr::read_unaligned(bytes.as_ptr().cast()) };
        let range = |ok: bool, field| if ok { Ok(()) } else { Err(Refusal::Range(field)) };
        range(matches!(hello.kind, ATTACH | MORE_MODULES | ENTERED), "kind")?;
        range((1..=65_535).contains(&hello.natural), "natural")?;
        range((1..=65_535).contains(&hello.min), "min")?;
        range(hello.max == 0 || (hello.min..=65_535).contains(&hello.max), "max")?;
        range((1..=1_000_000).contains(&hello.weight_milli), "weight")?;
        Ok(hello)
    }

    /// Slurm's numbers of the job and the step that it says it belongs to, the step's low 16 bits.
    pub fn job(&self) -> Option<(u32, u16)> {
        (self.job != 0).then_some((self.job, (self.flags >> STEP_SHIFT) as u16))
    }

    /// The user's name for the program; `None` if there is none or it isn't UTF-8.
    pub fn name(&self) -> Option<&str> {
        let end = self.name.iter().position(|b| *b == 0).unwrap_or(NAME_BYTES);
        core::str::from_utf8(&self.name[..end]).ok().filter(|name| !name.is_empty())
    }
}

impl Welcome {
    /// The packet as it is sent.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: Welcome is repr(C), of integers without padding (asserted above): all bytes are
        // initialised.
        unsafe { core::slice::from_raw_parts((self as *const Self).cast(), size_of::<Self>()) }
    }

    /// Reads the daemon's answer; `None` unless it is of this version and accepts the client.
    pub fn parse(bytes: &[u8]) -> Option<Welcome> {
        if bytes.len() != size_of::<Welcome>() {
            return None;
        }
        // SAFETY: the length was checked, and any bytes are a value of Welcome.
        let welcome: Welcome = unsafe { core::ptr::read_unaligned(bytes.as_ptr().cast()) };
        (welcome.magic == MAGIC && welcome.version == VERSION && welcome.program != 0).then_some(welcome)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let mut name = [0; NAME_BYTES];
        name[..3].copy_from_slice(b"fit");
        Hello { max: 4, own: [u64::MAX; MASK_WORDS], name, ..Hello::new(ATTACH, 4) }
    }

    #[test]
    fn a_hello_survives_the_trip() {
        let sent = hello();
        let got = Hello::parse(sent.as_bytes()).unwrap();
        assert_eq!(got, sent);
        assert_eq!(got.name(), Some("fit"));
        assert_eq!(got.job(), None);
        let flags = FLAG_EXACT | 7 << STEP_SHIFT;
        assert_eq!(Hello { job: 4711, flags, ..sent }.job(), Some((4711, 7)));
    }

    #[test]
    fn another_version_is_known_as_such_whatever_its_size() {
        let sent = Hello { version: VERSION + 1, ..hello() };
        assert_eq!(Hello::parse(&sent.as_bytes()[..12]), Err(Refusal::Version(VERSION + 1)));
    }

    #[test]
    fn fields_out_of_range_are_named() {
        for (bad, field) in [
            (Hello { kind: 9, ..hello() }, "kind"),
            (Hello { natural: 0, ..hello() }, "natural"),
            (Hello { min: 0, ..hello() }, "min"),
            (Hello { min: 5, max: 4, ..hello() }, "max"),
            (Hello { weight_milli: 0, ..hello() }, "weight"),
        ] {
            assert_eq!(Hello::parse(bad.as_bytes()), Err(Refusal::Range(field)));
        }
    }

    #[test]
    fn a_refusal_is_no_welcome() {
        let yes = Welcome { magic: MAGIC, version: VERSION, program: 1 };
        assert_eq!(Welcome::parse(yes.as_bytes()), Some(yes));
        assert_eq!(Welcome::parse(Welcome { program: 0, ..yes }.as_bytes()), None);
        assert_eq!(Welcome::parse(&yes.as_bytes()[1..]), None);
    }

    use proptest::{collection, num::u8};

    proptest::proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in collection::vec(u8::ANY, 0..400)) {
            let _ = Hello::parse(&bytes);
            let _ = Welcome::parse(&bytes);
        }
    }
}
