//! Every interleaving, model-checked: the barrier and the gate with a futex made of a lock.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use scaf_team::Sleep;
use scaf_team::barrier::{Barrier, Passed};
use scaf_team::gate::Gate;
use scaf_team::gather::doacross_sync::Posts;
use scaf_team::gather::scheduler::Cancelled;
use scaf_team::gather::scheduler::{FiberScheduler, Until};
use scaf_team::gather::worksharing::{Assigned, Came, Loop, Rule, Shares};

/// A futex that never gives up: a wake-up that is missed is a deadlock, which loom reports.
struct Futex {
    lock: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    fn new() -> Futex {
        Futex { lock: Mutex::new(()), woken: Condvar::new() }
    }
}

impl Sleep for Futex {
    fn sleep(&self, word: &AtomicU32, value: u32, _: u32) -> bool {
        let lock = self.lock.lock().unwrap();
        if word.load(Ordering::SeqCst) == value {
            drop(self.woken.wait(lock).unwrap());
        }
        false
    }

    fn wake_all(&self, _: &AtomicU32) {
        let _lock = self.lock.lock().unwrap();
        self.woken.notify_all();
    }
}

/// What the kernel does for a client (membarrier(2)); the other side has its own fence here.
fn order() -> bool {
    fence(Ordering::SeqCst);
    true
}

fn once() -> impl FnMut() -> bool {
    let mut first = true;
    move || {
        thread::yield_now();
        std::mem::replace(&mut first, false)
    }
}

#[test]
fn two_threads_pass_two_barriers_together() {
    // All interleavings take minutes (and pass); those with at most three preemptions take a second.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new((Barrier::new(), Futex::new(), [AtomicU32::new(0), AtomicU32::new(0)]));
        let run = |me: usize, shared: Arc<(Barrier, Futex, [AtomicU32; 2])>| {
            let (barrier, futex, done) = &*shared;
            for step in 1..=2 {
                done[me].store(step, Ordering::Relaxed);
                assert_eq!(barrier.wait(2, futex, || false), Passed::Here);
                assert!(done[1 - me].load(Ordering::Relaxed) >= step);
            }
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || run(1, other));
        run(0, shared);
        thread.join().unwrap();
    });
}

#[test]
fn a_barrier_is_handed_over_to_those_who_wait_and_those_who_come() {
    loom::model(|| {
        let shared = Arc::new((Barrier::new(), Futex::new()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            // Passes the first with the creator of the task, and meets the second as it is handed over.
            assert_eq!(other.0.wait(2, &other.1, || false), Passed::Here);
            assert_eq!(other.0.wait(2, &other.1, once()), Passed::HandedOver);
        });
        assert_eq!(shared.0.wait(2, &shared.1, || false), Passed::Here);
        shared.0.hand_over(&shared.1);
        assert_eq!(shared.0.wait(2, &shared.1, || false), Passed::HandedOver);
        thread.join().unwrap();
    });
}

#[test]
fn a_parked_thread_is_woken_when_the_loop_is_exhausted() {
    loom::model(|| {
        let shared = Arc::new((Gate::new(), Futex::new()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.0.park(1, 0, &other.1, || 1));
        assert!(shared.0.lets_through(0, 1, &shared.1));
        shared.0.exhausted(0, &shared.1);
        thread.join().unwrap();
    });
}

#[test]
fn a_parked_thread_is_woken_when_the_grant_grows() {
    loom::model(|| {
        let shared = Arc::new((Gate::new(), Futex::new(), AtomicU32::new(1)));
        let dop = |shared: &(Gate, Futex, AtomicU32)| shared.2.load(Ordering::SeqCst);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.0.park(1, 0, &other.1, || dop(&other)));
        shared.2.store(2, Ordering::SeqCst);
        // A chunk that begins after the change, then the loop's end, which no parked thread may miss either.
        assert!(shared.0.lets_through(0, dop(&shared), &shared.1));
        shared.0.exhausted(0, &shared.1);
        thread.join().unwrap();
    });
}

