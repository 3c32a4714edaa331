//! Whose a user is. Who may make users of his own, for containers without root, is given a range of numbers
//! for them (`/etc/subuid`). All of them are one user where something is divided among users: else who takes
//! a hundred of these numbers would have a hundred parts.

use super::account::users;
use std::path::Path;
use std::time::SystemTime;

const FILE: &str = "/etc/subuid";
/// Lines of the file that are heeded.
const MOST: usize = 10_000;

/// Ranges of numbers, and whose they are.
#[derive(Default)]
pub struct Owners {
    ranges: Vec<Range>,
    read: Option<SystemTime>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    first: u32,
    count: u32,
    owner: u32,
}

impl Owners {
    /// Reads the machine's ranges, if they have changed since.
    pub fn refresh(&mut self) {
        let changed = std::fs::metadata(FILE).and_then(|about| about.modified()).ok();
        if changed != self.read {
            let text = |path: &str| std::fs::read_to_string(Path::new(path)).unwrap_or_default();
            self.ranges = parse(&text(FILE), &text("/etc/passwd"));
            self.read = changed;
        }
    }

    /// Whose that user is: its own, mostly. Root's ranges are many users': those of containers of a service.
    pub fn of(&self, uid: u32) -> u32 {
        let has = |range: &&Range| uid.checked_sub(range.first).is_some_and(|at| at < range.count);
        self.ranges.iter().find(has).map_or(uid, |range| range.owner)
    }
}

/// Lines of `NAME:FIRST:COUNT`, where the name may be a number.
fn parse(subuid: &str, passwd: &str) -> Vec<Range> {
    let number = |name: &str| {
        let known = users(passwd).find(|(known, ..)| *known == name).map(|(_, uid, _)| uid);
        known.or_else(|| name.parse().ok())
    };
    let range = |line: &str| {
        let mut fields = line.split(':');
        let (name, first, count) = (fields.next()?, fields.next()?, fields.next()?);
        let range = Range { owner: number(name)?, first: first.parse().ok()?, count: count.parse().ok()? };
        (range.owner != 0 && range.first != 0).then_some(range)
    };
    subuid.lines().take(MOST).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_range_are_their_owners_and_others_their_own() {
        let subuid = "ann:100000:65536\n1001:165536:10\nroot:200000:10\nnobody-here:300000:10\n\
                      ann:0:9\nann:x:9\nann:4294967290:100\n\n";
        let passwd = "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:/bin/sh\n";
        let owners = Owners { ranges: parse(subuid, passwd), read: None };
        assert_eq!(owners.ranges.len(), 3);
        let of = |uid| owners.of(uid);
        assert_eq!([100_000, 165_535, 165_536, 165_545, u32::MAX].map(of), [1000, 1000, 1001, 1001, 1000]);
        let own = [0, 1000, 99_999, 165_546, 200_000, 300_000];
        assert_eq!(own.map(of), own);
    }
}
