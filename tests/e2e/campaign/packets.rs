//! Packets and pages of which nothing is right, and such as were right once: mutated, cut, replayed, of other
//! versions. The daemon goes on serving others, and keeps neither memory nor descriptors for them.

use super::daemon::{BRIEF, DaemonProcess, LEASE, ask, connect, nothing_is_left, soon};
use super::{Dice, faults};
use crate::support::Setup;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use scaf_proto::hello::{ATTACH, ENTERED, Hello, MORE_MODULES, Welcome};
use scaf_proto::{MAGIC, PAGE_BYTES, VERSION};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The daemon decides about a machine that isn't there: the client of these tests is the test.
const ELSEWHERE: [&str; 4] = ["equi", "--dry-run", "--topology", "core:8 pu:1"];

fn hello(kind: u32, version: u32) -> Hello {
    Hello { version, ..Hello::new(kind, 4) }
}

fn recorded() -> Vec<Vec<u8>> {
    let hellos = [ATTACH, MORE_MODULES, ENTERED].map(|kind| hello(kind, VERSION).as_bytes().to_vec());
    let texts =
        ["\"snapshot\"", "{\"policy\":\"equi\"}", "{\"why\":1}", "{\"profile\":null}", "\"decisions\""];
    hellos.into_iter().chain(texts.map(|text| text.as_bytes().to_vec())).collect()
}

/// One of them, as it was, or changed: some bits, some bytes, its length, or all of it.
fn packet(dice: &mut Dice, sound: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = sound[dice.below(sound.len() as u64) as usize].clone();
    let at = |dice: &mut Dice, packet: &[u8]| dice.below(packet.len() as u64) as usize;
    match dice.below(8) {
        0 => {}
        1..=3 => {
            for _ in 0..=dice.below(4) {
                let place = at(dice, &packet);
                packet[place] ^= 1 << dice.below(8);
            }
        }
        4 | 5 => {
            for _ in 0..=dice.below(8) {
                let (place, byte) = (at(dice, &packet), [0, 0xff, dice.next() as u8][dice.below(3) as usize]);
                packet[place] = byte;
            }
        }
        6 => packet.resize(1 + dice.below(5_000) as usize, dice.next() as u8),
        _ => packet.iter_mut().for_each(|byte| *byte = dice.next() as u8),
    }
    packet
}

fn greet(setup: &Setup, packet: &[u8]) -> (Option<Welcome>, Vec<u8>, Vec<OwnedFd>, OwnedFd) {
    let socket = connect(&setup.socket()).expect("a connection");
    rustix::net::send(&socket, packet, SendFlags::NOSIGNAL).expect("a packet");
    let mut bytes = [0u8; 64];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let slices = &mut [std::io::IoSliceMut::new(&mut bytes)];
    let got =
        rustix::net::recvmsg(&socket, slices, &mut control, RecvFlags::CMSG_CLOEXEC).expect("an answer");
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files = files.flatten().collect();
    (Welcome::parse(&bytes[..got.bytes]), bytes[..got.bytes].to_vec(), files, socket)
}

fn kib_of(daemon: &DaemonProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn packets_of_which_nothing_is_right() {
    let setup = Setup::prepared(&ELSEWHERE, BRIEF);
    let mut daemon = DaemonProcess::start(&setup);
    let (sound, mut dice) = (recorded(), Dice::new(5));
    let (begin, most) = (Instant::now(), faults(50) * 100);
    let mut sent = 0;
    while sent < most {
        let Some(socket) = connect(&setup.socket()) else { continue };
        for _ in 0..=dice.below(3) {
            let packet = packet(&mut dice, &sound);
            if rustix::net::send(&socket, &packet, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).is_err() {
                break;
            }
            sent += 1;
        }
        if sent % 1_000 < 4 {
            assert!(daemon.ended().is_none(), "{}", setup.log());
        }
    }
    daemon.answers();
    soon("nobody is attached", LEASE, || ask(&setup.socket()).is_some_and(|seen| seen.programs.is_empty()));
    let files = || std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).map_or(0, Iterator::count);
    soon("its files are closed", LEASE, || files() < 24);
    let kib = kib_of(&daemon);
    assert!(kib < 64 << 10, "{kib} KiB");
    assert!(!setup.log().contains("panicked"), "{}", setup.log());
    daemon.end(libc::SIGTERM);
    nothing_is_left(&setup, &[]);
    println!("campaign: {sent} packets in {:.0} s; the daemon has {kib} KiB", begin.elapsed().as_secs_f64());
}

