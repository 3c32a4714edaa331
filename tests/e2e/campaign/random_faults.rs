//! Faults at random moments: whoever takes part is killed or stopped while programs come, compute and leave.

use super::daemon::{BRIEF, DaemonProcess, LEASE, REGION, Who, child_of, nothing_is_left, send};
use super::programs::{BRIEF as KERNELS, ENDLESS, StartedProgram};
use super::{Dice, Tally, faults};
use crate::support::Setup;
use std::time::{Duration, Instant};

/// Faults until all programs are asked to end, and everything is looked at.
const BATCH: u64 = 100;
/// Nobody is there for that long if all goes well.
const OLD: Duration = Duration::from_secs(100);
/// By when another guardian is there; daemon and broker look twice a second.
const BIRTH: Duration = Duration::from_secs(2);
/// Of so many stops of the daemon one outlasts its lease.
const LONG: u64 = 50;

struct Scene<'h> {
    setup: &'h Setup,
    dice: Dice,
    tally: Tally,
    daemon: Option<DaemonProcess<'h>>,
    endless: Vec<StartedProgram<'h>>,
    guardian_killed: Option<Instant>,
    brief: Vec<StartedProgram<'h>>,
    slowest: Duration,
    /// Where there was no guardian.
    slowest_alone: Duration,
    begin: Instant,
    attached: u64,
    longest: Duration,
    ended_well: u64,
    past: Vec<String>,
}

