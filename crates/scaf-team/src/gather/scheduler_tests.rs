use super::*;
use crate::testing::Parking;
use std::sync::atomic::AtomicU64;

const STEPS: u64 = 2_000;

/// A team whose members count their steps between barriers, and check each other.
struct World {
    crew: Crew<8>,
    parking: Parking,
    /// Steps of each member; a member's next wait.
    steps: Vec<AtomicU64>,
    waits: Vec<std::sync::Mutex<Until>>,
}

impl World {
    fn of(size: usize) -> World {
        World {
            crew: Crew::new(),
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
            if !self.crew.is_met(*until) {
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
            *until = self.crew.arrive(me).map_or_else(
                || {
                    self.crew.pass(&self.parking);
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
                    self.crew.is_done(member, &self.parking);
                } else {
                    let until = *self.waits[member].lock().unwrap();
                    self.crew.waits(member, until);
                    self.crew.set_free(member);
                }
            }
            if self.crew.is_surplus(carrier) {
                return;
            }
            me = self.crew.take(carrier, me.unwrap_or(0)).or_else(|| {
                let look = || self.crew.take(carrier, 0);
                self.crew.nap(&self.parking, 1, look)
            });
        }
    }
}

#[test]
fn members_meet_whoever_runs_them() {
    for (size, carriers) in [(2, 1), (3, 2), (5, 3), (8, 2)] {
        let world = World::of(size);
        world.crew.begin(size as u32, carriers);
        std::thread::scope(|scope| {
            for carrier in 1..carriers {
                let world = &world;
                scope.spawn(move || {
                    while world.crew.open() != 0 {
                        if world.crew.board(carrier) {
                            world.carry(carrier, None);
                            world.crew.unboard();
                        }
                    }
                });
            }
            world.carry(0, Some(0));
            world.crew.close();
            world.crew.tell(&world.parking);
        });
        assert!(world.crew.is_empty());
        assert!(world.steps.iter().all(|steps| steps.load(Ordering::Relaxed) == STEPS));
    }
}

#[test]
fn the_master_is_taken_by_further_carriers_until_it_waits_for_the_end() {
    let crew = Crew::<4>::new();
    crew.begin(2, 1);
    assert_eq!(crew.take(0, 0), Some(1));
    crew.waits(0, Until::Turn);
    crew.set_free(0);
    assert!(crew.has_ready() && crew.widen(2, || true) && crew.board(1));
    assert_eq!(crew.take(1, 1), Some(0));
    crew.waits(0, Until::Joined);
    crew.set_free(0);
    crew.is_done(1, &Parking::default());
    assert!(!crew.has_ready());
    assert_eq!((crew.take(1, 1), crew.take(0, 1)), (None, Some(0)));
    assert!(!crew.widen(2, || true) && crew.open() == 2 && !crew.is_surplus(1));
    crew.narrow(1);
    assert!(crew.is_surplus(1) && !crew.is_surplus(0));
}

#[test]
fn a_carrier_that_was_sent_home_and_comes_again_may_take_the_master() {
    let crew = Crew::<8>::new();
    let parking = Parking::default();
    crew.begin(3, 2);
    assert_eq!(crew.take(1, 0), Some(1));
    crew.waits(1, Until::Turn);
    crew.set_free(1);
    crew.waits(0, Until::Turn);
    crew.set_free(0);
    // Carrier 1 has what it began with, and leaves the master to its own.
    assert_eq!(crew.take(1, 2), Some(1));
    crew.narrow(1);
    assert!(crew.is_surplus(1) && crew.widen(3, || true) && crew.board(1));
    assert_eq!(crew.take(1, 2), Some(0));
    crew.tell(&parking);
}

#[test]
fn who_was_turned_away_where_a_carrier_is_by_itself_is_called_again() {
    let crew = Crew::<2>::new();
    crew.can_order(true);
    crew.begin(2, 1);
    assert!(!crew.widen(2, || false) && !crew.board(1));
    assert!(crew.widen(2, || true) && crew.board(1));
    crew.unboard();
    crew.close();
    crew.begin(2, 1);
    // As if it had been widened for the region before it.
    crew.open.0.store(2, Ordering::SeqCst);
    assert!(!crew.board(1) && crew.widen(2, || true) && crew.board(1));
    assert!(!crew.widen(2, || unreachable!()));
}
