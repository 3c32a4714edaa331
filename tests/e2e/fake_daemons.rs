//! Servers that aren't scafd, or lie. Programs stay unmanaged, lose no file descriptor, and are right.

use crate::support::{Done, Setup, released, root_user, wait_for};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType, accept,
    bind, listen, sendmsg, socket,
};
use scaf_proto::hello::Welcome;
use scaf_proto::{MAGIC, PAGE_BYTES, VERSION};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What a fake answers to whoever connects: bytes, and files with them.
type Answer = (Vec<u8>, fn() -> Vec<OwnedFd>);

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a program beside a server that gives everyone the same answer, until it was asked three times.
fn beside(answer: &Answer) -> Done {
    let setup = Setup::without_daemon("equi");
    let listener = listening(&setup.socket());
    let (asked, enough) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&listener, answer, &asked, &enough));
        let _ends = Ends(&enough);
        let program = setup.program("files").preloaded().threads(2).start();
        wait_for("it asked three times", || (asked.load(Ordering::Relaxed) >= 3).then_some(()));
        program.finish()
    })
}

fn listening(path: &Path) -> OwnedFd {
    let listener = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).expect("socket");
    bind(&listener, &SocketAddrUnix::new(path).expect("path")).expect("bind");
    listen(&listener, 16).expect("listen");
    listener
}

fn serve(listener: &OwnedFd, (bytes, files): &Answer, asked: &AtomicU32, enough: &AtomicBool) {
    let mut clients = Vec::new();
    let tenth = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while !enough.load(Ordering::Relaxed) {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        if poll(&mut ready, Some(&tenth)).unwrap_or(0) == 0 {
            continue;
        }
        let client = accept(listener).expect("accept");
        asked.fetch_add(1, Ordering::Relaxed);
        let files = files();
        let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&files));
        }
        let _ = sendmsg(&client, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL);
        clients.push(client);
    }
}

/// Open are standard input, output and error, and at most the socket on which an answer is waited for.
fn is_unharmed(done: Done) {
    let done = done.well();
    assert_eq!(done.number("smallest"), 2);
    assert!(done.number("files") <= 4, "{done:#?}");
}

fn welcome(version: u32) -> Vec<u8> {
    Welcome { magic: MAGIC, version, program: 1 }.as_bytes().to_vec()
}

fn page(bytes: usize, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(c"fake", flags).expect("memfd");
    ftruncate(&file, bytes as u64).expect("size");
    fcntl_add_seals(&file, seals).expect("seals");
    file
}

fn no_files() -> Vec<OwnedFd> {
    Vec::new()
}

#[test]
fn a_daemon_of_another_version_is_declined() {
    for version in [VERSION - 1, VERSION + 1] {
        is_unharmed(beside(&(welcome(version), no_files)));
    }
}

#[test]
fn whoever_starts_programs_beside_a_daemon_of_another_version_is_told_in_one_line() {
    let setup = Setup::without_daemon("equi");
    let listener = listening(&setup.socket());
    let (asked, enough) = (AtomicU32::new(0), AtomicBool::new(false));
    let refusal = Welcome { magic: MAGIC, version: VERSION + 1, program: 0 };
    let answer: Answer = (refusal.as_bytes().to_vec(), no_files);
    let said = format!("the daemon speaks version {} of the protocol", VERSION + 1);
    let mend = format!("mend it with: kill -9 {}", std::process::id());
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&listener, &answer, &asked, &enough));
        let _ends = Ends(&enough);
        let done = setup.program("loops").run();
        assert_eq!((done.code(), done.number("wrong")), (Some(0), 0));
        assert!(done.err.lines().count() == 1 && done.err.contains(&said), "{done:?}");
        assert!(done.err.contains(&mend), "{done:?}");
        for command in ["ps", "doctor"] {
            let scaf = setup.at(&released("scaf")).unmanaged().env("SCAF_SOCKET", setup.socket());
            let done = scaf.args([command]).run();
            let text = done.out.clone() + &done.err;
            assert!(text.contains(&said) && text.contains(&mend), "{done:?}");
        }
    });
}

#[test]
fn a_refusal_is_taken() {
    let refusal = Welcome { magic: MAGIC, version: VERSION, program: 0 };
    is_unharmed(beside(&(refusal.as_bytes().to_vec(), no_files)));
}

#[test]
fn garbage_is_declined() {
    is_unharmed(beside(&(vec![0xa5; 7], no_files)));
    is_unharmed(beside(&(vec![0xa5; 60_000], no_files)));
}

#[test]
fn a_welcome_without_pages_is_declined() {
    is_unharmed(beside(&(welcome(VERSION), no_files)));
}

#[test]
fn pages_that_could_be_cut_short_are_declined() {
    is_unharmed(beside(&(welcome(VERSION), || {
        vec![page(PAGE_BYTES, SealFlags::empty()), page(PAGE_BYTES, SealFlags::empty())]
    })));
}

#[test]
fn pages_that_are_too_short_are_declined() {
    is_unharmed(beside(&(welcome(VERSION), || {
        vec![page(PAGE_BYTES - 1, SealFlags::SHRINK), page(PAGE_BYTES - 1, SealFlags::SHRINK)]
    })));
}

#[test]
fn pages_without_a_stamp_are_declined() {
    is_unharmed(beside(&(welcome(VERSION), || {
        vec![page(PAGE_BYTES, SealFlags::SHRINK), page(PAGE_BYTES, SealFlags::SHRINK)]
    })));
}

#[test]
fn one_page_is_not_enough() {
    is_unharmed(beside(&(welcome(VERSION), || vec![page(PAGE_BYTES, SealFlags::SHRINK)])));
}

#[test]
fn files_that_are_no_pages_are_declined_and_closed_however_many() {
    is_unharmed(beside(&(welcome(VERSION), || {
        (0..9).map(|_| std::fs::File::open("/dev/null").expect("/dev/null").into()).collect()
    })));
}

#[test]
fn a_server_that_says_nothing_holds_nobody_up() {
    let setup = Setup::without_daemon("equi");
    let listener = listening(&setup.socket());
    let done = setup.program("files").preloaded().threads(2).run();
    is_unharmed(done);
    let program = setup.program("files").preloaded().threads(2).start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    is_unharmed(program.finish());
    drop(listener);
}

#[test]
fn another_users_socket_is_not_used() {
    needs!(root_user(), "root, to be another user");
    let setup = Setup::without_daemon("equi");
    let path = setup.socket();
    std::fs::set_permissions(setup.folder(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .expect("chmod");
    // The kernel notes who listens, and credentials are a thread's own.
    let listener = std::thread::spawn(move || {
        // SAFETY: changes the credentials of this thread, which does nothing else and ends.
        let changed = unsafe { libc::syscall(libc::SYS_setresuid, -1, 65_534, -1) };
        assert_eq!(changed, 0);
        listening(&path)
    });
    let listener = listener.join().expect("listening as nobody");
    let (asked, enough) = (AtomicU32::new(0), AtomicBool::new(false));
    let page = || vec![page(PAGE_BYTES, SealFlags::SHRINK), page(PAGE_BYTES, SealFlags::SHRINK)];
    let answer: Answer = (welcome(VERSION), page);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&listener, &answer, &asked, &enough));
        let _ends = Ends(&enough);
        let program = setup.program("files").preloaded().threads(2).start();
        wait_for("it came by", || (asked.load(Ordering::Relaxed) >= 1).then_some(()));
        is_unharmed(program.finish());
        let run = setup.program("loops").run();
        assert!(run.err.contains("another user"), "{run:#?}");
        assert_eq!(run.code(), Some(0));
    });
}