impl<'h> Scene<'h> {
    fn new(setup: &'h Setup, dice: Dice) -> Scene<'h> {
        Scene {
            setup,
            dice,
            tally: Tally::default(),
            daemon: None,
            endless: Vec::new(),
            guardian_killed: None,
            brief: Vec::new(),
            slowest: Duration::ZERO,
            slowest_alone: Duration::ZERO,
            begin: Instant::now(),
            attached: 0,
            longest: Duration::ZERO,
            ended_well: 0,
            past: Vec::new(),
        }
    }

    fn fill(&mut self) {
        if self.daemon.is_none() {
            self.daemon = Some(DaemonProcess::start(self.setup));
        }
        for at in 0..2 {
            if self.endless.len() <= at {
                let workload = &ENDLESS[self.dice.below(ENDLESS.len() as u64) as usize];
                // Folded without `scaf run`, runtimes spin: a region would take half a minute.
                self.endless.push(workload.start(self.setup, true));
            }
        }
        while self.brief.len() < 2 {
            let workload = &KERNELS[self.dice.below(KERNELS.len() as u64) as usize];
            self.brief.push(workload.start(self.setup, self.dice.below(2) == 0));
        }
    }

    /// Takes note of programs that have ended, which were right.
    fn collect(&mut self) {
        for members in [&mut self.brief, &mut self.endless] {
            let mut at = 0;
            while at < members.len() {
                if members[at].has_ended() {
                    if members[at].age() > OLD {
                        println!("{}; at {:?}: {:#?}", members[at].about(), self.begin.elapsed(), self.past);
                    }
                    self.longest = members.swap_remove(at).relieve().max(self.longest);
                    self.ended_well += 1;
                } else {
                    at += 1;
                }
            }
        }
    }

    /// All have their own affinity in time, without a daemon; without a guardian, if that was just killed.
    fn all_are_wide(&mut self, since: Instant, most: Duration) {
        let unguarded = self.guardian_killed.is_some_and(|at| since.duration_since(at) < BIRTH);
        let most = if unguarded { REGION } else { most };
        for member in self.endless.iter().chain(&self.brief) {
            while !member.is_wide() {
                let late = since.elapsed() > most;
                assert!(!late, "{} stays narrow: {:#?}\n{:#?}", member.about(), member.masks(), self.past);
                std::thread::sleep(Duration::from_micros(500));
            }
        }
        let slowest = if most == LEASE { &mut self.slowest } else { &mut self.slowest_alone };
        *slowest = since.elapsed().max(*slowest);
    }

    fn note(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.past.push(format!("{:?} {what}, daemon {}", self.begin.elapsed(), self.daemon()));
        self.tally.add(what);
    }

    fn daemon(&self) -> u32 {
        self.daemon.as_ref().map_or(0, DaemonProcess::pid)
    }

    fn pause(&mut self, most_us: u64) {
        std::thread::sleep(Duration::from_micros(self.dice.below(most_us)));
    }

    /// One fault, after a moment. False if there was nobody.
    fn fault(&mut self) -> bool {
        self.pause(25_000);
        let broker = child_of(self.daemon(), Who::Broker);
        match (self.dice.below(8), self.dice.below(2) == 0, broker) {
            (0, true, Some(broker)) => self.kill_broker(broker),
            (0, false, Some(broker)) => self.harm("broker", broker, false),
            (0 | 1, true, _) => self.kill_daemon(),
            (0 | 1, false, _) => self.stop_daemon(),
            (2 | 3, kill, _) => {
                let Some(guardian) = child_of(self.daemon(), Who::Guardian) else { return false };
                self.harm("guardian", guardian, kill);
                self.guardian_killed = kill.then(Instant::now).or(self.guardian_killed);
            }
            (4 | 5, kill, _) => {
                let Some(helper) = self.helper() else { return false };
                self.harm("helper", helper, kill);
            }
            (_, kill, _) => {
                let (endless, brief) = (self.endless.len() as u64, self.brief.len() as u64);
                let at = self.dice.below(endless + brief) as usize;
                let member = self.endless.iter_mut().chain(&mut self.brief).nth(at).expect("a program");
                if kill {
                    member.kill();
                    self.note("program killed");
                } else {
                    let pid = member.pid();
                    self.harm("program", pid, false);
                }
            }
        }
        true
    }

    fn harm(&mut self, name: &str, pid: u32, kill: bool) {
        if kill {
            send(pid, libc::SIGKILL);
        } else {
            send(pid, libc::SIGSTOP);
            self.pause(20_000);
            send(pid, libc::SIGCONT);
        }
        self.note(format!("{name} {}", if kill { "killed" } else { "stopped" }));
    }

    /// A helper at work; a program that comes now is inspected.
    fn helper(&mut self) -> Option<u32> {
        let until = Instant::now() + Duration::from_millis(30);
        let workload = &KERNELS[self.dice.below(KERNELS.len() as u64) as usize];
        self.brief.push(workload.start(self.setup, false));
        while Instant::now() < until {
            if let Some(pid) = child_of(self.daemon(), Who::Helper) {
                return Some(pid);
            }
            std::thread::sleep(Duration::from_micros(300));
        }
        None
    }

    fn kill_daemon(&mut self) {
        let Some(daemon) = self.daemon.take() else { return };
        // Of the guardian, too, in one of eight.
        let together = self.dice.below(8) == 0;
        let guardian = child_of(daemon.pid(), Who::Guardian).filter(|_| together);
        if let Some(guardian) = guardian {
            send(daemon.pid(), libc::SIGSTOP);
            send(guardian, libc::SIGKILL);
            // It would start another one.
            child_of(daemon.pid(), Who::Broker).into_iter().for_each(|pid| send(pid, libc::SIGKILL));
        }
        let since = Instant::now();
        daemon.end(libc::SIGKILL);
        self.note(if guardian.is_some() { "daemon and guardian killed" } else { "daemon killed" });
        // The next one comes at once in one of two.
        if guardian.is_some() {
            self.all_are_wide(since, REGION);
        } else if self.dice.below(2) == 0 {
            self.all_are_wide(since, LEASE);
        }
    }

    /// Upon which the daemon ends.
    fn kill_broker(&mut self, broker: u32) {
        let Some(daemon) = self.daemon.take() else { return };
        let since = Instant::now();
        send(broker, libc::SIGKILL);
        daemon.end_by_itself();
        self.note("broker killed");
        self.all_are_wide(since, LEASE);
    }

    fn stop_daemon(&mut self) {
        let pid = self.daemon();
        if self.dice.below(LONG) > 0 {
            return self.harm("daemon", pid, false);
        }
        let since = Instant::now();
        send(pid, libc::SIGSTOP);
        std::thread::sleep(Duration::from_millis(1_000));
        self.all_are_wide(since, LEASE);
        send(pid, libc::SIGCONT);
        self.note("daemon stopped for longer than its lease");
    }

    /// Everybody is asked to end, the daemon is ended by that signal, and nothing is left.
    fn audit(&mut self, signal: i32) {
        if let Some(daemon) = self.daemon.take() {
            daemon.answers();
            let since = Instant::now();
            daemon.end(signal);
            self.past.push(format!("{:?} daemon ended by {signal}", self.begin.elapsed()));
            self.all_are_wide(since, LEASE);
        }
        for member in self.endless.drain(..).chain(self.brief.drain(..)) {
            self.longest = member.relieve().max(self.longest);
            self.ended_well += 1;
        }
        nothing_is_left(self.setup, &[]);
        self.past.clear();
    }
}

fn campaign(title: &str, setup: &Setup, count: u64, salt: u64) {
    let mut scene = Scene::new(setup, Dice::new(salt));
    let mut done = 0;
    while done < count {
        scene.fill();
        if done % 10 == 0 {
            let seen = super::daemon::ask(&setup.socket());
            scene.attached += seen.map_or(0, |seen| seen.programs.len() as u64);
        }
        done += u64::from(scene.fault());
        scene.collect();
        if done % BATCH == 0 || done == count {
            let signal = [libc::SIGKILL, libc::SIGTERM][(done / BATCH % 2) as usize];
            scene.audit(signal);
        }
    }
    assert!(!setup.log().contains("panicked"), "{}", setup.log());
    scene.tally.tell(&format!(
        "{title}: {done} faults in {:.0} s; {:.1} programs attached; {} programs ended as they should, the \
         last after {:.1} s; \
         affinities back within {:.2} s, where the guardian was killed, too, within {:.2} s",
        scene.begin.elapsed().as_secs_f64(),
        scene.attached as f64 / done.div_ceil(10) as f64,
        scene.ended_well,
        scene.longest.as_secs_f64(),
        scene.slowest.as_secs_f64(),
        scene.slowest_alone.as_secs_f64()
    ));
}

#[test]
fn under_equal_parts() {
    campaign("equal parts", &Setup::prepared(&["equi"], BRIEF), faults(40) / 2, 1);
}

#[test]
fn under_chaos() {
    campaign("chaos", &Setup::prepared(&["chaos", "--seed=7"], BRIEF), faults(40) / 2, 2);
}

#[test]
fn for_all_users() {
    for (policy, salt) in [(&["equi"][..], 3), (&["chaos", "--seed=7"], 4)] {
        let Some(setup) = Setup::for_all(policy, BRIEF) else { return };
        campaign(&format!("for all users, {policy:?}"), &setup, faults(20) / 4, salt);
    }
}
