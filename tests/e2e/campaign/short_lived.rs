//! Programs that end while they are looked at: of most the daemon finds half of what /proc says of a process.

use super::daemon::{BRIEF, DaemonProcess, LEASE, ask, nothing_is_left, soon};
use super::programs::BRIEF as KERNELS;
use super::{Dice, Tally, faults};
use crate::support::Setup;
use std::time::Duration;

#[test]
fn programs_that_end_at_once_leave_nothing_in_the_daemon() {
    let setup = Setup::prepared(&["chaos", "--seed=3"], BRIEF);
    let mut daemon = DaemonProcess::start(&setup);
    let files = || std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).map_or(0, Iterator::count);
    let (mut dice, mut tally) = (Dice::new(3), Tally::default());
    for _ in 0..faults(40).div_ceil(4) {
        let mut members: Vec<_> =
            (0..4).map(|_| KERNELS[4 + dice.below(2) as usize].start(&setup, false)).collect();
        while !members.is_empty() {
            std::thread::sleep(Duration::from_micros(dice.below(4_000)));
            let mut member = members.swap_remove(dice.below(members.len() as u64) as usize);
            member.kill();
            member.relieve();
            tally.add("killed within some milliseconds of its start");
        }
    }
    soon("nobody is attached", LEASE, || ask(&setup.socket()).is_some_and(|seen| seen.programs.is_empty()));
    soon("its files are closed", LEASE, || files() < 24);
    assert!(daemon.ended().is_none() && !setup.log().contains("panicked"), "{}", setup.log());
    daemon.end(libc::SIGTERM);
    nothing_is_left(&setup, &[]);
    tally.tell("programs that vanish");
}
