//! Dropping privileges: users and capabilities of the daemon and its helpers.
//!
//! All of this applies to the calling thread and to threads that it starts later, so it has to be done before
//! there are others.

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

/// What the broker needs: to set affinities and priorities of others' threads, to start and kill helpers as
/// other users, and to open others' hardware counters.
pub const BROKERS: CapabilitySet = CapabilitySet::SYS_NICE
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::PERFMON);
/// What the guardian needs of these: to set affinities, and to continue stopped programs.
pub const GUARDIANS: CapabilitySet = CapabilitySet::SYS_NICE.union(CapabilitySet::KILL).union(GANGS);
/// One more if programs are stopped by control groups, some of which belong to users.
pub const GANGS: CapabilitySet = CapabilitySet::DAC_OVERRIDE;
/// The highest possible capability number.
const LAST: u32 = 63;

/// Makes this process undumpable: other processes of its user can't trace it, and it leaves no core file.
pub fn hide() -> io::Result<()> {
    // rustix reads these once, from a file that an undumpable process can't open.
    let _ = (rustix::param::page_size(), rustix::param::clock_ticks_per_second());
    // SAFETY: PR_SET_DUMPABLE takes a number and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Drops all capabilities but these.
pub fn keep(rights: CapabilitySet) -> io::Result<()> {
    let kept = rustix::thread::capabilities(None)?.permitted & rights;
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?)
}

/// Becomes that user for good, without groups and capabilities. EINVAL if this user namespace has no such
/// user.
pub fn become_for_good(account: &Account) -> io::Result<()> {
    for number in 0..=LAST {
        // Needs CAP_SETPCAP. Without it no_new_privs, below, has to do.
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

/// Becomes that user, without other groups. Root loses its capabilities unless kept ([`with_rights_kept`]).
pub fn switch(uid: u32, gid: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    Ok(set_thread_res_uid(uid, uid, uid)?)
}

/// The same for a while: [`raise`] makes the capabilities effective again.
pub fn with_rights_kept(uid: u32, gid: u32) -> io::Result<()> {
    rustix::thread::set_keep_capabilities(true)?;
    switch(uid, gid)?;
    if uid == 0 {
        // Root's programs have all capabilities, and a process with fewer may not read their /proc files.
        return Ok(());
    }
    let have = rustix::thread::capabilities(None)?;
    Ok(set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..have })?)
}

/// Makes the kept capabilities effective again.
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

/// Does some work with a user's rights only, then becomes root again.
pub fn as_user<T>(uid: u32, gid: u32, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let set = |uid: u32, gid: u32| -> io::Result<()> {
        set_thread_res_gid(None, Gid::from_raw(gid), None)?;
        Ok(set_thread_res_uid(None, Uid::from_raw(uid), None)?)
    };
    let done = set(uid, gid).and_then(|()| work());
    // The user first, for the right to change the group.
    let back =
        set_thread_res_uid(None, Uid::ROOT, None).and_then(|()| set_thread_res_gid(None, Gid::ROOT, None));
    if back.is_err() {
        // Going on as that user would be a security hole.
        std::process::abort();
    }
    done
}

/// Installs the daemon's seccomp filter for all threads.
pub fn confine() -> io::Result<()> {
    let filter = seccomp::filter().map_err(io::Error::other)?;
    seccompiler::apply_filter_all_threads(&filter).map_err(io::Error::other)
}

/// Gives a folder, which is made if missing, and the files in it to a user. Needs CAP_CHOWN only: in some
/// containers root has no more, and can't read others' folders.
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
        // The former owner may have put links to others' files here.
        let plain = |about: std::fs::Metadata| about.is_file() && about.nlink() == 1;
        if std::fs::symlink_metadata(entry.path()).is_ok_and(plain) {
            lchown(entry.path(), Some(to.uid), Some(to.gid))?;
        }
    }
    lchown(folder, Some(to.uid), Some(to.gid))
}
