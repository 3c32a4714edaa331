//! Samples of the places in code where a process's threads are, by the kernel's CPU clock: how much of its
//! time a program waits by spinning.
//!
//! A user may sample his own programs where `/proc/sys/kernel/perf_event_paranoid` is at most 2. A thread
//! costs a file and two pages of memory that stays, of which the kernel permits each user about half a MiB a
//! PU; a sample costs a few microseconds.

use super::proc_pid::Process;
use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};
use scaf_inspect::SampledCode;
use std::collections::BTreeMap;
use std::io;

/// CPU time of a thread between two samples, if nothing else is said.
const PERIOD_NS: u64 = 5_000_000;
/// Threads of a process that are sampled.
const MOST_THREADS: usize = 8;
/// Bytes of a thread's samples that are kept until they are read: a second's.
const KEPT: usize = 4096;

/// How often a process's threads were seen, and how often where they wait by spinning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// All samples,
    pub all: u32,
    /// and those of threads that wait by spinning.
    pub waiting: u32,
}

impl Seen {
    /// Adds what was seen then; of more than `memory` earlier ones half counts.
    pub fn add(&mut self, more: Seen, memory: u32) {
        if self.all > memory {
            (self.all, self.waiting) = (self.all / 2, self.waiting / 2);
        }
        self.all = self.all.saturating_add(more.all);
        self.waiting = self.waiting.saturating_add(more.waiting);
    }
}

/// Samples a process's threads.
pub struct Samples {
    code: SampledCode,
    period_ns: u64,
    threads: BTreeMap<u32, Sampler>,
}

impl Samples {
    /// Of this process; none of its threads is sampled yet.
    pub fn new(process: &Process) -> Samples {
        Samples::every(process, PERIOD_NS)
    }

    /// The same, with so much CPU time of a thread between two samples.
    pub fn every(process: &Process, period_ns: u64) -> Samples {
        let code = SampledCode::new(process.id(), process.folder());
        Samples { code, period_ns, threads: BTreeMap::new() }
    }

    /// Samples these threads, too, from now on.
    /// # Errors
    /// None can be sampled. It isn't permitted (EACCES, EPERM), or the kernel is older than Linux 5.13
    /// (EINVAL).
    pub fn follow(&mut self, threads: &[u32]) -> io::Result<()> {
        for tid in threads {
            if self.threads.contains_key(tid) {
                continue;
            }
            if self.threads.len() >= MOST_THREADS {
                // Some of those may have ended.
                self.threads.retain(|tid, _| threads.contains(tid));
            }
            // A few threads tell enough.
            if self.threads.len() >= MOST_THREADS {
                break;
            }
            match sampler(*tid, self.period_ns) {
                Ok(sampler) => drop(self.threads.insert(*tid, sampler)),
                // It has ended, or there are no files or memory just now.
                Err(e)
                    if matches!(
                        e.raw_os_error(),
                        Some(libc::ESRCH | libc::EMFILE | libc::ENFILE | libc::ENOMEM)
                    ) => {}
                Err(e) if self.threads.is_empty() => return Err(e),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// What was seen since this was called last.
    pub fn take(&mut self) -> Seen {
        let mut seen = Seen::default();
        for sampler in self.threads.values_mut() {
            while let Some(record) = sampler.next_record() {
                if let Ok(Record::Sample(sample)) = record.parse_record()
                    && let Some(address) = sample.ip()
                {
                    seen.all += 1;
                    seen.waiting += u32::from(self.code.waits(address) == Some(true));
                }
            }
        }
        seen
    }
}

fn sampler(tid: u32, period_ns: u64) -> io::Result<Sampler> {
    let tid = i32::try_from(tid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.observe_pid(tid).any_cpu().enabled(true).remove_on_exec(true);
    builder.exclude_kernel(true).exclude_hv(true).sample_period(period_ns).sample(SampleFlag::IP);
    builder.build()?.sampled(KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Observer;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// A thread's number, once it runs.
    fn started(body: impl FnOnce() + Send + 'static) -> u32 {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid().unsigned_abs()).unwrap();
            body();
        });
        told.recv().unwrap()
    }

    #[test]
    fn a_thread_that_spins_is_seen_waiting_and_one_that_computes_isn_t() {
        static END: AtomicBool = AtomicBool::new(false);
        let process = Observer::new(Path::new("/")).process(std::process::id());
        let spins = started(|| {
            while !END.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        let computes = started(|| {
            let mut x = 1u64;
            while x != 0 {
                x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005)) | 1;
                if END.load(Ordering::Relaxed) && x & 2 == 0 {
                    break;
                }
            }
        });
        let enough = |thread: u32| {
            let mut samples = Samples::new(&process);
            samples.follow(&[thread]).unwrap();
            let (mut seen, begin) = (Seen::default(), Instant::now());
            while seen.all < 20 {
                assert!(begin.elapsed() < Duration::from_secs(60), "{seen:?}");
                std::thread::sleep(Duration::from_millis(20));
                seen.add(samples.take(), u32::MAX);
            }
            f64::from(seen.waiting) / f64::from(seen.all)
        };
        let (waiting, computing) = (enough(spins), enough(computes));
        END.store(true, Ordering::Release);
        // How long a pause takes depends on the processor.
        assert!(waiting > 0.3, "{waiting}");
        assert!(computing < 0.1, "{computing}");
    }

    #[test]
    fn a_thread_that_isn_t_there_is_no_error() {
        let process = Observer::new(Path::new("/")).process(std::process::id());
        let mut samples = Samples::new(&process);
        samples.follow(&[4_194_303]).unwrap();
        assert_eq!(samples.take(), Seen::default());
    }
}
