//! Entry and exit of a parallel region. Entry: take the time, read the grant, choose mechanism and team size.
//! Threads call the outlined function through [`run_thread`], which takes each one's time. Exit: take the
//! time, add up. In between there is no message and no system call.

use super::choose::choose;
use super::entered::Entered;
use super::float_words;
use super::frame::Frame;
use super::kind::{Pass, Region, Work};
use super::mechanisms::{experiment, fold, gather, resize};
use super::spread;
use super::thread::{Thread, thread};
use crate::link::{attachment, pages};
use crate::program::masters::{Master, forget_team, master, natural, one_master, slot_of};
use crate::program::permission;
use crate::program::region_record::{self, Record, Runs};
use crate::runtimes::copies::{RUNTIMES, by_number};
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::ticks;
use core::ffi::c_void;
use core::ptr::{eq, from_ref, null, null_mut};
use scaf_team::choice::{Choice, Length, Mechanism};

/// Runs a region.
/// # Safety
/// The region's work is the program's own.
#[inline(always)]
pub unsafe fn run<R: Default>(region: Region, pass: impl Pass<R>) -> R {
    if region.code.runtime.is_foreign {
        return pass(region.code.runtime, region.work.body, region.work.data, region.requested);
    }
    if is_passed_by(&region) {
        return unmeasured(thread(), &region, Choice::ALONE, pass);
    }
    // SAFETY: the region's work is the program's own, as the caller says.
    unsafe { managed(&region, pass) }
}

/// Whether there is nothing to do about this run: a program of one thread has nothing to choose, and most
/// runs of its short regions aren't measured. Any other run has to be managed.
#[inline(always)]
pub fn is_passed_by(region: &Region) -> bool {
    let this = master();
    let alone = this.depth.get() == 0
        && region.requested == 0
        && natural() == 1
        && Record::of(region.code).is_short_alone()
        && one_master();
    alone && region_record::is_passed_by(this)
}

#[inline(always)]
fn unmeasured<R: Default>(this: &Thread, region: &Region, choice: Choice, pass: impl Pass<R>) -> R {
    if choice.pass != 1 {
        // The runtime chooses, and may wake its threads.
        let _: bool = gather::worker_tls::invalidate(this);
    }
    let entered = Entered::quietly(this, region, choice);
    let result = pass(region.code.runtime, region.work.run, region.work.data, choice.pass);
    entered.leave(this);
    result
}

/// The tick at which a region is entered; about once a second the daemon is looked for.
#[inline(always)]
fn stamp(runtime: &Runtime) -> u64 {
    let at = ticks();
    attachment::poll(at, runtime);
    at
}

/// Runs any region that isn't passed by. Out of line, so that those that are don't pay for its registers.
/// # Safety
/// As for [`run`].
#[inline(never)]
pub unsafe fn managed<R: Default>(region: &Region, pass: impl Pass<R>) -> R {
    let (this, master) = (thread(), master());
    let code = region.code;
    if is_nested(master, code.runtime) {
        // SAFETY: the region's work is the program's own, as the caller says.
        return unsafe { nested(this, region, pass) };
    }
    let note = Record::of(code);
    // Most runs of a short region of one thread aren't measured, and have no time stamp. Only the choice says
    // whether this is one.
    let sampled = note.is_short_alone() && one_master();
    let stamped = (!sampled || !region_record::is_next_left_out(master)).then(|| stamp(code.runtime));
    let grant = pages::grant().word();
    let mut choice = choose(this, region, note.length(), grant);
    float_words::keep_for(&this.first_words, code.runtime, || fill_team(this, code.runtime));
    if sampled && choice.is_alone() && region_record::is_left_out(master) {
        return unmeasured(this, region, choice, pass);
    }
    let mut at = stamped.unwrap_or_else(|| stamp(code.runtime));
    let slot = slot_of(master);
    if this.records.get() != 0 || experiment::concerns(region.work.body) {
        (choice, at) = prepare(this, region, note.length(), (choice, at), &pass);
    }
    let entered = Entered::new(this, region, choice, slot, (at, grant));
    let result = if choice.is_alone() {
        alone(this, region, &entered, &note, pass)
    } else if choice.mechanism == Mechanism::Gather {
        // SAFETY: gathering is chosen only where all is ready for it. The work is the program's own.
        unsafe { gather::run(this, region, &entered) };
        R::default()
    } else {
        // SAFETY: the region's work is the program's own, as the caller says.
        unsafe { several(this, region, &entered, pass) }
    };
    entered.leave(this);
    result
}

