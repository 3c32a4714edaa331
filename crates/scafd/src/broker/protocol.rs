//! The packets between daemon and broker: of one size, all of numbers, and checked by whoever gets them.

use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::io;

/// Most users that are kept out at a time.
pub const MOST_BANNED: usize = 32;
/// Most affinities of ours that are told of a program.
pub const MOST_MASKS: usize = 8;
const WORDS: usize = 8 + MASK_WORDS * (MOST_MASKS + 2);
/// Bytes of a packet.
pub const BYTES: usize = 8 * WORDS;
/// Bytes of a text in an answer.
pub const MOST_TEXT: usize = 256;

/// A process, which is no later one with the same id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Who {
    /// Process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did.
    pub starttime: u64,
}

/// What the daemon wants. Each is answered once.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// The process at the other end of the connection that comes along is to be managed.
    Attach,
    /// A process isn't managed any more.
    Leave(u32),
    /// Threads whose affinity is `own` or one of `masks` are to have `mask`.
    Narrow {
        /// Whose.
        who: Who,
        /// The program's own affinity.
        own: PuSet,
        /// Those that we have set.
        masks: Vec<PuSet>,
        /// The new one.
        mask: PuSet,
    },
    /// Threads whose affinity is one of `masks` are to have `own`.
    Restore {
        /// Whose.
        who: Who,
        /// The program's own affinity.
        own: PuSet,
        /// Those that we have set.
        masks: Vec<PuSet>,
    },
    /// A child that was born with an affinity of ours is to have its parent's own.
    RestoreChild {
        /// The child.
        pid: u32,
        /// A managed process, of which it is a descendant.
        parent: u32,
    },
    /// A path descriptor of a process's executable is wanted.
    Executable(u32),
    /// An inspection of a process's code. What is known of files may come along.
    Inspect(u32),
    /// An inspection is to take little of the machine from now on.
    Calm(u32),
    /// An inspection is to end.
    Kill(u32),
    /// Has an inspection ended?
    Ended(u32),
    /// A counter of a thread; of the broker itself if both ids are 0.
    Count {
        /// Process.
        pid: u32,
        /// Thread of it.
        tid: u32,
        /// Which unit counts.
        kind: u32,
        /// Which event of it.
        config: [u64; 3],
    },
    /// One who takes turns, in the turn of the one before or in the next.
    Member {
        /// Whether a turn begins.
        begins: bool,
        /// Slices of the turn.
        slices: u32,
        /// Who.
        who: Who,
    },
    /// Those told since the last time take turns from now on.
    TakeTurns,
    /// Who couldn't be stopped?
    Unstopped,
    /// The guardian is to look at the lease.
    Wake,
    /// The socket is to be removed, and its lock.
    Unlink,
    /// These users, at most [`MOST_BANNED`], and no others, are to be kept from connecting.
    SetBans(Vec<u32>),
}

/// What the broker says.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// It is there: the [code](crate::apply::stop::Way::code) of how it stops programs, 0 if it doesn't.
    Ready(u32),
    /// Done; a number if one was asked for.
    Done(u64),
    /// The affinity that was set.
    Set(PuSet),
    /// There is no such process any more.
    Gone,
    /// Not done; the system's number for why.
    Refused(i32),
    /// It couldn't be stopped, and why.
    Unstopped(Who, String),
}

