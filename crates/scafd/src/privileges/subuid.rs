//! Owners of user ids. A user of rootless containers has a range of subordinate user ids (`/etc/subuid`).
//! These count as their owner wherever something is divided among users: else a user who uses a hundred ids
//! would have a hundred parts.

use super::account::users;
use std::collections::BTreeSet;
use std::time::SystemTime;

/// The overflow id, which stands for users that a user namespace doesn't have, such as the host's root.
pub const UNKNOWN: u32 = 65_534;

const RANGES: &str = "/etc/subuid";
const USERS: &str = "/etc/passwd";
/// Lines of each file that are read.
const MOST: usize = 10_000;

/// Ranges of user ids and their owners.
#[derive(Default)]
pub struct Owners {
    ranges: Vec<Range>,
    /// Ids in these ranges that are users of this machine.
    known: BTreeSet<u32>,
    /// The files' times of change when they were read.
    read: [Option<SystemTime>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    first: u32,
    count: u32,
    owner: u32,
}

impl Range {
    fn has(&self, uid: u32) -> bool {
        uid.checked_sub(self.first).is_some_and(|at| at < self.count)
    }
}

impl Owners {
    /// This machine's.
    pub fn of_machine() -> Owners {
        let mut owners = Owners::default();
        owners.refresh();
        owners
    }

    /// Reads the machine's files, if they have changed since.
    pub fn refresh(&mut self) {
        let changed =
            [RANGES, USERS].map(|path| std::fs::metadata(path).and_then(|about| about.modified()).ok());
        if changed != self.read {
            let [ranges, users] =
                [RANGES, USERS].map(|path| std::fs::read_to_string(path).unwrap_or_default());
            *self = Owners { read: changed, ..Owners::parse(&ranges, &users) };
        }
    }

    /// Parses lines of `NAME:FIRST:COUNT`, where the name may be an id, and those of `/etc/passwd`.
    fn parse(subuid: &str, passwd: &str) -> Owners {
        let number = |name: &str| {
            let known = users(passwd).find(|(known, ..)| *known == name).map(|(_, uid, _)| uid);
            known.or_else(|| name.parse().ok())
        };
        let range = |line: &str| {
            let mut fields = line.split(':');
            let (name, first, count) = (fields.next()?, fields.next()?, fields.next()?);
            let range =
                Range { owner: number(name)?, first: first.parse().ok()?, count: count.parse().ok()? };
            (range.owner != 0 && range.first != 0).then_some(range)
        };
        let ranges: Vec<Range> = subuid.lines().take(MOST).filter_map(range).collect();
        let in_one = |uid: &u32| ranges.iter().any(|range| range.has(*uid));
        let known = users(passwd).take(MOST).map(|(_, uid, _)| uid).filter(in_one).collect();
        Owners { ranges, known, read: [None; 2] }
    }

    /// The owner of an id: mostly itself. Root's ranges don't count: they are many users', of a service's
    /// containers.
    pub fn of(&self, uid: u32) -> u32 {
        let range = self.ranges.iter().find(|range| range.has(uid) && !self.known.contains(&uid));
        range.map_or(uid, |range| range.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_range_are_their_owners_and_others_their_own() {
        let subuid = "ann:100000:65536\n1001:165536:10\nroot:200000:10\nnobody-here:300000:10\n\
                      ann:0:9\nann:x:9\nann:4294967290:100\n\n";
        let passwd = "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:/bin/sh\nbob:x:100007:100007::/:/bin/sh\n";
        let owners = Owners::parse(subuid, passwd);
        assert_eq!(owners.ranges.len(), 3);
        let of = |uid| owners.of(uid);
        assert_eq!([100_000, 165_535, 165_536, 165_545, u32::MAX].map(of), [1000, 1000, 1001, 1001, 1000]);
        let own = [0, 1000, 99_999, 100_007, 165_546, 200_000, 300_000];
        assert_eq!(own.map(of), own);
    }
}
