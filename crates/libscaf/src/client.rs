//! Attaching to the daemon, staying attached, and noticing that it is gone.
//!
//! A process attaches at its first parallel region, or when work of another kind says that it is there ([`crate::work`]); any
//! other is left alone. From then on [`tend`] is one comparison a region, and about once a second a look at the socket: its
//! end of file is the only sign that the daemon is gone, and then the program is unmanaged until a daemon is back.
//!
//! One thread at a time does this; the others pass by. The only wait is for the daemon's answer at the first
//! attachment, at most [`PATIENCE_MS`]; a later answer is picked up at a later region.

use crate::arch::ticks;
use crate::runtime::{self, Runtime};
use crate::{budget, fork, masters, pages, ports, promise, settings};
use core::ffi::{c_int, c_void};
use core::mem::{size_of, zeroed};
use core::ptr::without_provenance;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use scaf_proto::grant;
use scaf_proto::hello::{
    ATTACH, ENTERED, FLAG_AT_WORK, FLAG_BOUND, FLAG_EXACT, FLAG_RIGID, Hello, MORE_MODULES, Welcome,
};
use scaf_proto::{MAGIC, MASK_WORDS, PAGE_BYTES, VERSION};

/// Longest wait for the daemon's answer, once per attachment: a running daemon answers in 0.1 ms.
pub const PATIENCE_MS: c_int = 2;

/// Ticks between two looks at the socket: 0.5 to 1 s at 2 to 4 GHz.
const LOOK_TICKS: u64 = 1 << 31;
/// Ticks between two looks for an answer that is late: about 10 ms.
const LATE_TICKS: u64 = 1 << 25;
/// File descriptors of ours start here, out of the way of programs that count on theirs being small.
const FIRST_FD: c_int = 400;

/// Tick of the next look; `u64::MAX` while a thread is at it.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);
static STATE: AtomicU32 = AtomicU32::new(DETACHED);
const DETACHED: u32 = 0;
const GREETED: u32 = 1;
const ATTACHED: u32 = 2;
/// Modules that the daemon has been told of.
static MODULES_TOLD: AtomicU32 = AtomicU32::new(0);
static SOCKET: AtomicI32 = AtomicI32::new(-1);
/// The socket's inode: a program may close our descriptor and open another file under its number.
static SOCKET_INODE: AtomicU64 = AtomicU64::new(0);
/// Number of the grant under which lent contexts were asked back last; 0 for none.
static ASKED_BACK: AtomicU32 = AtomicU32::new(0);
/// The program's own affinity, from before the daemon narrowed it.
static OWN: [AtomicU64; MASK_WORDS] = [const { AtomicU64::new(0) }; MASK_WORDS];

/// Called at the entry of each region that isn't nested, at tick `now`.
#[inline(always)]
pub fn tend(now: u64, runtime: &Runtime) {
    if is_due(now) {
        look(now, Some(runtime));
    }
}

/// The same where no region is entered.
#[inline(always)]
pub fn tend_other(now: u64) {
    if is_due(now) {
        look(now, None);
    }
}

/// Whether the process is attached.
#[inline(always)]
pub fn is_attached() -> bool {
    STATE.load(Ordering::Acquire) == ATTACHED
}

/// Whether a daemon's answer is late: it is picked up by whoever tends next.
pub fn is_waiting() -> bool {
    STATE.load(Ordering::Acquire) == GREETED
}

/// Whether it is, or has asked a daemon whose answer isn't there yet.
pub fn is_expected() -> bool {
    STATE.load(Ordering::Acquire) != DETACHED
}

#[inline(always)]
fn is_due(now: u64) -> bool {
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    // A counter that was set back (a machine that was moved or slept) must not keep us from looking.
    now >= next
        || next.wrapping_sub(now) > 2 * LOOK_TICKS
        || runtime::modules_met() != MODULES_TOLD.load(Ordering::Relaxed)
        || runtime::NEWS.load(Ordering::Relaxed) != 0
}

#[cold]
#[inline(never)]
fn look(now: u64, runtime: Option<&Runtime>) {
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    if next == u64::MAX
        || NEXT_LOOK.compare_exchange(next, u64::MAX, Ordering::Acquire, Ordering::Relaxed).is_err()
    {
        return;
    }
    let pause = keeping_errno(|| {
        if let Some(runtime) = runtime {
            masters::ask_natural(runtime);
        }
        runtime::take_news();
        match STATE.load(Ordering::Relaxed) {
            DETACHED => greet(),
            GREETED => take_answer(0),
            _ => check(now >= next),
        }
        if STATE.load(Ordering::Relaxed) == GREETED {
            return LATE_TICKS;
        }
        ports::tell();
        LOOK_TICKS
    });
    NEXT_LOOK.store(ticks().wrapping_add(pause), Ordering::Release);
}

