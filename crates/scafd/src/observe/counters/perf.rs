//! One counter of the kernel's: `perf_event_open`.

use super::event_name::Code;
use crate::broker::Broker;
use crate::broker::protocol::Ask;
use perf_event_open_sys::bindings::{
    PERF_FLAG_FD_CLOEXEC, PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_TOTAL_TIME_RUNNING, perf_event_attr,
};
use perf_event_open_sys::perf_event_open;
use scaf_policy::counters::Reading;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

impl From<Counter> for OwnedFd {
    fn from(counter: Counter) -> OwnedFd {
        counter.0
    }
}

/// Counts one event of a thread, and of the threads that it starts from then on.
#[derive(Debug)]
pub struct Counter(OwnedFd);

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// The program's own.
    User,
    /// The kernel's on its behalf, too.
    All,
}

impl Counter {
    /// Begins to count `code` in thread `tid` (0: this one) and in all threads that it, or one of those, will
    /// start; not in processes that they fork, nor in a program that the process becomes.
    /// # Errors
    /// EACCES and EPERM: it isn't permitted. ESRCH: there is no such thread. EMFILE, ENFILE: there are too
    /// many open files. Others: this machine doesn't count such an event, or has a kernel before Linux 5.13.
    pub fn open(code: Code, tid: u32) -> io::Result<Counter> {
        // The kernel counts its own events (page faults) in itself, a processor's in the program.
        let order = if code.is_software() { [Mode::All, Mode::User] } else { [Mode::User, Mode::All] };
        let first = Counter::open_in(order[0], code, tid);
        match first.as_ref().map_err(io::Error::raw_os_error) {
            Err(Some(libc::EINVAL)) if !code.is_software() => {}
            Err(Some(libc::EACCES | libc::EPERM)) if code.is_software() => {}
            _ => return first,
        }
        Counter::open_in(order[1], code, tid).or(first)
    }

    fn open_in(mode: Mode, code: Code, tid: u32) -> io::Result<Counter> {
        let tid = libc::pid_t::try_from(tid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
        let mut attr = perf_event_attr {
            type_: code.kind,
            size: size_of::<perf_event_attr>() as u32,
            config: code.config[0],
            read_format: u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
            ..perf_event_attr::default()
        };
        attr.__bindgen_anon_3.config1 = code.config[1];
        attr.__bindgen_anon_4.config2 = code.config[2];
        attr.set_inherit(1);
        attr.set_inherit_thread(1);
        attr.set_remove_on_exec(1);
        let user_only = u64::from(mode == Mode::User);
        attr.set_exclude_kernel(user_only);
        attr.set_exclude_hv(user_only);
        // SAFETY: `attr` lives through the call, and `size` is its size, which is all that the kernel
        // accesses.
        let fd = unsafe { perf_event_open(&raw mut attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC.into()) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: perf_event_open has just returned this descriptor, so nothing else owns it.
        Ok(Counter(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The same, by a broker, of a thread of the process `pid`.
    pub fn open_by(broker: Option<&Broker>, code: Code, pid: u32, tid: u32) -> io::Result<Counter> {
        let Some(broker) = broker else { return Counter::open(code, tid) };
        let ask = Ask::Count { pid, tid, kind: code.kind, config: code.config };
        broker.fetch(&ask, None).map(|(fd, _)| Counter(fd))
    }

    /// What it has counted so far; threads that have ended are part of it.
    pub fn read(&self) -> io::Result<Reading> {
        let mut bytes = [0u8; 24];
        let n = rustix::io::read(&self.0, &mut bytes)?;
        if n < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Ok(Reading { count: word(0), enabled_ns: word(1), running_ns: word(2) })
    }
}