/// Two members that meet once, on two carriers or on one, whoever takes them; each looks at what the other
/// did before.
fn meet(shared: &(FiberScheduler<2>, Futex, [UnsafeCell<u32>; 2]), carrier: u32, mut me: Option<usize>) {
    let (scheduler, futex, work) = shared;
    loop {
        if let Some(member) = me {
            // 0: before the barrier, 1: at it, and then done.
            let met = work[member].with(|work| unsafe { *work });
            let mut until = Until::Turn;
            if met == 0 {
                work[member].with_mut(|work| unsafe { *work = 1 });
                until = scheduler.arrive(member).map_or_else(
                    || {
                        scheduler.pass(futex);
                        Until::Turn
                    },
                    Until::Passed,
                );
            }
            if scheduler.is_met(until) {
                assert_eq!(work[1 - member].with(|work| unsafe { *work }), 1);
                if member == 1 {
                    scheduler.finish(1, futex);
                } else {
                    until = Until::Joined;
                }
            }
            if member == 0 && until == Until::Joined && carrier == 0 && scheduler.is_met(until) {
                return;
            }
            if until != Until::Turn {
                scheduler.set_wait(member, until);
                scheduler.set_suspended(member);
                scheduler.notify(futex);
            }
        }
        if scheduler.is_surplus(carrier) {
            return;
        }
        thread::yield_now();
        me = scheduler.take(carrier, me.unwrap_or(0));
        if me.is_none() {
            let look = || match scheduler.take(carrier, 0) {
                None => scheduler.is_surplus(carrier).then_some(None),
                next => Some(next),
            };
            me = scheduler.nap(futex, 0, look).flatten();
        }
    }
}

#[test]
fn gathered_members_meet_whoever_runs_them() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.max_branches = 20_000;
    model.check(|| {
        let work = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let shared = Arc::new((FiberScheduler::new(), Futex::new(), work));
        shared.0.begin(2, 2);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            if other.0.carrier_enters(1) {
                meet(&other, 1, None);
                other.0.carrier_leaves();
            }
        });
        meet(&shared, 0, Some(0));
        shared.0.close();
        shared.0.notify(&shared.1);
        while !shared.0.is_quiescent() {
            thread::yield_now();
        }
        thread.join().unwrap();
    });
}

/// The master's carrier is by itself at first. Another one comes if that could be ended. Each holds members
/// for itself, and whoever arrives last sees what all did before.
#[test]
fn a_carrier_by_itself_is_joined_by_another_one() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let [steps, behind] = [(); 2].map(|()| [UnsafeCell::new(0), UnsafeCell::new(0)]);
        let shared = Arc::new((FiberScheduler::<2>::new(), Futex::new(), steps, behind, AtomicU32::new(0)));
        shared.0.allow_exclusive(true);
        shared.0.begin(2, 1);
        type Shared = (FiberScheduler<2>, Futex, [UnsafeCell<u32>; 2], [UnsafeCell<u32>; 2], AtomicU32);
        let run = |carrier: u32, mut me: Option<usize>, shared: &Shared| {
            let (scheduler, futex, steps, behind, last) = shared;
            for _ in 0..3 {
                me = me.or_else(|| scheduler.take(carrier, 0));
                let Some(member) = me.take() else { continue };
                if steps[member].with(|at| unsafe { *at }) != 0 {
                    // Behind the barrier, and held for good.
                    behind[member].with_mut(|at| unsafe { *at += 1 });
                    assert_ne!(steps[1 - member].with(|at| unsafe { *at }), 0);
                    continue;
                }
                steps[member].with_mut(|at| unsafe { *at = 1 });
                let until = scheduler.arrive(member).map_or(Until::Turn, Until::Passed);
                if until == Until::Turn {
                    assert_eq!(last.fetch_add(1, Ordering::Relaxed), 0);
                    steps.iter().for_each(|at| assert_eq!(at.with(|at| unsafe { *at }), 1));
                    scheduler.pass(futex);
                }
                scheduler.set_wait(member, until);
                scheduler.set_suspended(member);
            }
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            if other.0.widen(2, order) && other.0.carrier_enters(1) {
                run(1, None, &other);
                other.0.carrier_leaves();
            }
        });
        run(0, Some(0), &shared);
        thread.join().unwrap();
    });
}

