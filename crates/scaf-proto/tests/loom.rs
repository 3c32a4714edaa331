//! The page protocol under every interleaving and every reordering that the memory model allows. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p scaf-proto --test loom --release`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use scaf_proto::MASK_WORDS;
use scaf_proto::child_starts::{Moves, Starts};
use scaf_proto::grant::{GrantPage, Masks, Word};
use scaf_proto::report::Slot;

/// Explores up to two forced switches, which find every torn read of a sequence lock.
fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

fn masks(value: u64) -> Masks {
    Masks { granted: [value; MASK_WORDS], own: [value; MASK_WORDS] }
}

#[test]
fn a_reader_never_sees_masks_of_two_grants_mixed() {
    model(|| {
        let page = Arc::new(GrantPage::default());
        let writer = {
            let page = page.clone();
            thread::spawn(move || page.publish(Word::managed(1), &masks(7)))
        };
        if let Some(seen) = page.masks() {
            assert!(seen == masks(0) || seen == masks(7));
        }
        writer.join().unwrap();
        assert_eq!(page.masks(), Some(masks(7)));
    });
}

#[test]
fn a_reader_never_sees_half_a_region() {
    model(|| {
        let slot = Arc::new(Slot::default());
        let writer = {
            let slot = slot.clone();
            thread::spawn(move || {
                slot.enter(2, 1, 100);
                slot.leave(150, 2, 90);
            })
        };
        if let Some(seen) = slot.model_copy() {
            match seen.regions {
                0 => assert_eq!((seen.wall, seen.capacity, seen.useful), (0, 0, 0)),
                _ => assert_eq!((seen.team, seen.wall, seen.capacity, seen.useful), (0, 50, 100, 90)),
            }
            if seen.team != 0 {
                assert_eq!((seen.team, seen.entered, seen.last_team), (2, 100, 2));
            }
        }
        writer.join().unwrap();
    });
}

#[test]
fn waits_added_by_a_whole_team_are_all_counted() {
    model(|| {
        let slot = Arc::new(Slot::default());
        slot.enter(2, 1, 100);
        let other = {
            let slot = slot.clone();
            thread::spawn(move || slot.add_wait(5))
        };
        slot.add_wait(3);
        other.join().unwrap();
        slot.leave(150, 2, 90);
        assert_eq!(slot.model_copy().unwrap().useful, 82);
    });
}

#[test]
fn a_reader_never_sees_half_an_experiment() {
    use scaf_proto::experiment::{Account, Experiments, Outcome};
    let account =
        |value| Account { region: value, outcome: Outcome::Measured, cpu_ns: value, lost_ns: value };
    model(move || {
        let page = Arc::new(Experiments::default());
        let writer = {
            let page = page.clone();
            thread::spawn(move || page.record(&account(7)))
        };
        if let Some((count, seen)) = page.latest() {
            assert_eq!((count, seen), (1, account(7)));
        }
        writer.join().unwrap();
        assert_eq!(page.latest(), Some((1, account(7))));
    });
}

#[test]
fn a_child_is_never_born_while_its_parent_is_being_narrowed() {
    const WIDE: u32 = 2;
    const NARROW: u32 = 1;
    model(|| {
        let page = Arc::new((Moves::default(), Starts::default(), AtomicU32::new(WIDE)));
        let daemon = {
            let page = page.clone();
            thread::spawn(move || {
                let (moves, starts, affinity) = &*page;
                if moves.begin(starts) {
                    affinity.store(NARROW, Ordering::Relaxed);
                    moves.end();
                }
            })
        };
        let (moves, starts, affinity) = &*page;
        starts.begin();
        // It waits, for a limited time.
        if !moves.are_made() {
            affinity.store(WIDE, Ordering::Relaxed);
            assert_eq!(affinity.load(Ordering::Relaxed), WIDE, "the child's");
        }
        starts.end();
        daemon.join().unwrap();
    });
}
