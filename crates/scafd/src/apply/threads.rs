//! The affinity of a process's threads.

use crate::observe::proc_pid::{Process, StartedBy};
use crate::observe::{Observer, affinity};
use crate::privileges;
use scaf_policy::PuSet;
use std::collections::BTreeSet;
use std::io;

/// A program's threads, and the masks that are known to be the program's own or ours.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// Process id.
    pub pid: u32,
    /// When the process started; a later one with the same id is not touched.
    pub starttime: u64,
    /// The affinity that it has without us.
    pub own: &'a PuSet,
    /// The affinities that we have set, as far as they are remembered; some threads may have any of them.
    pub masks: &'a [PuSet],
    /// Whether threads are narrowed whatever affinity they have: it is the runtime that has bound them.
    pub any_mask: bool,
}

/// Why an affinity was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The process has ended.
    #[error("process {0} has ended")]
    Gone(u32),
    /// The kernel did not let us.
    #[error("the affinity of process {pid} cannot be set to {mask}: {source}")]
    Denied {
        /// Process id.
        pid: u32,
        /// What was to be set.
        mask: PuSet,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Whether some thread of a process has bound itself: its mask is none of `known`.
/// # Errors
/// There is no such process.
pub fn bound_thread(observer: &Observer, pid: u32, known: &[&PuSet]) -> io::Result<Option<(u32, PuSet)>> {
    for tid in observer.process(pid).threads()? {
        if let Ok(mask) = affinity(tid)
            && !known.contains(&&mask)
        {
            return Ok(Some((tid, mask)));
        }
    }
    Ok(None)
}

/// Which threads are moved, by the affinity that they have.
#[derive(Clone, Copy)]
pub(crate) enum Having<'a> {
    /// One of these.
    OneOf(&'a [&'a PuSet]),
    Any,
}

impl Having<'_> {
    fn is(self, mask: &PuSet) -> bool {
        match self {
            Having::OneOf(known) => known.contains(&mask),
            Having::Any => true,
        }
    }
}

/// Sets every thread of a process that is `having` such a mask to `mask`. A thread created meanwhile has its
/// creator's old or new mask, so the list is read until it has nothing new, at most 3 times. Gives the mask
/// that the kernel took for the first thread that was set, if any; the main thread may have bound itself.
pub(crate) fn sweep(
    observer: &Observer,
    pid: u32,
    starttime: u64,
    having: Having<'_>,
    mask: &PuSet,
) -> Result<Option<PuSet>, Trouble> {
    let process = observer.process(pid);
    let started_by = process.started_by();
    if process.stat().map_err(|_| Trouble::Gone(pid))?.starttime != starttime {
        return Err(Trouble::Gone(pid));
    }
    let StartedBy { uid, gid, has_rights } = started_by.map_err(|_| Trouble::Gone(pid))?;
    if uid == 0 || has_rights || !privileges::can_be_others() {
        return move_threads(&process, having, mask);
    }
    // With its user's rights only. A thread may end at any time, and its number be given to another process
    // at once: then the kernel refuses, unless that is this user's, too.
    let mut moved = Err(Trouble::Gone(pid));
    let became = privileges::as_user(uid, gid, || {
        moved = move_threads(&process, having, mask);
        Ok(())
    });
    became.map_err(|source| Trouble::Denied { pid, mask: mask.clone(), source })?;
    moved
}

fn move_threads(process: &Process, having: Having<'_>, mask: &PuSet) -> Result<Option<PuSet>, Trouble> {
    let pid = process.id();
    let mut done = BTreeSet::new();
    let mut taken = None;
    for _ in 0..3 {
        let mut news = false;
        for tid in process.threads().map_err(|_| Trouble::Gone(pid))? {
            if !done.insert(tid) {
                continue;
            }
            news = true;
            let Ok(have) = affinity(tid) else { continue };
            if have != *mask && having.is(&have) && process.has_thread(tid) {
                match set_affinity(tid, mask) {
                    Err(e) if e.raw_os_error() != Some(libc::ESRCH) && process.has_thread(tid) => {
                        return Err(Trouble::Denied { pid, mask: mask.clone(), source: e });
                    }
                    // Another process's by now, or nobody's. What that had isn't known; wide harms nobody.
                    Ok(()) if !process.has_thread(tid) => drop(set_affinity(tid, &everywhere())),
                    Ok(()) if taken.is_none() => {
                        taken = affinity(tid).ok().filter(|taken| taken.is_subset(mask));
                    }
                    _ => {}
                }
            }
        }
        if !news {
            break;
        }
    }
    Ok(taken)
}