/// Two parts, of one member and of two, meet twice. Before the first time the region may be had on a carrier
/// more or less; the parts are others the second time.
#[test]
fn parts_meet_and_are_cut_anew() {
    for carriers in [1, 2, 3] {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let steps = [UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)];
            let shared = Arc::new((FiberScheduler::<3>::new(), Futex::new(), steps));
            shared.0.begin(3, 2);
            let run = move |me: usize, shared: &(FiberScheduler<3>, Futex, [UnsafeCell<u32>; 3])| {
                let (scheduler, futex, steps) = shared;
                if me == 0 {
                    scheduler.narrow(carriers);
                    scheduler.widen(carriers, order);
                }
                for step in 1..=2 {
                    steps[me].with_mut(|at| unsafe { *at = step });
                    match scheduler.arrive(me) {
                        Some(word) => {
                            let is_met = || scheduler.is_met(Until::Passed(word)).then_some(());
                            while is_met().is_none() {
                                scheduler.nap(futex, 0, is_met);
                            }
                        }
                        None => scheduler.pass(futex),
                    }
                }
                steps.iter().for_each(|at| assert_eq!(at.with(|at| unsafe { *at }), 2));
            };
            let threads = [1, 2].map(|me| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || run(me, &shared))
            });
            run(0, &shared);
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }
}

/// The two threads of a team come to a barrier where it is gathered. Then both members meet once more, go
/// home behind that barrier or at their ends, and look at what the other one did before.
struct Midway {
    barrier: Barrier,
    scheduler: FiberScheduler<2>,
    futex: Futex,
    /// How often a member has met the other one; whoever runs it has it for itself.
    met: [UnsafeCell<u32>; 2],
    asks: bool,
    called: AtomicU32,
}

impl Midway {
    /// A member behind its gathering barrier, until it has to wait; `true` if it is to go home.
    fn run(&self, member: usize) -> Result<bool, Until> {
        let step = |to| self.met[member].with_mut(|met| unsafe { *met = to });
        let met = self.met[member].with(|met| unsafe { *met });
        let word = match met {
            0 => {
                step(1);
                match self.scheduler.arrive(member) {
                    Some(word) => {
                        step(2 + word);
                        Some(word)
                    }
                    None => {
                        self.scheduler.start_requested_return();
                        self.scheduler.pass(&self.futex);
                        if self.scheduler.is_returning() {
                            self.called.store(1, Ordering::SeqCst);
                            self.futex.wake_all(&self.called);
                        }
                        None
                    }
                }
            }
            waits => Some(waits - 2),
        };
        match word.map(Until::Passed) {
            Some(until) if !self.scheduler.is_met(until) => Err(until),
            _ => {
                let other = self.met[1 - member].with(|met| unsafe { *met });
                assert_ne!(other, 0);
                Ok(self.scheduler.is_returning())
            }
        }
    }

    /// Kernel thread 1: its member is up for others until it comes home.
    fn worker(&self) {
        assert_eq!(self.barrier.wait_or_gather(2, &self.futex, once(), || self.gather()), Passed::Gathered);
        self.scheduler.set_wait(1, Until::Turn);
        self.scheduler.set_suspended(1);
        self.scheduler.notify(&self.futex);
        loop {
            let called = self.called.load(Ordering::SeqCst);
            if self.scheduler.take_for_own_thread(1) {
                break;
            }
            if called == 0 {
                self.futex.sleep(&self.called, 0, 0);
            }
            thread::yield_now();
        }
        self.met[1].with(|met| assert_ne!(unsafe { *met }, 0));
    }

