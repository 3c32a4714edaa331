//! The messages between daemon and broker: packets of one size, checked by the receiver.

use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::io;

/// Most users that are banned at a time.
pub const MOST_BANNED: usize = 32;
/// Most affinities that a message lists.
pub const MOST_MASKS: usize = 8;
const WORDS: usize = 8 + MASK_WORDS * (MOST_MASKS + 2);
/// Bytes of a packet.
pub const BYTES: usize = 8 * WORDS;
/// Bytes of a text in an answer.
pub const MOST_TEXT: usize = 256;

/// A process; the start time distinguishes it from a later one with the same id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Who {
    pub pid: u32,
    /// In clock ticks since boot.
    pub starttime: u64,
}

/// A request of the daemon. Each has one answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// Manage the process at the other end of the connection that comes along.
    Attach,
    /// Stop managing a process.
    Leave(u32),
    /// Set the affinity of threads that have `own` or one of `masks` to `mask`.
    Narrow { who: Who, own: PuSet, masks: Vec<PuSet>, mask: PuSet, any: bool },
    /// Set the affinity of threads that have one of `masks` to `own`.
    Restore { who: Who, own: PuSet, masks: Vec<PuSet> },
    /// Give a child that was forked with an affinity of ours its parent's own.
    RestoreChild { pid: u32, parent: u32 },
    /// Open a process's executable (`O_PATH`).
    Executable(u32),
    /// Inspect a process's code. A file with the helper's question may come along.
    Inspect(u32),
    /// Lower an inspection's priority.
    Calm(u32),
    /// End an inspection.
    Kill(u32),
    /// Has an inspection ended?
    Ended(u32),
    /// Open a counter of a thread; of the broker itself if both ids are 0.
    Count { pid: u32, tid: u32, kind: u32, config: [u64; 3] },
    /// Add a member to the latest turn, or begin another turn with it.
    Member { begins: bool, slices: u32, who: Who },
    /// Put the turns that were added since the last time into effect.
    TakeTurns,
    /// Which member couldn't be stopped?
    Unstopped,
    /// Wake the guardian to check the lease.
    Wake,
    /// Remove the socket and its lock.
    Unlink,
    /// Ban these users, at most [`MOST_BANNED`], and no others.
    SetBans(Vec<u32>),
}

/// An answer of the broker.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// It has started: the [code](crate::apply::stop::Way::code) of how it stops programs, 0 if it doesn't.
    Ready(u32),
    /// Done; a number if one was asked for.
    Done(u64),
    /// The affinity that was set.
    Set(PuSet),
    /// The process has ended.
    Gone,
    /// Not done; the error number.
    Refused(i32),
    /// A member couldn't be stopped, and why.
    Unstopped(Who, String),
}