fn everywhere() -> PuSet {
    PuSet::from_words(&[u64::MAX; scaf_proto::MASK_WORDS])
}

/// Sets one thread's affinity; PUs beyond [`scaf_proto::MAX_PUS`] are left out.
fn set_affinity(tid: u32, mask: &PuSet) -> io::Result<()> {
    let words = mask_words(mask);
    let tid = i32::try_from(tid).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: the kernel reads size_of_val(&words) bytes from it.
    let rc = unsafe { libc::sched_setaffinity(tid, size_of_val(&words), words.as_ptr().cast()) };
    if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A set in the form that pages and the kernel have.
pub fn mask_words(set: &PuSet) -> scaf_proto::grant::Mask {
    let words = set.words();
    std::array::from_fn(|i| words.get(i).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::mpsc::channel;

    #[test]
    fn a_sweep_moves_threads_with_any_known_mask_and_tells_what_the_kernel_took_for_them() {
        let all = affinity(0).unwrap();
        let pus: Vec<u32> = all.iter().collect();
        let [first, .., last] = pus[..] else { return };
        let only = |pu: u32| -> PuSet { pu.to_string().parse().unwrap() };
        let spawn = |mask: PuSet| {
            let (tell, told) = channel();
            let (end, ended) = channel::<()>();
            let thread = std::thread::spawn(move || {
                let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
                set_affinity(tid, &mask).unwrap();
                tell.send(tid).unwrap();
                let _ = ended.recv();
            });
            (told.recv().unwrap(), end, thread)
        };
        let missed = spawn(only(last));
        let bound = spawn(only(first));
        let observer = Observer::new(Path::new("/"));
        let pid = std::process::id();
        let starttime = observer.process(pid).stat().unwrap().starttime;
        let older: PuSet = "1001".parse().unwrap();
        let wanted: PuSet = format!("{first},1000").parse().unwrap();
        let taken = sweep(&observer, pid, starttime, Having::OneOf(&[&older, &only(last)]), &wanted).unwrap();
        assert_eq!(taken, Some(only(first)));
        assert_eq!(affinity(missed.0).unwrap(), only(first));
        let back = sweep(&observer, pid, starttime, Having::OneOf(&[&older]), &all).unwrap();
        assert_eq!((back, affinity(bound.0).unwrap()), (None, only(first)));
        assert_eq!(affinity(0).unwrap(), all);
        let gone = sweep(&observer, pid, starttime + 1, Having::OneOf(&[&only(first)]), &all);
        assert!(matches!(gone, Err(Trouble::Gone(_))) && affinity(missed.0).unwrap() == only(first));
        if privileges::can_be_others() {
            // With another user's rights: as if the numbers of this process's threads were others' by now.
            let process = observer.process(pid);
            let others = |known: &PuSet| {
                let mut moved = Ok(None);
                let work = || {
                    moved = move_threads(&process, Having::OneOf(&[known]), &all);
                    Ok(())
                };
                privileges::as_user(65_534, 65_534, work).unwrap();
                moved
            };
            assert!(matches!(others(&only(first)), Err(Trouble::Denied { .. })));
            assert_eq!(affinity(missed.0).unwrap(), only(first));
        }
        sweep(&observer, pid, starttime, Having::Any, &only(last)).unwrap();
        assert_eq!((affinity(bound.0).unwrap(), affinity(0).unwrap()), (only(last), only(last)));
        set_affinity(0, &all).unwrap();
        for (_, end, thread) in [missed, bound] {
            drop(end);
            thread.join().unwrap();
        }
    }
}