/// What has to be done before the region, if anything: its workers' TLS bases are recorded in an empty
/// region, or a copy of the process tries it on one context. Either is followed by a new choice and a new
/// tick, which are returned.
#[cold]
#[inline(never)]
fn prepare<R: Default>(
    this: &Thread,
    region: &Region,
    length: Length,
    (mut choice, mut at): (Choice, u64),
    pass: &impl Pass<R>,
) -> (Choice, u64) {
    let again = |length: Length| choose(this, region, length, pages::grant().word());
    let mut waited = false;
    if gather::needs_rehearsal(this, region, length) && !pages::grant().word().lent() {
        rehearse(this, region, choice, pass);
        choice = again(length);
        waited = true;
    }
    if experiment::concerns(region.work.body) {
        let plain = !region.kind.is_sections() && one_master() && slot_of(master()).is_some();
        let candidate = experiment::Candidate {
            body: region.work.body,
            runtime: region.code.runtime,
            choice,
            natural: natural(),
            plain,
        };
        let again = |new: Option<Length>| again(new.unwrap_or(length));
        let alone = || drop(unmeasured(this, region, Choice::EXPERIMENT, pass));
        choice = experiment::attend(&candidate, again, alone).unwrap_or(choice);
        waited = true;
    }
    if waited {
        at = ticks();
    }
    (choice, at)
}

/// Runs a measured region of one thread. It waits for nobody, so its time in the region is the region's.
#[inline(always)]
fn alone<R>(this: &Thread, region: &Region, entered: &Entered, note: &Record, pass: impl Pass<R>) -> R {
    let code = region.code;
    if entered.choice.pass != 1 {
        let _: bool = gather::worker_tls::invalidate(this);
    }
    let result = pass(code.runtime, region.work.run, region.work.data, entered.choice.pass);
    if let Some(slot) = entered.slot {
        let alone = ticks().wrapping_sub(entered.at);
        let (others, theirs) = note.left_out_alone();
        let wall = alone.wrapping_add(theirs);
        slot.leave_alone(wall, others);
        Record::learn_alone(code, alone);
        let count = others.wrapping_add(1);
        entered.report_runs(region, Runs { grant: entered.grant, team: 1, count, wall, iterations: None });
    }
    result
}