impl Answer {
    /// The number of a [`Answer::Done`].
    /// # Errors
    /// It wasn't done.
    pub fn done(&self) -> io::Result<u64> {
        match self {
            Answer::Done(number) => Ok(*number),
            Answer::Gone => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            Answer::Refused(why) => Err(io::Error::from_raw_os_error(*why)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

struct Packet {
    words: [u64; WORDS],
    at: usize,
}

impl Packet {
    fn new(code: u64) -> Packet {
        Packet { words: [0; WORDS], at: 0 }.put(code)
    }

    fn put(mut self, word: impl Into<u64>) -> Packet {
        self.words[self.at] = word.into();
        self.at += 1;
        self
    }

    fn put_who(self, who: Who) -> Packet {
        self.put(who.pid).put(who.starttime)
    }

    fn put_set(mut self, set: &PuSet) -> Packet {
        let words = set.words();
        for at in 0..MASK_WORDS {
            self = self.put(words.get(at).copied().unwrap_or(0));
        }
        self
    }

    /// At most [`MOST_MASKS`].
    fn put_sets(self, sets: &[PuSet]) -> Packet {
        let sets = &sets[..sets.len().min(MOST_MASKS)];
        sets.iter().fold(self.put(sets.len() as u64), |packet, set| packet.put_set(set))
    }

    fn bytes(&self) -> [u8; BYTES] {
        std::array::from_fn(|at| self.words[at / 8].to_ne_bytes()[at % 8])
    }

    fn parse(bytes: &[u8]) -> Option<Packet> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Some(Packet { words: std::array::from_fn(word), at: 0 })
    }

    fn take(&mut self) -> Option<u64> {
        self.at += 1;
        self.words.get(self.at - 1).copied()
    }

    fn take_small(&mut self) -> Option<u32> {
        self.take()?.try_into().ok()
    }

    fn take_who(&mut self) -> Option<Who> {
        Some(Who { pid: self.take_small()?, starttime: self.take()? })
    }

    fn take_set(&mut self) -> Option<PuSet> {
        let words = self.words.get(self.at..self.at + MASK_WORDS)?;
        self.at += MASK_WORDS;
        Some(PuSet::from_words(words))
    }

    fn take_sets(&mut self) -> Option<Vec<PuSet>> {
        let count = self.take().filter(|count| *count <= MOST_MASKS as u64)?;
        (0..count).map(|_| self.take_set()).collect()
    }
}

impl Ask {
    /// As a packet.
    pub fn bytes(&self) -> [u8; BYTES] {
        let packet = match self {
            Ask::Attach => Packet::new(1),
            Ask::Leave(pid) => Packet::new(2).put(*pid),
            Ask::Narrow { who, own, masks, mask } => {
                Packet::new(3).put_who(*who).put_set(own).put_set(mask).put_sets(masks)
            }
            Ask::Restore { who, own, masks } => Packet::new(4).put_who(*who).put_set(own).put_sets(masks),
            Ask::RestoreChild { pid, parent } => Packet::new(5).put(*pid).put(*parent),
            Ask::Executable(pid) => Packet::new(6).put(*pid),
            Ask::Inspect(pid) => Packet::new(7).put(*pid),
            Ask::Calm(pid) => Packet::new(8).put(*pid),
            Ask::Kill(pid) => Packet::new(9).put(*pid),
            Ask::Ended(pid) => Packet::new(10).put(*pid),
            Ask::Count { pid, tid, kind, config } => {
                let packet = Packet::new(11).put(*pid).put(*tid).put(*kind);
                config.iter().fold(packet, |packet, word| packet.put(*word))
            }
            Ask::Member { begins, slices, who } => Packet::new(12).put(*begins).put(*slices).put_who(*who),
            Ask::TakeTurns => Packet::new(13),
            Ask::Unstopped => Packet::new(14),
            Ask::Wake => Packet::new(15),
            Ask::Unlink => Packet::new(16),
            Ask::SetBans(users) => {
                let users = &users[..users.len().min(MOST_BANNED)];
                users.iter().fold(Packet::new(17).put(users.len() as u64), |packet, user| packet.put(*user))
            }
        };
        packet.bytes()
    }

    /// What a packet says; `None` if it says nothing.
    pub fn parse(bytes: &[u8]) -> Option<Ask> {
        let mut packet = Packet::parse(bytes)?;
        let packet = &mut packet;
        Some(match packet.take()? {
            1 => Ask::Attach,
            2 => Ask::Leave(packet.take_small()?),
            3 => {
                let (who, own, mask) = (packet.take_who()?, packet.take_set()?, packet.take_set()?);
                Ask::Narrow { who, own, masks: packet.take_sets()?, mask }
            }
            4 => {
                let (who, own) = (packet.take_who()?, packet.take_set()?);
                Ask::Restore { who, own, masks: packet.take_sets()? }
            }
            5 => Ask::RestoreChild { pid: packet.take_small()?, parent: packet.take_small()? },
            6 => Ask::Executable(packet.take_small()?),
            7 => Ask::Inspect(packet.take_small()?),
            8 => Ask::Calm(packet.take_small()?),
            9 => Ask::Kill(packet.take_small()?),
            10 => Ask::Ended(packet.take_small()?),
            11 => {
                let (pid, tid, kind) = (packet.take_small()?, packet.take_small()?, packet.take_small()?);
                Ask::Count { pid, tid, kind, config: [packet.take()?, packet.take()?, packet.take()?] }
            }
            12 => {
                let (begins, slices) = (packet.take()? != 0, packet.take_small()?);
                Ask::Member { begins, slices, who: packet.take_who()? }
            }
            13 => Ask::TakeTurns,
            14 => Ask::Unstopped,
            15 => Ask::Wake,
            16 => Ask::Unlink,
            17 => {
                let count = packet.take().filter(|count| *count <= MOST_BANNED as u64)?;
                Ask::SetBans((0..count).map(|_| packet.take_small()).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

impl Answer {
    /// As a packet.
    pub fn bytes(&self) -> [u8; BYTES] {
        let packet = match self {
            Answer::Ready(way) => Packet::new(1).put(*way),
            Answer::Done(number) => Packet::new(2).put(*number),
            Answer::Set(mask) => Packet::new(3).put_set(mask),
            Answer::Gone => Packet::new(4),
            Answer::Refused(why) => Packet::new(5).put(why.unsigned_abs()),
            Answer::Unstopped(who, text) => {
                let text = &text.as_bytes()[..text.len().min(MOST_TEXT)];
                let packet = Packet::new(6).put_who(*who).put(text.len() as u64);
                text.chunks(8).fold(packet, |packet, bytes| {
                    let word = |at: usize| bytes.get(at).copied().unwrap_or(0);
                    packet.put(u64::from_ne_bytes(std::array::from_fn(word)))
                })
            }
        };
        packet.bytes()
    }

    /// What a packet says; `None` if it says nothing.
    pub fn parse(bytes: &[u8]) -> Option<Answer> {
        let mut packet = Packet::parse(bytes)?;
        Some(match packet.take()? {
            1 => Answer::Ready(packet.take_small()?),
            2 => Answer::Done(packet.take()?),
            3 => Answer::Set(packet.take_set()?),
            4 => Answer::Gone,
            5 => Answer::Refused(packet.take()?.try_into().ok()?),
            6 => {
                let who = packet.take_who()?;
                let length = packet.take().filter(|length| *length <= MOST_TEXT as u64)? as usize;
                let words = (0..length.div_ceil(8)).map(|_| packet.take()).collect::<Option<Vec<u64>>>()?;
                let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).take(length).collect();
                Answer::Unstopped(who, String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rest() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec(any::<u64>(), WORDS - 1)
    }

    fn set() -> impl Strategy<Value = PuSet> {
        proptest::collection::btree_set(0..scaf_proto::MAX_PUS as u32, 0..9)
            .prop_map(|all| all.into_iter().collect())
    }

    fn who() -> impl Strategy<Value = Who> {
        (any::<u32>(), any::<u64>()).prop_map(|(pid, starttime)| Who { pid, starttime })
    }

    fn ask() -> impl Strategy<Value = Ask> {
        let masks = || proptest::collection::vec(set(), 0..=MOST_MASKS);
        prop_oneof![
            Just(Ask::Attach),
            any::<u32>().prop_map(Ask::Leave),
            (who(), set(), masks(), set()).prop_map(|(who, own, masks, mask)| Ask::Narrow {
                who,
                own,
                masks,
                mask
            }),
            (who(), set(), masks()).prop_map(|(who, own, masks)| Ask::Restore { who, own, masks }),
            any::<[u32; 2]>().prop_map(|[pid, parent]| Ask::RestoreChild { pid, parent }),
            any::<u32>().prop_map(Ask::Executable),
            any::<u32>().prop_map(Ask::Inspect),
            any::<u32>().prop_map(Ask::Calm),
            any::<u32>().prop_map(Ask::Kill),
            any::<u32>().prop_map(Ask::Ended),
            (any::<[u32; 3]>(), any::<[u64; 3]>()).prop_map(|([pid, tid, kind], config)| Ask::Count {
                pid,
                tid,
                kind,
                config
            }),
            (any::<bool>(), any::<u32>(), who()).prop_map(|(begins, slices, who)| Ask::Member {
                begins,
                slices,
                who
            }),
            Just(Ask::TakeTurns),
            Just(Ask::Unstopped),
            Just(Ask::Wake),
            Just(Ask::Unlink),
            proptest::collection::vec(any::<u32>(), 0..=MOST_BANNED).prop_map(Ask::SetBans),
        ]
    }

    fn answer() -> impl Strategy<Value = Answer> {
        prop_oneof![
            any::<u32>().prop_map(Answer::Ready),
            any::<u64>().prop_map(Answer::Done),
            set().prop_map(Answer::Set),
            Just(Answer::Gone),
            (0..200).prop_map(Answer::Refused),
            (who(), "[ -~]{0,256}").prop_map(|(who, text)| Answer::Unstopped(who, text)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_said_is_understood(ask in ask(), answer in answer()) {
            prop_assert_eq!(Ask::parse(&ask.bytes()), Some(ask));
            prop_assert_eq!(Answer::parse(&answer.bytes()), Some(answer));
        }

        #[test]
        fn anything_may_be_said(code in 0u64..20, rest in rest()) {
            let all = std::iter::once(code).chain(rest);
            let bytes: Vec<u8> = all.flat_map(u64::to_ne_bytes).collect();
            let _ = (Ask::parse(&bytes), Answer::parse(&bytes));
            prop_assert_eq!(Ask::parse(&bytes[1..]), None);
        }
    }
}
