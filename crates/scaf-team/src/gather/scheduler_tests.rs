use super::*;
use crate::testing::Parking;
use std::sync::atomic::AtomicU64;

const STEPS: u64 = 2_000;

/// A team whose members count their steps between barriers, and check each other.
struct World {
    scheduler: FiberScheduler<8>,
    parking: Parking,
    /// Steps of each member; a member's next wait.
    steps: Vec<AtomicU64>,
    waits: Vec<std::sync::Mutex<Until>>,
}

impl World {
    fn of(size: usize) -> World {
        World {
            scheduler: FiberScheduler::new(),
            parking: Parking::default(),
            steps: (0..size).map(|_| AtomicU64::new(0)).collect(),
            waits: (0..size).map(|_| std::sync::Mutex::new(Until::Turn)).collect(),
        }
    }

    /// Runs a member until it has to wait; `false` if it is done.
    fn run(&self, me: usize) -> bool {
        // Whoever runs a member is alone with it.
        let mut until = self.waits[me].try_lock().expect("two carriers run one member");
        loop {
            if !self.scheduler.is_met(*until) {
                return true;
            }
            let step = self.steps[me].load(Ordering::Relaxed);
            if *until == Until::Joined {
                return false;
            }
            for other in &self.steps {
                let at = other.load(Ordering::Relaxed);
                assert!(at + 1 >= step, "{at} at {step}");
            }
            if step == STEPS {
                if me != 0 {
                    return false;
                }
                *until = Until::Joined;
                continue;
            }
            self.steps[me].store(step + 1, Ordering::Relaxed);
            *until = self.scheduler.arrive(me).map_or_else(
                || {
                    self.scheduler.pass(&self.parking);
                    Until::Turn
                },
                Until::Passed,
            );
        }
    }

    fn carry(&self, carrier: u32, mut me: Option<usize>) {
        loop {
            if let Some(member) = me {
                if !self.run(member) {
                    if member == 0 {
                        return;
                    }
                    self.scheduler.finish(member, &self.parking);
                } else {
                    let until = *self.waits[member].lock().unwrap();
                    self.scheduler.set_wait(member, until);
                    self.scheduler.set_suspended(member);
                }
            }
            if self.scheduler.is_surplus(carrier) {
                return;
            }
            me = self.scheduler.take(carrier, me.unwrap_or(0)).or_else(|| {
                let look = || self.scheduler.take(carrier, 0);
                self.scheduler.nap(&self.parking, 1, look)
            });
        }
    }
}

#[test]
fn members_meet_whoever_runs_them() {
    for (size, carriers) in [(2, 1), (3, 2), (5, 3), (8, 2)] {
        let world = World::of(size);
        world.scheduler.begin(size as u32, carriers);
        std::thread::scope(|scope| {
            for carrier in 1..carriers {
                let world = &world;
                scope.spawn(move || {
                    while world.scheduler.carrier_limit() != 0 {
                        if world.scheduler.carrier_enters(carrier) {
                            world.carry(carrier, None);
                            world.scheduler.carrier_leaves();
                        }
                    }
                });
            }
            world.carry(0, Some(0));
            world.scheduler.close();
            world.scheduler.notify(&world.parking);
        });
        assert!(world.scheduler.is_quiescent());
        assert!(world.steps.iter().all(|steps| steps.load(Ordering::Relaxed) == STEPS));
    }
}

#[test]
fn the_master_is_taken_by_further_carriers_until_it_waits_for_the_end() {
    let scheduler = FiberScheduler::<4>::new();
    scheduler.begin(2, 1);
    assert_eq!(scheduler.take(0, 0), Some(1));
    scheduler.set_wait(0, Until::Turn);
    scheduler.set_suspended(0);
    assert!(scheduler.has_ready() && scheduler.widen(2, || true) && scheduler.carrier_enters(1));
    assert_eq!(scheduler.take(1, 1), Some(0));
    scheduler.set_wait(0, Until::Joined);
    scheduler.set_suspended(0);
    scheduler.finish(1, &Parking::default());
    assert!(!scheduler.has_ready());
    assert_eq!((scheduler.take(1, 1), scheduler.take(0, 1)), (None, Some(0)));
    assert!(!scheduler.widen(2, || true) && scheduler.carrier_limit() == 2 && !scheduler.is_surplus(1));
    scheduler.narrow(1);
    assert!(scheduler.is_surplus(1) && !scheduler.is_surplus(0));
}

#[test]
fn a_carrier_that_was_sent_home_and_comes_again_may_take_the_master() {
    let scheduler = FiberScheduler::<8>::new();
    let parking = Parking::default();
    scheduler.begin(3, 2);
    assert_eq!(scheduler.take(1, 0), Some(1));
    scheduler.set_wait(1, Until::Turn);
    scheduler.set_suspended(1);
    scheduler.set_wait(0, Until::Turn);
    scheduler.set_suspended(0);
    // Carrier 1 has what it began with, and leaves the master to its own.
    assert_eq!(scheduler.take(1, 2), Some(1));
    scheduler.narrow(1);
    assert!(scheduler.is_surplus(1) && scheduler.widen(3, || true) && scheduler.carrier_enters(1));
    assert_eq!(scheduler.take(1, 2), Some(0));
    scheduler.notify(&parking);
}

#[test]
fn who_was_turned_away_where_a_carrier_is_by_itself_is_called_again() {
    let scheduler = FiberScheduler::<2>::new();
    scheduler.allow_exclusive(true);
    scheduler.begin(2, 1);
    assert!(!scheduler.widen(2, || false) && !scheduler.carrier_enters(1));
    assert!(scheduler.widen(2, || true) && scheduler.carrier_enters(1));
    scheduler.carrier_leaves();
    scheduler.close();
    scheduler.begin(2, 1);
    // As if it had been widened for the region before it.
    scheduler.carrier_limit.0.store(2, Ordering::SeqCst);
    assert!(!scheduler.carrier_enters(1) && scheduler.widen(2, || true) && scheduler.carrier_enters(1));
    assert!(!scheduler.widen(2, || unreachable!()));
}