/// Runs a region of several threads. Out of line, so that a region of one doesn't pay for its registers.
/// # Safety
/// As for [`run`].
#[inline(never)]
unsafe fn several<R>(this: &Thread, region: &Region, entered: &Entered, pass: impl Pass<R>) -> R {
    let &Region { code, work, .. } = region;
    let &Entered { slot, at, choice, .. } = entered;
    fold::enter(this, code.runtime, choice.team, at);
    let borrowed = entered.grant.borrowed();
    let lent = gather::worker_tls::invalidate(this);
    let records = this.records.take() != 0 && one_master();
    let dynamic = choice.mechanism != Mechanism::Unmanaged && permission::is_dynamic(code.runtime);
    if !records
        && !dynamic
        && !lent
        && !borrowed
        && let Some(share) = Record::of(code).team(master())
    {
        let result = pass(code.runtime, work.run, work.data, choice.pass);
        if let Some(slot) = slot {
            let left = ticks();
            let wall = left.wrapping_sub(at);
            slot.leave(left, choice.team, share.of(wall.wrapping_mul(u64::from(choice.team))));
            Record::check(code, u64::from(choice.team), wall);
            entered.report_run(region, choice.team, wall);
        }
        return result;
    }
    let mut frame = Frame::new(code.runtime, work, 1);
    (frame.entered, frame.master) = (at, master());
    if Record::of(code).is_marked() {
        frame.mark_at_once();
    }
    frame.slot = slot;
    frame.takes_over = fold::takes_over(code.runtime);
    // Within a serial region a member would be told of another level.
    frame.gathers = if this.serial.get() == 0 { gather::midway::may(region, choice.team) } else { None };
    frame.dynamic = dynamic;
    if borrowed {
        frame.spread_from = spread::pu_of_master();
    }
    // SAFETY: the work is the program's own: the data are those of a region of its kind.
    unsafe { frame.copy_first_word(region.kind) };
    let result = in_frame(this, &frame, choice, records, pass);
    if let Some(slot) = slot {
        let (threads, inside) = frame.inside();
        let left = ticks();
        let useful = entered.add_up(slot, &frame, left, (threads, inside));
        let wall = left.wrapping_sub(at);
        Record::learn_team(code, wall, useful, u64::from(threads), frame.is_plain());
        // Otherwise the marks of its barriers were reported.
        if frame.is_told() {
            Record::learn_marked(code);
        } else {
            entered.report_run(region, threads, wall);
        }
    }
    result
}

/// Passes a region on to its runtime, whose threads come back with the frame; `records` says that their TLS
/// bases are recorded.
#[inline(always)]
fn in_frame<R>(this: &Thread, frame: &Frame, choice: Choice, records: bool, pass: impl Pass<R>) -> R {
    let run: Body = if records { run_thread_recorded } else { run_thread };
    let runtime = frame.runtime();
    if records {
        gather::worker_tls::begin();
    }
    if frame.dynamic {
        permission::set_dynamic(runtime, false);
    }
    let pass = |run, data| pass(runtime, run, data, choice.pass);
    let result = with_frame(this, frame, run, pass);
    if frame.dynamic {
        permission::set_dynamic(runtime, true);
    }
    if records {
        gather::worker_tls::end(this, runtime, choice.team);
        gather::member_signals::compare();
    }
    result
}