#[test]
fn pages_of_which_nothing_is_right() {
    let setup = Setup::prepared(&[&["chaos", "--seed=5"], &ELSEWHERE[1..]].concat(), BRIEF);
    let mut daemon = DaemonProcess::start(&setup);
    let mut dice = Dice::new(6);
    let (begin, most) = (Instant::now(), faults(50) * 100);
    let decisions = || ask(&setup.socket()).map_or(0, |seen| seen.decisions);
    let (mut written, mut read) = (0, 0);
    while written < most {
        let (welcome, _, files, _socket) = greet(&setup, hello(ATTACH, VERSION).as_bytes());
        assert!(welcome.is_some(), "{}", setup.log());
        let page = map(&files[1]);
        page[0].store(u64::from(VERSION) << 32 | u64::from(MAGIC), Ordering::Relaxed);
        let before = decisions();
        let until = Instant::now() + Duration::from_millis(200);
        while Instant::now() < until && written < most {
            // Few words each time, so that one round's garbage stands beside the next one's.
            for _ in 0..8 {
                let words = [0, u64::MAX, dice.next(), dice.next() >> 40, 1 << dice.below(64)];
                let place = 1 + dice.below(page.len() as u64 - 1) as usize;
                page[place].store(words[dice.below(5) as usize], Ordering::Relaxed);
            }
            written += 1;
            if written % 20 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        read += decisions().saturating_sub(before);
        assert!(daemon.ended().is_none(), "{}", setup.log());
    }
    daemon.answers();
    assert!(!setup.log().contains("panicked"), "{}", setup.log());
    daemon.end(libc::SIGTERM);
    println!(
        "campaign: {written} changes of a page, which was read {read} times, in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
}

fn map(file: &OwnedFd) -> &'static [AtomicU64] {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    // SAFETY: a fresh mapping of a file of this size; it is never unmapped.
    unsafe {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let at =
            mmap(std::ptr::null_mut(), PAGE_BYTES, protection, MapFlags::SHARED, file, 0).expect("a page");
        std::slice::from_raw_parts(at.cast(), PAGE_BYTES / 8)
    }
}

#[test]
fn clients_of_the_versions_before_and_after_are_refused() {
    let setup = Setup::prepared(&ELSEWHERE, BRIEF);
    let daemon = DaemonProcess::start(&setup);
    // Version 0 only asks which one the daemon speaks.
    for version in [VERSION - 1, VERSION + 1, u32::MAX, 0] {
        for length in [12, size_of::<Hello>(), 2 * size_of::<Hello>()] {
            let mut packet = hello(ATTACH, version).as_bytes().to_vec();
            packet.resize(length, 0);
            let (welcome, bytes, files, socket) = greet(&setup, &packet);
            assert!(welcome.is_none() && files.is_empty());
            let refusal = Welcome { magic: MAGIC, version: VERSION, program: 0 };
            assert_eq!(bytes, refusal.as_bytes());
            let closed = rustix::net::recv(&socket, &mut [0u8; 8], RecvFlags::empty()).expect("its end");
            assert_eq!(closed.1, 0);
        }
    }
    let seen = ask(&setup.socket()).expect("a snapshot");
    assert!(seen.programs.is_empty());
    let [other] = seen.other_versions[..] else { panic!("{:?}", seen.other_versions) };
    assert_eq!((other.pid, other.protocol), (std::process::id(), u32::MAX));
    assert!(setup.log().contains(&format!("speaks version {}", VERSION - 1)), "{}", setup.log());
    daemon.end(libc::SIGTERM);
}