/// Runs `work` and restores `errno`: a program may look at it after a region.
pub fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: libc's errno of this thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = work();
        *errno = before;
        result
    }
}

fn greet() {
    MODULES_TOLD.store(runtime::modules_met(), Ordering::Relaxed);
    let settings = settings::get();
    let connected = if settings.socket[0] != 0 {
        connect(&[&settings.socket])
    } else {
        let mut digits = [0; 10];
        // SAFETY: no arguments.
        let uid = decimal(unsafe { libc::geteuid() }, &mut digits);
        connect(&[b"/run/scaf/scafd.sock"])
            || (settings.runtime_dir[0] != 0 && connect(&[&settings.runtime_dir, b"/scaf/scafd.sock"]))
            || connect(&[b"/tmp/scaf-", uid, b"/scafd.sock"])
    };
    if !connected {
        return;
    }
    if send(ATTACH) {
        fork::watch();
        STATE.store(GREETED, Ordering::Relaxed);
        take_answer(PATIENCE_MS);
    } else {
        hang_up();
    }
}

/// Connects to the socket whose path is made of `parts` (each up to its first zero), if it is root's or our own.
fn connect(parts: &[&[u8]]) -> bool {
    // SAFETY: plain system calls on memory of ours.
    unsafe {
        let mut address: libc::sockaddr_un = zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let bytes = parts.iter().flat_map(|part| part.iter().take_while(|byte| **byte != 0));
        let mut room = address.sun_path.iter_mut();
        for byte in bytes {
            match room.next() {
                Some(cell) => *cell = *byte as libc::c_char,
                None => return false,
            }
        }
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let low = libc::socket(libc::AF_UNIX, kind, 0);
        if low < 0 {
            return false;
        }
        let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, FIRST_FD);
        let fd = if high >= 0 {
            libc::close(low);
            high
        } else {
            low
        };
        let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
        let mut peer: libc::ucred = zeroed();
        let mut peer_length = size_of::<libc::ucred>() as libc::socklen_t;
        let mut status: libc::stat = zeroed();
        let ours = libc::connect(fd, (&raw const address).cast(), length) == 0
            && libc::getsockopt(
                fd,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &mut peer_length,
            ) == 0
            && (peer.uid == 0 || peer.uid == libc::geteuid())
            && libc::fstat(fd, &mut status) == 0;
        if ours {
            SOCKET_INODE.store(status.st_ino, Ordering::Relaxed);
            SOCKET.store(fd, Ordering::Relaxed);
        } else {
            libc::close(fd);
        }
        ours
    }
}

fn send(kind: u32) -> bool {
    let settings = settings::get();
    let hello = Hello {
        magic: MAGIC,
        version: VERSION,
        kind,
        flags: if settings.bound { FLAG_BOUND } else { 0 }
            | if settings.rigid { FLAG_RIGID } else { 0 }
            | if settings.exact { FLAG_EXACT } else { 0 }
            | if budget::running(budget::Who::Blas) > 1 { FLAG_AT_WORK } else { 0 },
        modules: MODULES_TOLD.load(Ordering::Relaxed),
        natural: masters::widest(),
        min: settings.min,
        max: settings.max,
        weight_milli: settings.weight_milli,
        reserved: 0,
        own: own_affinity(),
        name: settings.name,
    };
    let bytes = hello.as_bytes();
    let quietly = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: sends memory of ours.
    let sent =
        unsafe { libc::send(SOCKET.load(Ordering::Relaxed), bytes.as_ptr().cast(), bytes.len(), quietly) };
    sent == bytes.len() as isize
}

/// The process's own affinity: as it is while nobody has narrowed it, as it was then afterwards.
fn own_affinity() -> [u64; MASK_WORDS] {
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    if KNOWN.swap(1, Ordering::Relaxed) == 0 {
        let mut now = [0u64; MASK_WORDS];
        // SAFETY: fills memory of ours; the process's number names its first thread.
        unsafe { libc::sched_getaffinity(libc::getpid(), size_of_val(&now), now.as_mut_ptr().cast()) };
        for (cell, word) in OWN.iter().zip(now) {
            cell.store(word, Ordering::Relaxed);
        }
    }
    let mut own = [0; MASK_WORDS];
    for (word, cell) in own.iter_mut().zip(&OWN) {
        *word = cell.load(Ordering::Relaxed);
    }
    own
}