/// The calling thread is in the frame's region while `pass` has the team call `run` with the frame.
#[inline(always)]
fn with_frame<R>(this: &Thread, frame: &Frame, run: Body, pass: impl FnOnce(Body, *mut c_void) -> R) -> R {
    // This may be within a task at another region's end.
    let left = this.left.get();
    this.frame.set(frame);
    let result = pass(run, from_ref(frame).cast_mut().cast());
    this.frame.set(null());
    this.left.set(left);
    result
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// The calling thread's teams become as large as they would be without us, and their threads have their own
/// masks of signals: it is about to be forbidden to start any, or to change those. In a region there is
/// nothing to do, nor for a thread that isn't narrowed.
pub fn fill_teams() {
    let (this, master) = (thread(), master());
    let is_narrow = pages::grant().word().dop().is_some_and(|dop| dop < natural());
    if is_narrow && master.slot.get() != 0 {
        (0..RUNTIMES).map_while(by_number).for_each(|runtime| _ = fill_team(this, runtime));
    }
}

/// The same for its team of one runtime, whatever is granted. False within a region, or where the runtime has
/// no such call.
fn fill_team(this: &Thread, runtime: &'static Runtime) -> bool {
    let master = master();
    let (0, Some(parallel)) = (master.depth.get(), runtime.GOMP_parallel) else { return false };
    let _: bool = gather::worker_tls::invalidate(this);
    let work = Work { body: nothing, run: nothing, data: null_mut() };
    let mut frame = Frame::new(runtime, work, 1);
    frame.master = master;
    // SAFETY: GOMP_parallel has all threads call `run_thread` with the frame, and returns after that.
    with_frame(this, &frame, run_thread, |run, data| unsafe { parallel(run, data, 0, 0) });
    true
}

/// Has the runtime run an empty region with the same team, in which its TLS bases are recorded.
fn rehearse<R>(this: &Thread, region: &Region, choice: Choice, pass: impl Pass<R>) {
    let runtime = region.code.runtime;
    fold::enter(this, runtime, choice.team, ticks());
    let entered = Entered::quietly(this, region, choice);
    let work = Work { run: nothing, data: null_mut(), ..region.work };
    let mut frame = Frame::new(runtime, work, 1);
    frame.master = master();
    frame.dynamic = permission::is_dynamic(runtime);
    in_frame(this, &frame, choice, true, pass);
    entered.leave(this);
}

/// Whether the calling thread is in a region already. A thread without a slot may be one, too: as a worker of
/// an unmeasured region, or in one of its tasks at its end.
#[inline(always)]
fn is_nested(this: &Master, runtime: &Runtime) -> bool {
    #[cold]
    #[inline(never)]
    fn is_inside(runtime: &Runtime) -> bool {
        runtime.ask_level().is_some_and(|level| level != 0)
    }
    this.depth.get() != 0 || (this.slot.get() == 0 && is_inside(runtime))
}

/// A nested region: its team size is passed on, and its threads learn which runtime they run in.
/// # Safety
/// As for [`run`].
#[cold]
#[inline(never)]
unsafe fn nested<R: Default>(this: &Thread, region: &Region, pass: impl Pass<R>) -> R {
    let &Region { code, work, .. } = region;
    if let Some(me) = gather::current() {
        // SAFETY: the program asked for its function to be called with its data.
        unsafe { gather::inner(me, region) };
        return R::default();
    }
    let requested = resize::inner_request(this, code, region.requested);
    forget_team();
    if let Some(around) = this.frame() {
        around.has_nested();
    }
    let mut frame = Frame::new(code.runtime, work, master().depth.get().saturating_add(1));
    // SAFETY: the work is the program's own: the data are those of a region of its kind.
    unsafe { frame.copy_first_word(region.kind) };
    let serial = this.serial.get();
    let result = pass(code.runtime, run_thread, (&raw mut frame).cast(), requested);
    this.serial.set(serial);
    result
}

/// What each thread of a team runs in place of the outlined function.
/// # Safety
/// `frame` is the team's [`Frame`], which outlives the call.
pub unsafe extern "C" fn run_thread(frame: *mut c_void) {
    // SAFETY: the frame outlives the call, as the caller says; its work is the program's own.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        if frame.spread_from != 0 {
            spread::move_here(frame);
        }
        if frame.dynamic {
            permission::set_dynamic(frame.runtime(), true);
        }
        frame.visit(thread(), || {
            frame.run_body();
            gather::midway::leave();
        });
    }
}

/// The same, where it is recorded whose thread-local storage members will have.
unsafe extern "C" fn run_thread_recorded(frame: *mut c_void) {
    // SAFETY: the frame outlives the call, as for `run_thread`.
    unsafe {
        let around = &*frame.cast_const().cast::<Frame>();
        gather::worker_tls::record(around.runtime());
        run_thread(frame);
        gather::worker_tls::record_control();
        if !eq(around.master, master()) {
            gather::worker_tls::lend_unless_tasks(thread());
        }
    }
}

/// Enters a region that one call opens and another ends; the caller leaves what is returned.
pub fn open(this: &Thread, region: &Region) -> Entered {
    let _: bool = gather::worker_tls::invalidate(this);
    let at = stamp(region.code.runtime);
    let slot = slot_of(master());
    let grant = pages::grant().word();
    let choice = choose(this, region, Record::of(region.code).length(), grant);
    float_words::keep_for(&this.first_words, region.code.runtime, || fill_team(this, region.code.runtime));
    fold::enter(this, region.code.runtime, choice.team, at);
    if slot.is_some() {
        return Entered::new(this, region, choice, slot, (at, grant));
    }
    // Without a slot it isn't measured.
    forget_team();
    Entered::quietly(this, region, choice)
}
