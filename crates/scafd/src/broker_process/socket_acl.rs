//! Bans users by the access list of the daemon's socket (`acl(5)`), so that the kernel refuses them at no
//! cost to the daemon. An administrator's own entries stay, but for users with only the right to execute.

use crate::privileges::UNKNOWN;
use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// The attribute, its version, and the tags of its entries: Linux's `posix_acl_xattr.h`.
const NAME: &str = "system.posix_acl_access";
const VERSION: u32 = 2;
const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const OWNERS_GROUP: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;
/// The id in an entry whose tag needs none.
const NOBODY: u32 = u32::MAX;
/// The right to execute means nothing for a socket. So this bans a user as 0 does, and marks our entries.
const OURS: u16 = 1;
/// Room for what administrators have.
const MOST_BYTES: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    tag: u16,
    may: u16,
    id: u32,
}

/// Bans these users, and no others, from the socket at `path`. Fails for root, and without access lists.
pub fn set_bans(path: &Path, users: &[u32]) -> io::Result<()> {
    if users.contains(&0) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = [0u8; MOST_BYTES];
    let before = match lgetxattr(path, NAME, &mut bytes) {
        Ok(length) => parse(&bytes[..length]).ok_or(io::ErrorKind::InvalidData)?,
        Err(Errno::NODATA) => of_mode(rustix::fs::lstat(path)?.st_mode),
        // Without access lists nobody is banned.
        Err(Errno::OPNOTSUPP) if users.is_empty() => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    let set = |users: &[u32]| -> io::Result<()> {
        let after = with(without_ours(before.clone()), users);
        if after != before {
            lsetxattr(path, NAME, &to_bytes(&after), XattrFlags::empty())?;
        }
        Ok(())
    };
    set(users).or_else(|_| set(&users.iter().copied().filter(|user| *user != UNKNOWN).collect::<Vec<_>>()))
}

fn of_mode(mode: u32) -> Vec<Entry> {
    let entry = |tag, shift: u32| Entry { tag, may: (mode >> shift & 7) as u16, id: NOBODY };
    vec![entry(OWNER, 6), entry(OWNERS_GROUP, 3), entry(OTHERS, 0)]
}

fn without_ours(mut list: Vec<Entry>) -> Vec<Entry> {
    list.retain(|entry| (entry.tag, entry.may) != (USER, OURS));
    if list.iter().all(|entry| ![USER, GROUP].contains(&entry.tag))
        && let Some(at) = list.iter().position(|entry| entry.tag == MASK)
    {
        // The mask was added for our entries.
        let mask = list.remove(at).may;
        list.iter_mut().filter(|entry| entry.tag == OWNERS_GROUP).for_each(|group| group.may &= mask);
    }
    list
}

/// The order is the kernel's: owner, users, groups, mask, others.
fn with(mut list: Vec<Entry>, users: &[u32]) -> Vec<Entry> {
    if users.is_empty() {
        return list;
    }
    let of_group = list.iter().find(|entry| entry.tag == OWNERS_GROUP).map_or(0, |group| group.may);
    if list.iter().all(|entry| entry.tag != MASK) {
        // Linux ignores a list whose mask is 0.
        list.push(Entry { tag: MASK, may: of_group.max(OURS), id: NOBODY });
    }
    let is_named = |list: &[Entry], user| list.iter().any(|it| (it.tag, it.id) == (USER, user));
    for user in users {
        if !is_named(&list, *user) {
            list.push(Entry { tag: USER, may: OURS, id: *user });
        }
    }
    list.sort_by_key(|entry| entry.tag);
    list
}

fn parse(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (version, entries) = bytes.split_first_chunk()?;
    let (entries, []) = entries.as_chunks::<8>() else { return None };
    let entry = |[a, b, c, d, id @ ..]: &[u8; 8]| Entry {
        tag: u16::from_le_bytes([*a, *b]),
        may: u16::from_le_bytes([*c, *d]),
        id: u32::from_le_bytes(*id),
    };
    (u32::from_le_bytes(*version) == VERSION).then(|| entries.iter().map(entry).collect())
}

fn to_bytes(list: &[Entry]) -> Vec<u8> {
    let entry = |entry: &Entry| {
        let [a, b] = entry.tag.to_le_bytes();
        let [c, d] = entry.may.to_le_bytes();
        let [e, f, g, h] = entry.id.to_le_bytes();
        [a, b, c, d, e, f, g, h]
    };
    VERSION.to_le_bytes().into_iter().chain(list.iter().flat_map(entry)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn admins() -> impl Strategy<Value = Vec<Entry>> {
        let named = |tag| {
            let may = prop_oneof![Just(0u16), 2..=7u16];
            (1u32..40, may).prop_map(move |(id, may)| Entry { tag, may, id })
        };
        let users = vec(named(USER), 0..4).prop_map(|mut users| {
            users.sort_by_key(|user| user.id);
            users.dedup_by_key(|user| user.id);
            users
        });
        (0u32..0o1000, 0..=7u16, users, vec(named(GROUP), 0..3)).prop_map(|(mode, mask, users, groups)| {
            let mut list = of_mode(mode);
            if !users.is_empty() || !groups.is_empty() {
                list.push(Entry { tag: MASK, may: mask, id: NOBODY });
            }
            list.extend(users.into_iter().chain(groups));
            list.sort_by_key(|entry| entry.tag);
            list
        })
    }

    fn users() -> impl Strategy<Value = Vec<u32>> {
        btree_set(1u32..40, 0..9).prop_map(|users| users.into_iter().collect())
    }

    proptest! {
        #[test]
        fn lists_are_parsed_as_written_and_an_admins_entries_stay(list in admins(), users in users()) {
            prop_assert_eq!(parse(&to_bytes(&list)), Some(list.clone()));
            let ours = with(list.clone(), &users);
            prop_assert!(ours.is_sorted_by_key(|entry| entry.tag));
            for user in &users {
                prop_assert_eq!(ours.iter().filter(|it| (it.tag, it.id) == (USER, *user)).count(), 1);
            }
            prop_assert_eq!(without_ours(ours), list);
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in vec(any::<u8>(), 0..60)) {
            if let Some(list) = parse(&bytes) {
                prop_assert_eq!(to_bytes(&list), bytes);
            }
        }
    }

    #[test]
    fn a_file_has_its_mode_back_and_root_is_never_banned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let list = || {
            parse(&{
                let mut bytes = [0u8; MOST_BYTES];
                let length = lgetxattr(&path, NAME, &mut bytes).unwrap_or(0);
                bytes[..length].to_vec()
            })
        };
        match set_bans(&path, &[7, 9]) {
            Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                eprintln!("skipped: no access lists in {}", path.display());
                return;
            }
            done => done.unwrap(),
        }
        let ours = |id| Entry { tag: USER, may: OURS, id };
        assert!([7, 9].iter().all(|user| list().unwrap().contains(&ours(*user))));
        set_bans(&path, &[9]).unwrap();
        assert!(!list().unwrap().contains(&ours(7)) && list().unwrap().contains(&ours(9)));
        assert_eq!(set_bans(&path, &[5, 0]).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        set_bans(&path, &[]).unwrap();
        assert_eq!((list(), std::fs::metadata(&path).unwrap().mode() & 0o777), (None, 0o666));
    }
}