    /// Kernel thread 0, the only carrier.
    fn master(&self) {
        assert_eq!(self.barrier.wait_or_gather(2, &self.futex, once(), || self.gather()), Passed::Gathered);
        let (mut me, mut joins) = (0, false);
        loop {
            let until = match self.run(me) {
                _ if me == 0 && joins && self.scheduler.is_met(Until::Joined) => return,
                Ok(true) if me == 0 => return,
                Ok(_) if me == 0 => {
                    joins = true;
                    if self.scheduler.is_met(Until::Joined) {
                        return;
                    }
                    Until::Joined
                }
                Ok(homeward) => {
                    if !homeward {
                        self.scheduler.finish_midway(&self.futex);
                    }
                    Until::OwnThread
                }
                Err(until) => until,
            };
            let look = || match self.scheduler.take(0, me) {
                None if until == Until::OwnThread => self.scheduler.take_master().then_some(Some(0)),
                None if self.scheduler.is_met(until) => Some(None),
                None => None,
                next => Some(next),
            };
            thread::yield_now();
            if let Some(Some(next)) = look().or_else(|| self.scheduler.nap(&self.futex, 0, look)) {
                self.scheduler.set_wait(me, until);
                if until == Until::OwnThread {
                    self.called.store(1, Ordering::SeqCst);
                    self.futex.wake_all(&self.called);
                }
                self.scheduler.set_suspended(me);
                me = next;
            }
        }
    }

    fn gather(&self) -> bool {
        self.scheduler.gather(2, 1);
        if self.asks {
            self.scheduler.request_return();
        }
        true
    }
}

#[test]
fn threads_become_members_at_a_barrier_and_threads_again() {
    for (asks, by_itself) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.max_branches = 20_000;
        model.check(move || {
            let shared = Arc::new(Midway {
                barrier: Barrier::new(),
                scheduler: FiberScheduler::new(),
                futex: Futex::new(),
                met: [UnsafeCell::new(0), UnsafeCell::new(0)],
                asks,
                called: AtomicU32::new(0),
            });
            shared.scheduler.allow_exclusive(by_itself);
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || other.worker());
            shared.master();
            thread.join().unwrap();
        });
    }
}

#[test]
fn a_share_is_opened_once_and_its_place_used_again() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(1);
    model.check(|| {
        let shared = Arc::new(Shares::<1>::new());
        let come = |shared: &Shares<1>| {
            let mut first = 0;
            for number in 1..=2 {
                loop {
                    match shared.come(number, &Loop::sections(number.into())) {
                        Came::First => first += 1,
                        Came::Later => {}
                        Came::TooEarly => {
                            thread::yield_now();
                            continue;
                        }
                    }
                    break;
                }
                while let Some((section, _)) = shared.deal(number, (0, 2), &mut Assigned::default()) {
                    assert!((1..=u64::from(number)).contains(&section));
                    first += 10;
                }
                shared.leave(number, 2);
            }
            first
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || come(&other));
        // Two shares opened, one section and two.
        assert_eq!(come(&shared) + thread.join().unwrap(), 32);
    });
}

/// Two iterations in a room that whoever comes first prepares; the second waits for what the first has done.
#[test]
fn an_iteration_sees_what_it_waited_for() {
    const RULE: Rule = Rule::Dynamic(1);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let words = (0..Posts::words(&[2], RULE, 2)).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let shared = Arc::new((Shares::<1>::new(), words, UnsafeCell::new(0)));
        let member = |shared: &(Shares<1>, Vec<AtomicU64>, UnsafeCell<u32>)| {
            let (shares, words, value) = shared;
            let whole = Loop::signed(0, 2, 1, RULE);
            let prepare = || Posts::begin(words, &[2], RULE, 2);
            while shares.come_and(1, &whole, prepare) == Came::TooEarly {
                thread::yield_now();
            }
            let posts = Posts::of(words);
            while let Some((at, _)) = shares.deal(1, (0, 2), &mut Assigned::default()) {
                while at == 1 && !posts.is_posted(core::iter::once(0)) {
                    thread::yield_now();
                }
                // SAFETY: each iteration has it for itself, one after the other.
                value.with_mut(|value| unsafe { *value = *value * 10 + at as u32 + 1 });
                posts.post(core::iter::once(at));
            }
            shares.leave(1, 2);
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || member(&other));
        member(&shared);
        thread.join().unwrap();
        // SAFETY: nobody else is there any more.
        shared.2.with(|value| assert_eq!(unsafe { *value }, 12));
    });
}

