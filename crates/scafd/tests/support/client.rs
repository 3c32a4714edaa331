//! A program without OpenMP: it attaches, maps its pages and follows commands.

use scaf_proto::PAGE_BYTES;
use scaf_proto::grant::GrantPage;
use scaf_proto::hello::{ATTACH, ENTERED, Hello, MORE_MODULES, Welcome};
use scaf_proto::report::ReportPage;
use scaf_proto::runtimes::{FILE_BYTES, Kind, MOST_RUNTIMES, Promise};
use std::io::{BufRead, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

fn setting(key: &str) -> Option<String> {
    std::env::var(format!("SCAFD_TEST_{key}")).ok()
}

fn number(key: &str, default: u32) -> u32 {
    setting(key).map_or(default, |v| v.parse().unwrap())
}

fn say(verb: &str, text: impl std::fmt::Display) {
    println!("@{verb}:{text}");
    std::io::stdout().flush().unwrap();
}

/// What a well-behaved client says first.
pub fn hello(natural: u32) -> Hello {
    Hello::new(ATTACH, natural)
}

pub fn receive(socket: &OwnedFd) -> (Option<Welcome>, usize, Vec<OwnedFd>) {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut bytes = [0u8; 64];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [std::io::IoSliceMut::new(&mut bytes)];
    let n = match recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
        Ok(received) => received.bytes,
        // Turned away before what was sent was read.
        Err(rustix::io::Errno::CONNRESET) => 0,
        Err(e) => panic!("{e}"),
    };
    let fds = control
        .drain()
        .filter_map(|m| match m {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    (Welcome::parse(&bytes[..n]), n, fds)
}

/// Maps a page as a client would.
pub fn map<T>(fd: &OwnedFd, writable: bool) -> rustix::io::Result<&'static T> {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    let prot = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    // SAFETY: a fresh mapping of a file of this size; it is never unmapped, and T consists of atomics.
    unsafe {
        let at = mmap(std::ptr::null_mut(), PAGE_BYTES, prot, MapFlags::SHARED, fd, 0)?;
        Ok(&*at.cast::<T>())
    }
}

/// The process. Returns at once when it isn't meant to be one.
pub fn main() {
    let Some(path) = setting("SOCKET") else { return };
    if let Some(uid) = setting("UID").map(|uid| uid.parse::<u32>().unwrap()) {
        // SAFETY: changes this process's user.
        assert_eq!(unsafe { libc::setresuid(uid, uid, uid) }, 0);
    }
    let socket = super::connect(path.as_ref()).unwrap();
    let mut hello = hello(number("NATURAL", 2));
    hello.flags = number("FLAGS", 0);
    hello.max = number("MAX", 0);
    if let Some(own) = setting("OWN") {
        let own: scaf_policy::PuSet = own.parse().unwrap();
        hello.own[..own.words().len()].copy_from_slice(own.words());
    }
    for _ in 1..number("THREADS", 2) {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(600));
            }
        });
    }
    rustix::net::send(&socket, hello.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
    let (welcome, _, fds) = receive(&socket);
    let Some(welcome) = welcome else {
        say("ready", "refused");
        return;
    };
    let grant: &GrantPage = map(&fds[0], false).unwrap();
    let report: &ReportPage = map(&fds[1], true).unwrap();
    report.stamp();
    say("ready", welcome.program);
    let mut children: Vec<std::process::Child> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match verb {
            "dop" => say(verb, grant.word().dop().map_or("none".into(), |d| d.to_string())),
            "resizable" => say(verb, if grant.word().resizable() { grant.word().inspected() } else { 0 }),
            "lent" => say(verb, grant.word().lent()),
            "entered" => {
                let packet = Hello { kind: ENTERED, ..hello };
                for _ in 0..rest.parse().unwrap() {
                    rustix::net::send(&socket, packet.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
                }
                say(verb, "");
            }
            "waits" | "works" => {
                report.rank().set_job(7);
                report.rank().set_waits(verb == "waits");
                let packet = Hello { kind: ENTERED, ..hello };
                rustix::net::send(&socket, packet.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
                say(verb, "");
            }
            "flickers" => {
                let packet = Hello { kind: ENTERED, ..hello };
                for at in 0..rest.parse::<u32>().unwrap() {
                    report.rank().set_waits(at % 2 == 0);
                    rustix::net::send(&socket, packet.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
                }
                say(verb, "");
            }
            "folded" => say(verb, grant.word().folded()),
            "enter" => {
                report.slot(0).unwrap().enter(rest.parse().unwrap(), 2, scafd::observe::clock::ticks());
                say(verb, "");
            }
            "leave" => {
                report.slot(0).unwrap().leave(scafd::observe::clock::ticks(), rest.parse().unwrap(), 0);
                say(verb, "");
            }
            "flood" => {
                let attached = (0..rest.parse().unwrap()).filter(|_| {
                    let Some(socket) = super::connect(path.as_ref()) else { return false };
                    let _ = rustix::net::send(&socket, hello.as_bytes(), rustix::net::SendFlags::NOSIGNAL);
                    receive(&socket).0.is_some_and(|welcome| welcome.program != 0)
                });
                say(verb, attached.count());
            }
            "runtimes" => {
                for number in 0..MOST_RUNTIMES {
                    let file = [b'"'; FILE_BYTES];
                    report.runtimes().record(number, Kind::OpenBlas, &file, Promise::Follows, [1, 2, 0]);
                }
                say(verb, "");
            }
            "garble" => {
                let byte: u8 = rest.parse().unwrap();
                let page: *mut u8 = (&raw const *report).cast_mut().cast();
                // SAFETY: the page is mapped writable and consists of atomics; magic and version stay.
                unsafe { std::ptr::write_bytes(page.add(8), byte, PAGE_BYTES - 8) };
                say(verb, "");
            }
            "more" => {
                let more = Hello { kind: MORE_MODULES, modules: rest.parse().unwrap(), ..hello };
                rustix::net::send(&socket, more.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
                say(verb, "");
            }
            "overwrite" => {
                let writable = map::<GrantPage>(&fds[0], true).is_ok();
                let written = rustix::io::pwrite(&fds[0], b"x", 0).is_ok();
                let shrunk = fds.iter().any(|fd| rustix::fs::ftruncate(fd, 0).is_ok());
                say(verb, writable || written || shrunk);
            }
            "spawn" => {
                let child = std::process::Command::new("sleep")
                    .arg("120")
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn()
                    .unwrap();
                say(verb, child.id());
                children.push(child);
            }
            "burn" => {
                let (threads, ms) = rest.split_once(' ').unwrap();
                let (threads, ms): (u32, u64) = (threads.parse().unwrap(), ms.parse().unwrap());
                let all: Vec<_> = (0..threads).map(|_| std::thread::spawn(move || burn(ms))).collect();
                if all.is_empty() {
                    burn(ms);
                }
                all.into_iter().for_each(|thread| thread.join().unwrap());
                say(verb, "");
            }
            "forkburn" => {
                let ms = rest.parse().unwrap();
                // SAFETY: the child only reads a clock and ends.
                unsafe {
                    let child = libc::fork();
                    if child == 0 {
                        burn(ms);
                        libc::_exit(0);
                    }
                    let mut status = 0;
                    assert!(child > 0 && libc::waitpid(child, &raw mut status, 0) == child && status == 0);
                }
                say(verb, "");
            }
            "fault" => {
                let pages: usize = rest.parse().unwrap();
                touch(pages);
                say(verb, "");
            }
            "thread" => {
                std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(600)));
                say(verb, "");
            }
            other => panic!("what is {other}?"),
        }
    }
    for mut child in children {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Works for so many milliseconds of the calling thread's CPU time.
fn burn(ms: u64) {
    let clock = || {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
    };
    let end = clock() + ms * 1_000_000;
    while clock() < end {}
}

fn touch(pages: usize) {
    // SAFETY: the memory is new and its own; every page of it is written to once, and all are given back.
    unsafe {
        let (size, protection) = (pages * 4096, libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let memory = libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0);
        assert!(memory != libc::MAP_FAILED);
        libc::madvise(memory, size, libc::MADV_NOHUGEPAGE);
        (0..pages).for_each(|page| memory.cast::<u8>().add(page * 4096).write_volatile(1));
        libc::munmap(memory, size);
    }
}
