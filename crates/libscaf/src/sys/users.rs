//! Whose daemon may be trusted: it learns what the program does, and sets its affinity.

use core::ffi::c_int;

/// As whom the kernel shows users that a user namespace doesn't have (`/proc/sys/kernel/overflowuid`).
const UNKNOWN: libc::uid_t = 65_534;
/// What `/proc/self/uid_map` says where all users there are are known.
const ALL: &[u8] = b"0 0 4294967295";

/// Root's, and our own.
pub fn may_serve(uid: libc::uid_t) -> bool {
    // SAFETY: no arguments.
    uid == 0 || uid == unsafe { libc::geteuid() }
}

/// The same in a place where nobody else can put a socket: root's folder, or one that the user named. In a
/// container with a user namespace root of the host is nobody known.
pub fn may_serve_here(uid: libc::uid_t) -> bool {
    may_serve(uid) || (uid == UNKNOWN && hides_users())
}

/// Whether we are in a user namespace that has a part of the users only.
fn hides_users() -> bool {
    let mut map = [0u8; 64];
    // SAFETY: a constant path, memory of ours, and a descriptor of ours.
    let got = unsafe {
        let file = libc::open(c"/proc/self/uid_map".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let got = libc::read(file, map.as_mut_ptr().cast(), map.len());
        libc::close(file as c_int);
        got
    };
    let map = map.get(..usize::try_from(got).unwrap_or(0)).unwrap_or_default();
    let words = map.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    got > 0 && !words.eq(ALL.split(|byte| *byte == b' '))
}
