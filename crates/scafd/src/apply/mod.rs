//! Changes the system: the affinity of programs' threads, and whether they run at all ([`gang`]). The only module of the daemon that does, and it has a
//! dry run that does not, and hands for a machine that passes for another one ([`slow`]).
//!
//! A program that is given fewer PUs than it has of its own has all its threads' affinity *narrowed*. Threads that
//! have bound themselves, so whose mask is neither the program's own nor the one we set, keep it. What was narrowed
//! stands in the guardian's table first ([`guardian`]), so that it is given back even if we are killed.

pub mod gang;
mod groups;
pub mod guardian;
pub mod slow;

use crate::observe::{Observer, affinity};
use gang::Gangs;
use guardian::Guardian;
use scaf_policy::PuSet;
use slow::Slow;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

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
    /// The same for a context of slow motion.
    #[error("a thread of process {pid} can't be moved to context {context}: {source}")]
    Unmoved {
        /// Process id.
        pid: u32,
        /// The context.
        context: u32,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The hands of the daemon.
pub struct Apply {
    observer: Observer,
    // In this order: the guardian ends when nobody holds its pipe any more.
    gangs: Option<Gangs>,
    hands: Hands,
}

enum Hands {
    /// They set affinities.
    Real(Guardian),
    /// They move threads to groups that pass for contexts.
    Slow(Slow),
    /// They do nothing.
    Dry,
}

impl Apply {
    /// Hands that act, and that leave a guardian behind.
    pub fn new(guardian: Guardian) -> Apply {
        Apply::by(Hands::Real(guardian))
    }

    /// Hands that move threads between the contexts of slow motion.
    pub fn slow(slow: Slow) -> Apply {
        Apply::by(Hands::Slow(slow))
    }

    /// Hands that only pretend.
    pub fn dry_run() -> Apply {
        Apply::by(Hands::Dry)
    }

    fn by(hands: Hands) -> Apply {
        Apply { observer: Observer::new(Path::new("/")), gangs: None, hands }
    }

    /// The same hands, by which programs take turns as well.
    #[must_use]
    pub fn with_gangs(self, gangs: Option<Gangs>) -> Apply {
        Apply { gangs, ..self }
    }

    /// By what programs take turns, if they can.
    pub fn gangs(&mut self) -> Option<&mut Gangs> {
        self.gangs.as_mut()
    }

    /// Whether affinities are left as they are.
    pub fn leaves_affinities(&self) -> bool {
        !matches!(self.hands, Hands::Real(_))
    }

    /// How fast a context is against a core: less than 1 in slow motion.
    pub fn pace(&self) -> f64 {
        if let Hands::Slow(slow) = &self.hands { slow.contexts().pace() } else { 1.0 }
    }

    /// How often [`Apply::follow`] wants to be called while a program is there.
    pub fn rhythm(&self) -> Option<Duration> {
        matches!(self.hands, Hands::Slow(_)).then_some(slow::RHYTHM)
    }

    /// Looks after new threads where they aren't born where they belong.
    pub fn follow(&mut self) {
        if let Hands::Slow(slow) = &mut self.hands {
            slow.follow();
        }
    }

    /// Sets the affinity of all threads to `mask`. Gives the mask as the kernel took it (within the program's
    /// cpuset).
    ///
    /// # Errors
    /// The process is gone, or the kernel refuses.
    pub fn narrow(&mut self, target: &Target, mask: &PuSet) -> Result<PuSet, Trouble> {
        let guardian = match &mut self.hands {
            Hands::Real(guardian) => guardian,
            Hands::Slow(slow) => {
                let on: Vec<u32> = mask.iter().collect();
                return slow.place(target.pid, target.starttime, &on).map(|()| mask.clone());
            }
            Hands::Dry => return Ok(mask.clone()),
        };
        let mut ours: Vec<&PuSet> = target.masks.iter().filter(|known| *known != mask).collect();
        ours.push(mask);
        guardian.note(target.pid, target.starttime, target.own, &ours);
        let known: Vec<&PuSet> = std::iter::once(target.own).chain(target.masks).collect();
        match sweep(&self.observer, target.pid, target.starttime, &known, mask)? {
            Some(taken) if taken != *mask => {
                if !ours.contains(&&taken) {
                    ours.push(&taken);
                    guardian.note(target.pid, target.starttime, target.own, &ours);
                }
                Ok(taken)
            }
            _ => Ok(mask.clone()),
        }
    }

    /// Gives all threads the program's own affinity back.
    ///
    /// # Errors
    /// As for [`Apply::narrow`]; the guardian keeps its note then.
    pub fn restore(&mut self, target: &Target) -> Result<(), Trouble> {
        let guardian = match &mut self.hands {
            Hands::Real(guardian) => guardian,
            Hands::Slow(slow) => return slow.place(target.pid, target.starttime, &[]),
            Hands::Dry => return Ok(()),
        };
        let known: Vec<&PuSet> = target.masks.iter().collect();
        let result = if known.is_empty() {
            Ok(())
        } else {
            sweep(&self.observer, target.pid, target.starttime, &known, target.own).map(drop)
        };
        if matches!(result, Ok(()) | Err(Trouble::Gone(_))) {
            guardian.clear(target.pid);
        }
        result
    }

    /// Gives a child process that was born with a narrowed affinity its parent's own.
    pub fn restore_child(&self, pid: u32, masks: &[PuSet], own: &PuSet) {
        if !self.leaves_affinities()
            && affinity(pid).is_ok_and(|mask| mask != *own && masks.contains(&mask))
            && let Ok(stat) = self.observer.process(pid).stat()
        {
            // A child that has just ended needs nothing.
            let known: Vec<&PuSet> = masks.iter().collect();
            let _ = sweep(&self.observer, pid, stat.starttime, &known, own);
        }
    }
}

/// Whether some thread of a process has bound itself: its mask is none of `known`.
///
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

/// Sets every thread of a process whose mask is one of `known` to `mask`. A thread that is created meanwhile has its
/// creator's old or new mask, so the list is read until it has nothing new, at most 3 times.
///
/// Gives the mask as the kernel took it for the first thread that was set (within its cpuset), if any was. Not
/// the main thread's: that one may have bound itself.
pub(crate) fn sweep(
    observer: &Observer,
    pid: u32,
    starttime: u64,
    known: &[&PuSet],
    mask: &PuSet,
) -> Result<Option<PuSet>, Trouble> {
    let process = observer.process(pid);
    if process.stat().map_err(|_| Trouble::Gone(pid))?.starttime != starttime {
        return Err(Trouble::Gone(pid));
    }
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
            if have != *mask && known.contains(&&have) {
                match set_affinity(tid, mask) {
                    Err(e) if e.raw_os_error() != Some(libc::ESRCH) => {
                        return Err(Trouble::Denied { pid, mask: mask.clone(), source: e });
                    }
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
    use std::sync::mpsc::channel;

    #[test]
    fn a_sweep_moves_threads_with_any_known_mask_and_tells_what_the_kernel_took_for_them() {
        let all = affinity(0).unwrap();
        let pus: Vec<u32> = all.iter().collect();
        let [first, .., last] = pus[..] else { return };
        let only = |pu: u32| -> PuSet { pu.to_string().parse().unwrap() };
        // One thread missed by an earlier change of ours, and one that has bound itself elsewhere.
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
        // PU 1000 isn't there, so the kernel takes less.
        let wanted: PuSet = format!("{first},1000").parse().unwrap();
        let taken = sweep(&observer, pid, starttime, &[&older, &only(last)], &wanted).unwrap();
        assert_eq!(taken, Some(only(first)));
        assert_eq!(affinity(missed.0).unwrap(), only(first));
        let back = sweep(&observer, pid, starttime, &[&older], &all).unwrap();
        assert_eq!((back, affinity(bound.0).unwrap()), (None, only(first)));
        assert_eq!(affinity(0).unwrap(), all);
        let gone = sweep(&observer, pid, starttime + 1, &[&only(first)], &all);
        assert!(matches!(gone, Err(Trouble::Gone(_))) && affinity(missed.0).unwrap() == only(first));
        for (_, end, thread) in [missed, bound] {
            drop(end);
            thread.join().unwrap();
        }
    }
}