/// Whoever tells of an iteration says so to the scheduler only if it is waited for: that is never missed.
#[test]
fn a_member_that_waits_for_an_iteration_is_told() {
    const RULE: Rule = Rule::Static(0);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let words = (0..Posts::words(&[3], RULE, 1)).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        Posts::begin(&words, &[3], RULE, 1);
        let shared = Arc::new((FiberScheduler::<2>::new(), Futex::new(), words));
        shared.0.begin(2, 2);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for at in 0..2 {
                if Posts::of(&other.2).post(core::iter::once(at)) {
                    other.0.notify_changed(&other.1);
                }
            }
        });
        let (scheduler, futex, words) = &*shared;
        let is_met = || Posts::of(words).is_posted(core::iter::once(1));
        while !is_met() {
            let until = scheduler.listen();
            while !is_met() && !scheduler.is_met(until) {
                scheduler.nap(futex, 0, || scheduler.is_met(until).then_some(()));
            }
            scheduler.unlisten();
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_member_that_listens_learns_of_every_change() {
    loom::model(|| {
        let shared = Arc::new((FiberScheduler::<2>::new(), Futex::new(), AtomicU32::new(0)));
        shared.0.begin(2, 2);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.2.store(1, Ordering::Relaxed);
            other.0.notify_changed(&other.1);
        });
        let (scheduler, futex, told) = &*shared;
        while told.load(Ordering::Relaxed) == 0 {
            let until = scheduler.listen();
            while told.load(Ordering::Relaxed) == 0 && !scheduler.is_met(until) {
                scheduler.nap(futex, 0, || scheduler.is_met(until).then_some(()));
            }
            scheduler.unlisten();
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_member_at_a_barrier_is_told_of_a_task() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new((FiberScheduler::<2>::new(), Futex::new()));
        shared.0.begin(2, 2);
        let other = Arc::clone(&shared);
        // Creates a task, and comes to the barrier once that is over.
        let thread = thread::spawn(move || {
            other.0.offer(1);
            other.0.notify(&other.1);
            while other.0.has_tasks() {
                thread::yield_now();
            }
            if other.0.arrive(1).is_none() {
                other.0.pass(&other.1);
            }
        });
        let (scheduler, futex) = &*shared;
        if let Some(word) = scheduler.arrive(0) {
            let until = Until::Passed(word);
            let mut ran = 0;
            while !scheduler.is_met(until) {
                if scheduler.offers(until) {
                    scheduler.offer(0);
                    ran += 1;
                    continue;
                }
                scheduler
                    .nap(futex, 0, || (scheduler.is_met(until) || scheduler.offers(until)).then_some(()));
            }
            assert_eq!(ran, 1);
        } else {
            scheduler.pass(futex);
        }
        thread.join().unwrap();
    });
}

/// One member cancels the region, the other waits at a barrier where that shows: it is let go, and they meet
/// at the end, where each sees what the other has done.
#[test]
fn a_member_at_a_barrier_is_let_go_where_the_region_is_cancelled() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared =
            Arc::new((FiberScheduler::<2>::new(), Futex::new(), [UnsafeCell::new(0), UnsafeCell::new(0)]));
        shared.0.begin(2, 2);
        let wait = |shared: &(FiberScheduler<2>, Futex, [UnsafeCell<u32>; 2]), until: Until| {
            while !shared.0.is_met(until) {
                shared.0.nap(&shared.1, 0, || shared.0.is_met(until).then_some(()));
            }
        };
        let end = move |shared: &(FiberScheduler<2>, Futex, [UnsafeCell<u32>; 2]), me: usize| {
            // SAFETY: each has its own until all are at the end.
            shared.2[me].with_mut(|done| unsafe { *done = 1 });
            match shared.0.arrive_at_end() {
                Some(until) => wait(shared, until),
                None => shared.0.pass(&shared.1),
            }
            // SAFETY: nobody changes any behind that.
            shared.2.iter().for_each(|done| done.with(|done| assert_eq!(unsafe { *done }, 1)));
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.0.cancel(Cancelled::Region, &other.1);
            end(&other, 1);
        });
        if !shared.0.is_cancelled(Cancelled::Region) {
            match shared.0.arrive(0) {
                Some(word) => wait(&shared, Until::PassedOrCancelled(word)),
                None => panic!("nobody else comes to the barrier"),
            }
            assert!(shared.0.is_cancelled(Cancelled::Region));
        }
        end(&shared, 0);
        thread.join().unwrap();
    });
}
