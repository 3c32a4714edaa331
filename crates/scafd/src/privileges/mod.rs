//! Giving up what isn't needed: as whom the daemon and its helpers run, and with which rights.
//!
//! All of this holds for the calling thread and those that it starts later, so it comes before any other
//! thread.

mod account;
mod seccomp;
mod subuid;

pub use account::{Account, INSPECTOR, USER, users};
pub use seccomp::{PERMITTED, only};
pub use subuid::{Owners, UNKNOWN};

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, lchown};
use std::path::Path;

/// What the broker needs: affinities and priorities of others' threads, starting helpers as others, ending
/// these, and others' hardware counters.
pub const BROKERS: CapabilitySet = CapabilitySet::SYS_NICE
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::PERFMON);
/// What the guardian needs of these: affinities, and letting programs go on.
pub const GUARDIANS: CapabilitySet = CapabilitySet::SYS_NICE.union(CapabilitySet::KILL).union(GANGS);
/// One more where programs are stopped by control groups, some of which belong to users.
pub const GANGS: CapabilitySet = CapabilitySet::DAC_OVERRIDE;
/// Highest number of a capability that there is so far.
const LAST: u32 = 63;

/// Makes this process one that can't be traced by others of its user, nor leaves its memory in a file.
/// # Errors
/// The kernel's.
pub fn hide() -> io::Result<()> {
    // rustix reads the machine's parameters once, from where it may not look later.
    let _ = (rustix::param::page_size(), rustix::param::clock_ticks_per_second());
    // SAFETY: takes numbers.
    match unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Keeps those of these rights that this thread has, and no others.
/// # Errors
/// The kernel's.
pub fn keep(rights: CapabilitySet) -> io::Result<()> {
    let kept = rustix::thread::capabilities(None)?.permitted & rights;
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?)
}

/// Becomes that user, without groups and rights, for good.
/// # Errors
/// The kernel's; EINVAL where this user namespace has no such user.
pub fn become_for_good(account: &Account) -> io::Result<()> {
    for number in 0..=LAST {
        // Only who has CAP_SETPCAP may. Others can't gain any by these either: see the next line.
        let _ =
            rustix::thread::remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number));
    }
    set_no_new_privs(true)?;
    hide()?;
    let changed = switch(account.uid, account.gid);
    keep(CapabilitySet::empty())?;
    hide()?;
    changed
}

/// Becomes that user, without other groups. From root, rights go unless they are kept ([`with_rights_kept`]).
/// # Errors
/// The kernel's.
pub fn switch(uid: u32, gid: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    Ok(set_thread_res_uid(uid, uid, uid)?)
}

/// The same for a while: the rights can be had again ([`raise`]).
/// # Errors
/// The kernel's.
pub fn with_rights_kept(uid: u32, gid: u32) -> io::Result<()> {
    rustix::thread::set_keep_capabilities(true)?;
    switch(uid, gid)?;
    if uid == 0 {
        // Root's programs have all rights, and who has fewer may not look at them.
        return Ok(());
    }
    let have = rustix::thread::capabilities(None)?;
    Ok(set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..have })?)
}

/// Takes up the rights again that were kept.
/// # Errors
/// The kernel's.
pub fn raise() -> io::Result<()> {
    let have = rustix::thread::capabilities(None)?;
    Ok(set_capabilities(None, CapabilitySets { effective: have.permitted, ..have })?)
}

/// Whether this thread may become other users.
pub fn can_be_others() -> bool {
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
    rustix::process::geteuid().is_root()
        && rustix::thread::capabilities(None).is_ok_and(|have| have.effective.contains(needed))
}

/// Does something with the rights of a user only, and is root again.
/// # Errors
/// The kernel's.
pub fn as_user<T>(uid: u32, gid: u32, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let set = |uid: u32, gid: u32| -> io::Result<()> {
        set_thread_res_gid(None, Gid::from_raw(gid), None)?;
        Ok(set_thread_res_uid(None, Uid::from_raw(uid), None)?)
    };
    let done = set(uid, gid).and_then(|()| work());
    // The user first: then the right to change the group is there again.
    let back =
        set_thread_res_uid(None, Uid::ROOT, None).and_then(|()| set_thread_res_gid(None, Gid::ROOT, None));
    if back.is_err() {
        // Somebody else's rights for good would be worse than none.
        std::process::abort();
    }
    done
}

/// Has all threads of this process make only the daemon's system calls from now on; others fail.
/// # Errors
/// The kernel refuses.
pub fn confine() -> io::Result<()> {
    let filter = seccomp::filter().map_err(io::Error::other)?;
    seccompiler::apply_filter_all_threads(&filter).map_err(io::Error::other)
}

/// Gives a folder and the files in it to a user; it is made if it isn't there. By CAP_CHOWN alone: where that
/// is all, root may not look into others' folders either.
/// # Errors
/// The folder can't be made or given away.
pub fn hand_over(folder: &Path, to: &Account) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let about = std::fs::symlink_metadata(folder)?;
    if !about.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if about.uid() == to.uid {
        return Ok(());
    }
    lchown(folder, Some(0), Some(0))?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        // Whose it was may have put links here, to files of others.
        let plain = |about: std::fs::Metadata| about.is_file() && about.nlink() == 1;
        if std::fs::symlink_metadata(entry.path()).is_ok_and(plain) {
            lchown(entry.path(), Some(to.uid), Some(to.gid))?;
        }
    }
    lchown(folder, Some(to.uid), Some(to.gid))
}