impl Answer {
    /// The number of an [`Answer::Done`], else an error.
    pub fn done(&self) -> io::Result<u64> {
        match self {
            Answer::Done(number) => Ok(*number),
            Answer::Gone => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            Answer::Refused(why) => Err(io::Error::from_raw_os_error(*why)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// A message as words, and the place of the next one.
struct Packet {
    words: [u64; WORDS],
    at: usize,
}

impl Packet {
    fn bytes(&self) -> [u8; BYTES] {
        std::array::from_fn(|at| self.words[at / 8].to_ne_bytes()[at % 8])
    }

    fn parse(bytes: &[u8]) -> Option<Packet> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Some(Packet { words: std::array::from_fn(word), at: 0 })
    }
}

/// What a message consists of.
trait Field: Sized {
    fn put(&self, packet: &mut Packet);
    fn take(packet: &mut Packet) -> Option<Self>;
}

impl Field for u64 {
    fn put(&self, packet: &mut Packet) {
        packet.words[packet.at] = *self;
        packet.at += 1;
    }

    fn take(packet: &mut Packet) -> Option<u64> {
        packet.at += 1;
        packet.words.get(packet.at - 1).copied()
    }
}

/// Types that are one word each.
macro_rules! word {
    ($($type:ty: |$value:ident| $put:expr, |$word:ident| $take:expr;)+) => {$(
        impl Field for $type {
            fn put(&self, packet: &mut Packet) {
                let $value = *self;
                u64::from($put).put(packet);
            }

            fn take(packet: &mut Packet) -> Option<$type> {
                let $word = u64::take(packet)?;
                $take
            }
        }
    )+};
}

word! {
    u32: |value| value, |word| word.try_into().ok();
    i32: |value| value.unsigned_abs(), |word| word.try_into().ok();
    bool: |value| value, |word| Some(word != 0);
}

impl Field for Who {
    fn put(&self, packet: &mut Packet) {
        self.pid.put(packet);
        self.starttime.put(packet);
    }

    fn take(packet: &mut Packet) -> Option<Who> {
        Some(Who { pid: Field::take(packet)?, starttime: Field::take(packet)? })
    }
}

impl Field for [u64; 3] {
    fn put(&self, packet: &mut Packet) {
        self.iter().for_each(|word| word.put(packet));
    }

    fn take(packet: &mut Packet) -> Option<[u64; 3]> {
        Some([u64::take(packet)?, u64::take(packet)?, u64::take(packet)?])
    }
}

impl Field for PuSet {
    fn put(&self, packet: &mut Packet) {
        (0..MASK_WORDS).for_each(|at| self.words().get(at).copied().unwrap_or(0).put(packet));
    }

    fn take(packet: &mut Packet) -> Option<PuSet> {
        let words = packet.words.get(packet.at..packet.at + MASK_WORDS)?;
        packet.at += MASK_WORDS;
        Some(PuSet::from_words(words))
    }
}

/// Types whose lists may be in a message, with the most elements.
trait Listed: Field {
    const MOST: usize;
}

impl Listed for PuSet {
    const MOST: usize = MOST_MASKS;
}

impl Listed for u32 {
    const MOST: usize = MOST_BANNED;
}

impl<T: Listed> Field for Vec<T> {
    fn put(&self, packet: &mut Packet) {
        let list = &self[..self.len().min(T::MOST)];
        (list.len() as u64).put(packet);
        list.iter().for_each(|element| element.put(packet));
    }

    fn take(packet: &mut Packet) -> Option<Vec<T>> {
        let count = u64::take(packet).filter(|count| *count <= T::MOST as u64)?;
        (0..count).map(|_| T::take(packet)).collect()
    }
}

impl Field for String {
    fn put(&self, packet: &mut Packet) {
        let text = &self.as_bytes()[..self.len().min(MOST_TEXT)];
        (text.len() as u64).put(packet);
        for bytes in text.chunks(8) {
            let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
            u64::from_ne_bytes(std::array::from_fn(byte)).put(packet);
        }
    }

    fn take(packet: &mut Packet) -> Option<String> {
        let length = u64::take(packet).filter(|length| *length <= MOST_TEXT as u64)? as usize;
        let words = (0..length.div_ceil(8)).map(|_| u64::take(packet)).collect::<Option<Vec<u64>>>()?;
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).take(length).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Writes and parses messages: the number of each, and its fields in order.
macro_rules! messages {
    ($type:ident: $($code:literal $variant:ident $(($($value:ident),+))? $({$($field:ident),+})?;)+) => {
        impl $type {
            /// As a packet.
            pub fn bytes(&self) -> [u8; BYTES] {
                let mut packet = Packet { words: [0; WORDS], at: 0 };
                match self {$(
                    $type::$variant $(($($value),+))? $({$($field),+})? => {
                        u64::put(&$code, &mut packet);
                        $($($value.put(&mut packet);)+)?
                        $($($field.put(&mut packet);)+)?
                    }
                )+}
                packet.bytes()
            }

            /// What a packet says; `None` if it says nothing.
            pub fn parse(bytes: &[u8]) -> Option<$type> {
                let mut packet = Packet::parse(bytes)?;
                Some(match u64::take(&mut packet)? {
                    $($code => {
                        $($(let $value = Field::take(&mut packet)?;)+)?
                        $($(let $field = Field::take(&mut packet)?;)+)?
                        $type::$variant $(($($value),+))? $({$($field),+})?
                    })+
                    _ => return None,
                })
            }
        }
    };
}

messages! { Ask:
    1 Attach;
    2 Leave(pid);
    3 Narrow { who, own, mask, masks, any };
    4 Restore { who, own, masks };
    5 RestoreChild { pid, parent };
    6 Executable(pid);
    7 Inspect(pid);
    8 Calm(helper);
    9 Kill(helper);
    10 Ended(helper);
    11 Count { pid, tid, kind, config };
    12 Member { begins, slices, who };
    13 TakeTurns;
    14 Unstopped;
    15 Wake;
    16 Unlink;
    17 SetBans(users);
}

messages! { Answer:
    1 Ready(way);
    2 Done(number);
    3 Set(mask);
    4 Gone;
    5 Refused(error);
    6 Unstopped(who, why);
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
        let member = |(begins, slices, who)| Ask::Member { begins, slices, who };
        let narrow = |(who, own, masks, mask, any)| Ask::Narrow { who, own, masks, mask, any };
        let count = |([pid, tid, kind], config): ([u32; 3], _)| Ask::Count { pid, tid, kind, config };
        prop_oneof![
            Just(Ask::Attach),
            any::<u32>().prop_map(Ask::Leave),
            (who(), set(), masks(), set(), any::<bool>()).prop_map(narrow),
            (who(), set(), masks()).prop_map(|(who, own, masks)| Ask::Restore { who, own, masks }),
            any::<[u32; 2]>().prop_map(|[pid, parent]| Ask::RestoreChild { pid, parent }),
            any::<u32>().prop_map(Ask::Executable),
            any::<u32>().prop_map(Ask::Inspect),
            any::<u32>().prop_map(Ask::Calm),
            any::<u32>().prop_map(Ask::Kill),
            any::<u32>().prop_map(Ask::Ended),
            (any::<[u32; 3]>(), any::<[u64; 3]>()).prop_map(count),
            (any::<bool>(), any::<u32>(), who()).prop_map(member),
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
        fn messages_are_parsed_as_written(ask in ask(), answer in answer()) {
            prop_assert_eq!(Ask::parse(&ask.bytes()), Some(ask));
            prop_assert_eq!(Answer::parse(&answer.bytes()), Some(answer));
        }

        #[test]
        fn any_packet_is_parsed_or_refused(code in 0u64..20, rest in rest()) {
            let all = std::iter::once(code).chain(rest);
            let bytes: Vec<u8> = all.flat_map(u64::to_ne_bytes).collect();
            let _ = (Ask::parse(&bytes), Answer::parse(&bytes));
            prop_assert_eq!(Ask::parse(&bytes[1..]), None);
        }
    }
}
