//! Whose daemon may be trusted: it learns what the program does, and sets its affinity.

use super::file::File;
use super::process;

/// As whom the kernel shows users that a user namespace doesn't have (`/proc/sys/kernel/overflowuid`).
const UNKNOWN: libc::uid_t = 65_534;
/// What `/proc/self/uid_map` says where all users there are are known.
const ALL: &[u8] = b"0 0 4294967295";

/// Root's, and our own.
pub fn may_serve(uid: libc::uid_t) -> bool {
    uid == 0 || uid == process::user()
}

/// The same in a place where nobody else can put a socket: root's folder, or one that the user named. In a
/// container with a user namespace root of the host is nobody known.
pub fn may_serve_here(uid: libc::uid_t) -> bool {
    may_serve(uid) || (uid == UNKNOWN && hides_users())
}

/// Whether we are in a user namespace that has a part of the users only.
fn hides_users() -> bool {
    let mut map = [0u8; 64];
    let got = File::open(c"/proc/self/uid_map", libc::O_RDONLY).and_then(|file| file.read(&mut map));
    let map = map.get(..got.unwrap_or(0)).unwrap_or_default();
    let words = map.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    !map.is_empty() && !words.eq(ALL.split(|byte| *byte == b' '))
}