/// How many PUs the process has of its own, once that was asked for.
static OWN_PUS: AtomicU32 = AtomicU32::new(0);

/// PUs that the process has of its own.
#[inline(always)]
pub fn own_pus() -> u32 {
    match OWN_PUS.load(Ordering::Relaxed) {
        0 => count_own_pus(),
        known => known,
    }
}

#[cold]
fn count_own_pus() -> u32 {
    let count = grant::count(&keeping_errno(own_affinity)).max(1);
    OWN_PUS.store(count, Ordering::Relaxed);
    count
}

/// Takes the daemon's answer, waiting for it up to `patience_ms`.
fn take_answer(patience_ms: c_int) {
    let fd = SOCKET.load(Ordering::Relaxed);
    if !is_ours(fd) {
        return hang_up();
    }
    // SAFETY: plain system calls on memory of ours; `control` is large and aligned enough for two descriptors.
    unsafe {
        let mut ready = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        if libc::poll(&mut ready, 1, patience_ms) <= 0 {
            return;
        }
        let mut answer = [0u8; size_of::<Welcome>()];
        let mut control = [0u64; 8];
        let mut part = libc::iovec { iov_base: answer.as_mut_ptr().cast(), iov_len: answer.len() };
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let got = libc::recvmsg(fd, &mut message, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
        if got < 0 && matches!(*libc::__errno_location(), libc::EAGAIN | libc::EINTR) {
            return;
        }
        let mut files = [-1; 2];
        let header = libc::CMSG_FIRSTHDR(&message);
        if got > 0
            && !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS
        {
            let count =
                ((*header).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize) / size_of::<c_int>();
            let data = libc::CMSG_DATA(header).cast::<c_int>();
            // More than two come from no daemon of ours; all there is room for would be 12.
            for number in 0..count.min(12) {
                let file = data.add(number).read_unaligned();
                match files.get_mut(number) {
                    Some(place) => *place = file,
                    None => {
                        libc::close(file);
                    }
                }
            }
        }
        let [grant, report] = files;
        let welcome = answer.get(..got.max(0) as usize).and_then(Welcome::parse);
        let attached = welcome.is_some() && is_page(grant) && is_page(report) && pages::map(grant, report);
        for file in files {
            if file >= 0 {
                libc::close(file);
            }
        }
        if attached && pages::grant().is_current() {
            pages::report().stamp();
            pages::report().set_modules(MODULES_TOLD.load(Ordering::Relaxed));
            // What the daemon says is right also for a program that was narrowed when it became another one.
            if let Some(masks) = pages::grant().masks() {
                OWN_PUS.store(grant::count(&masks.own), Ordering::Relaxed);
            }
            ASKED_BACK.store(0, Ordering::Relaxed);
            promise::report_again();
            masters::report_natural();
            STATE.store(ATTACHED, Ordering::Release);
        } else {
            pages::unmap();
            hang_up();
        }
    }
}

/// Whether the descriptor is a page that can't be cut short under our feet.
fn is_page(fd: c_int) -> bool {
    // SAFETY: plain system calls.
    unsafe {
        let seals = libc::fcntl(fd, libc::F_GET_SEALS);
        let mut status: libc::stat = zeroed();
        seals >= 0
            && seals & libc::F_SEAL_SHRINK != 0
            && libc::fstat(fd, &mut status) == 0
            && status.st_size >= PAGE_BYTES as libc::off_t
    }
}

/// Whether the descriptor is still our socket.
fn is_ours(fd: c_int) -> bool {
    // SAFETY: plain system call.
    unsafe {
        let mut status: libc::stat = zeroed();
        fd >= 0
            && libc::fstat(fd, &mut status) == 0
            && status.st_ino == SOCKET_INODE.load(Ordering::Relaxed)
            && status.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}

/// While attached: tells of new modules, and looks whether the daemon is still there if it is `time` for that.
fn check(time: bool) {
    let met = runtime::modules_met();
    let told = MODULES_TOLD.swap(met, Ordering::Relaxed);
    if met != told {
        pages::report().set_modules(met);
        if is_ours(SOCKET.load(Ordering::Relaxed)) && !send(MORE_MODULES) {
            MODULES_TOLD.store(told, Ordering::Relaxed);
        }
    }
    if !time {
        return;
    }
    let fd = SOCKET.load(Ordering::Relaxed);
    let alive = is_ours(fd) && {
        let mut byte = 0u8;
        // SAFETY: reads one byte into memory of ours.
        unsafe {
            let got = libc::recv(fd, (&raw mut byte).cast(), 1, libc::MSG_DONTWAIT | libc::MSG_PEEK);
            got > 0 || (got < 0 && matches!(*libc::__errno_location(), libc::EAGAIN | libc::EINTR))
        }
    };
    if !alive {
        pages::unmap();
        hang_up();
        // A daemon may be back already.
        greet();
    }
}

/// At the entry of a region, or of other work, while contexts of the program are lent: tells the daemon that they are needed, once for each grant. True
/// if it was told just now. If another thread is at the socket, or the socket is full, a later region tells, or the daemon's next tick finds out.
#[cold]
#[inline(never)]
pub fn ask_back(epoch: u32) -> bool {
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    if ASKED_BACK.load(Ordering::Relaxed) == epoch
        || next == u64::MAX
        || NEXT_LOOK.compare_exchange(next, u64::MAX, Ordering::Acquire, Ordering::Relaxed).is_err()
    {
        return false;
    }
    let told = keeping_errno(|| {
        STATE.load(Ordering::Relaxed) == ATTACHED && is_ours(SOCKET.load(Ordering::Relaxed)) && send(ENTERED)
    });
    if told {
        ASKED_BACK.store(epoch, Ordering::Relaxed);
    }
    NEXT_LOOK.store(next, Ordering::Release);
    told
}

fn hang_up() {
    let fd = SOCKET.swap(-1, Ordering::Relaxed);
    if is_ours(fd) {
        // SAFETY: our own socket.
        unsafe { libc::close(fd) };
    }
    STATE.store(DETACHED, Ordering::Relaxed);
}

/// After a fork, in the child: it is a program of its own, on its own affinity, and attaches at its first region.
pub fn after_fork() {
    let word = pages::grant().word();
    if STATE.load(Ordering::Relaxed) == ATTACHED
        && word.folded()
        && let Some(masks) = pages::grant().masks()
    {
        let mut now = [0u64; MASK_WORDS];
        // SAFETY: fills and reads memory of ours; an empty mask is refused by the kernel.
        unsafe {
            libc::sched_getaffinity(0, size_of_val(&now), now.as_mut_ptr().cast());
            // A thread that had bound itself elsewhere has a child that stays there.
            if now == masks.granted {
                libc::sched_setaffinity(0, size_of_val(&masks.own), masks.own.as_ptr().cast());
            }
        }
    }
    pages::unmap();
    hang_up();
    NEXT_LOOK.store(0, Ordering::Relaxed);
    MODULES_TOLD.store(0, Ordering::Relaxed);
}

/// Has the calling thread's slot (its number plus one) given back when the thread ends.
pub fn when_thread_ends(slot: u32) {
    static KEY: AtomicU32 = AtomicU32::new(0);
    extern "C" fn ended(slot: *mut c_void) {
        masters::free_slot(slot as usize as u32);
    }
    // SAFETY: the key is created once; a second one made at the same moment is given back.
    unsafe {
        let mut key = KEY.load(Ordering::Acquire);
        if key == 0 {
            let mut new: libc::pthread_key_t = 0;
            if libc::pthread_key_create(&mut new, Some(ended)) != 0 {
                return;
            }
            // Keys start at 0, which means none here.
            match KEY.compare_exchange(0, new + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => key = new + 1,
                Err(there) => {
                    libc::pthread_key_delete(new);
                    key = there;
                }
            }
        }
        libc::pthread_setspecific(key - 1, without_provenance(slot as usize));
    }
}

/// `number` in decimal digits, at the end of `room`.
fn decimal(mut number: u32, room: &mut [u8; 10]) -> &[u8] {
    let mut used = 0;
    for cell in room.iter_mut().rev() {
        *cell = b'0' + (number % 10) as u8;
        number /= 10;
        used += 1;
        if number == 0 {
            break;
        }
    }
    room.get(room.len() - used..).unwrap_or(&[])
}
