//! What happens at the entry and the exit of a parallel region. Entry: read the grant, choose the team size,
//! note the time. Threads call the outlined function through [`run_thread`], which takes each one's time.
//! Exit: note the time, add up. In between there is no message and no system call. Taking each thread's time
//! moves a cache line between cores, 150 ns at two threads, so regions known to be short are sampled
//! (`program/sampling.rs`). Regions within regions are passed on as they are.

use super::apart;
use super::choose::choose;
use super::entered::Entered;
use super::frame::Frame;
use super::kind::{Kind, Pass, Region, Work};
use super::mechanisms::{experiment, fold, gather, resize};
use super::thread::{Thread, thread};
use crate::link::{pages, state};
use crate::program::masters::{forget_team, natural, one_master, slot_of};
use crate::program::permission;
use crate::program::sampling::{self, Note, Runs};
use crate::program::thread::{Master, master};
use crate::runtimes::copies::{RUNTIMES, by_number};
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::ticks;
use core::ffi::c_void;
use core::ptr::{eq, null, null_mut};
use scaf_proto::report::Slot;
use scaf_team::choice::{Choice, Length, Mechanism};

/// Runs a region.
/// # Safety
/// The region's work is the program's own.
#[inline(always)]
pub unsafe fn run<R: Default>(region: Region, pass: impl Pass<R>) -> R {
    // SAFETY: a thread's state is its own, and no reference to it outlives a call into the program.
    unsafe {
        if is_passed_by(&region) {
            return unmeasured(thread(), &region, Choice::ALONE, pass);
        }
        managed(&region, pass)
    }
}

/// Whether there is nothing to do about this run: a program of one thread has nothing to choose, and most
/// runs of its short regions aren't measured. Any other run has to be managed.
#[inline(always)]
pub unsafe fn is_passed_by(region: &Region) -> bool {
    let this = master();
    // SAFETY: this thread's own state.
    unsafe {
        let alone = (*this).depth == 0
            && region.requested == 0
            && natural() == 1
            && Note::of(region.code).is_short_alone()
            && one_master();
        alone && sampling::is_passed_by(this)
    }
}

#[inline(always)]
unsafe fn unmeasured<R: Default>(
    this: *mut Thread,
    region: &Region,
    choice: Choice,
    pass: impl Pass<R>,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        if choice.pass != 1 {
            // The runtime chooses, and may wake its threads.
            let _: bool = gather::worker_tls::invalidate(this);
        }
        let entered = Entered::quietly(this, region, choice);
        let result = pass(region.code.runtime, region.work.run, region.work.data, choice.pass);
        entered.leave(this);
        result
    }
}

/// Runs any region that isn't passed by. Out of line, so that those that are don't pay for its registers.
#[inline(never)]
pub unsafe fn managed<R: Default>(region: &Region, pass: impl Pass<R>) -> R {
    let (this, master) = (thread(), master());
    let code = region.code;
    // SAFETY: as in `run`.
    unsafe {
        if is_nested(master, code.runtime) {
            return nested(this, region, pass);
        }
        let note = Note::of(code);
        let mut first = None;
        if note.is_short_alone() && one_master() {
            let choice = choose(this, region, note.length());
            if choice.is_alone() && sampling::is_left_out(master) {
                return unmeasured(this, region, choice, pass);
            }
            // Asking for lent contexts a second time would be in vain.
            first = pages::grant().word().lent().then_some(choice);
        }
        let mut at = ticks();
        state::tend(at, code.runtime);
        let slot = slot_of(master);
        let grant = pages::grant().word();
        let mut choice = first.unwrap_or_else(|| choose(this, region, note.length()));
        if gather::needs_rehearsal(this, region, note.length()) && !grant.lent() {
            rehearse(this, region, choice, &pass);
            choice = choose(this, region, note.length());
            at = ticks();
        }
        if experiment::concerns(region.work.body) {
            let plain = !region.kind.is_sections() && one_master() && slot.is_some();
            let candidate = experiment::Candidate {
                body: region.work.body,
                runtime: code.runtime,
                choice,
                natural: natural(),
                plain,
            };
            let again = |length: Option<Length>| choose(this, region, length.unwrap_or(note.length()));
            let alone = || drop(unmeasured(this, region, Choice::EXPERIMENT, &pass));
            choice = experiment::attend(&candidate, again, alone).unwrap_or(choice);
            at = ticks();
        }
        let entered = Entered::new(this, region, choice, slot, (at, grant));
        let result = if choice.is_alone() {
            alone(region, &entered, &note, pass)
        } else if choice.mechanism == Mechanism::Gather {
            gather::run(this, region, &entered);
            R::default()
        } else {
            several(this, region, &entered, pass)
        };
        entered.leave(this);
        result
    }
}

/// Runs a measured region of one thread. It waits for nobody, so its time in the region is the region's.
#[inline(always)]
unsafe fn alone<R>(region: &Region, entered: &Entered, note: &Note, pass: impl Pass<R>) -> R {
    let code = region.code;
    if entered.choice.pass != 1 {
        // SAFETY: this thread's own state.
        let _: bool = unsafe { gather::worker_tls::invalidate(thread()) };
    }
    let result = pass(code.runtime, region.work.run, region.work.data, entered.choice.pass);
    if let Some(slot) = entered.slot {
        let alone = ticks().wrapping_sub(entered.at);
        let (others, theirs) = note.left_out_alone();
        let wall = alone.wrapping_add(theirs);
        slot.leave_alone(wall, others);
        Note::learn_alone(code, alone);
        let count = others.wrapping_add(1);
        entered.report_runs(region, Runs { grant: entered.grant, team: 1, count, wall, iterations: None });
    }
    result
}

/// Runs a region of several threads. Out of line, so that a region of one doesn't pay for its registers.
#[inline(never)]
unsafe fn several<R>(this: *mut Thread, region: &Region, entered: &Entered, pass: impl Pass<R>) -> R {
    let &Region { code, work, .. } = region;
    let &Entered { slot, at, choice, .. } = entered;
    // SAFETY: as in `run`; the frame lives until the region has ended.
    unsafe {
        fold::enter(this, code.runtime, choice.team, at);
        let borrowed = entered.grant.borrowed();
        let lent = gather::worker_tls::invalidate(this);
        let notes = core::mem::take(&mut (*this).notes) != 0 && one_master();
        let dynamic = choice.mechanism != Mechanism::Unmanaged && permission::is_dynamic(code.runtime);
        if !notes
            && !dynamic
            && !lent
            && !borrowed
            && let Some(share) = Note::of(code).team(master())
        {
            let result = pass(code.runtime, work.run, work.data, choice.pass);
            if let Some(slot) = slot {
                let left = ticks();
                let wall = left.wrapping_sub(at);
                slot.leave(left, choice.team, share.of(wall.wrapping_mul(u64::from(choice.team))));
                Note::check(code, u64::from(choice.team), wall);
                entered.report_run(region, choice.team, wall);
            }
            return result;
        }
        let mut frame = Frame::new(code.runtime, work, 1);
        (frame.entered, frame.master) = (at, master());
        if Note::of(code).is_marked() {
            frame.mark_at_once();
        }
        frame.slot = slot.map_or(null(), |slot| slot as *const Slot);
        frame.takes_over = fold::takes_over(code.runtime);
        // Within a serial region a member would be told of another level.
        frame.gathers = if (*this).serial == 0 { gather::midway::may(region, choice.team) } else { None };
        frame.dynamic = dynamic;
        if borrowed {
            frame.apart = apart::of_master();
        }
        if region.kind == Kind::Reductions {
            frame.first_word = *work.data.cast::<usize>();
        }
        let frame = &raw const frame;
        let result = in_frame(this, frame, choice, notes, pass);
        if let Some(slot) = slot {
            let (threads, inside) = (*frame).inside();
            let left = ticks();
            let useful = entered.add_up(slot, &*frame, left, (threads, inside));
            let plain = (*frame).is_plain();
            let wall = left.wrapping_sub(at);
            Note::learn_team(code, wall, useful, u64::from(threads), plain);
            // Otherwise the marks of its barriers were reported.
            if (*frame).is_told() {
                Note::learn_marked(code);
            } else {
                entered.report_run(region, threads, wall);
            }
        }
        result
    }
}

/// Passes a region on to its runtime, whose threads come back with the frame; `notes` says that they take
/// notes.
#[inline(always)]
unsafe fn in_frame<R>(
    this: *mut Thread,
    frame: *const Frame,
    choice: Choice,
    notes: bool,
    pass: impl Pass<R>,
) -> R {
    let run: Body = if notes { run_thread_noted } else { run_thread };
    // SAFETY: as in `several`.
    unsafe {
        let runtime = (*frame).runtime();
        // This may be within a task at another region's end.
        let before = (*this).left;
        (*this).frame = frame;
        if notes {
            gather::worker_tls::begin();
        }
        if (*frame).dynamic {
            permission::set_dynamic(runtime, false);
        }
        let result = pass(runtime, run, frame.cast_mut().cast(), choice.pass);
        if (*frame).dynamic {
            permission::set_dynamic(runtime, true);
        }
        ((*this).frame, (*this).left) = (null(), before);
        if notes {
            gather::worker_tls::end(this, runtime, choice.team);
            gather::member_signals::compare();
        }
        result
    }
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// The calling thread's teams become as large as they would be without us, and their threads have their own
/// masks of signals: it is about to be forbidden to start any, or to change those. In a region there is
/// nothing to do, nor for a thread that isn't narrowed.
pub fn fill_teams() {
    let (this, master) = (thread(), master());
    // SAFETY: as in `several`, for a region of nothing.
    unsafe {
        let is_narrow = pages::grant().word().dop().is_some_and(|dop| dop < natural());
        if !is_narrow || (*master).slot == 0 || (*master).depth != 0 {
            return;
        }
        for runtime in (0..RUNTIMES).map_while(by_number) {
            let Some(parallel) = runtime.parallel else { continue };
            let _: bool = gather::worker_tls::invalidate(this);
            let work = Work { body: nothing, run: nothing, data: null_mut() };
            let mut frame = Frame::new(runtime, work, 1);
            frame.master = master;
            let before = (*this).left;
            (*this).frame = &raw const frame;
            parallel(run_thread, (&raw mut frame).cast(), 0, 0);
            ((*this).frame, (*this).left) = (null(), before);
        }
    }
}

/// Has the runtime run an empty region with the same team, in which notes are taken of it.
#[cold]
#[inline(never)]
unsafe fn rehearse<R>(this: *mut Thread, region: &Region, choice: Choice, pass: impl Pass<R>) {
    let runtime = region.code.runtime;
    // SAFETY: as in `several`.
    unsafe {
        fold::enter(this, runtime, choice.team, ticks());
        let entered = Entered::quietly(this, region, choice);
        let work = Work { run: nothing, data: null_mut(), ..region.work };
        let mut frame = Frame::new(runtime, work, 1);
        frame.master = master();
        frame.dynamic = permission::is_dynamic(runtime);
        in_frame(this, &raw const frame, choice, true, pass);
        entered.leave(this);
    }
}

/// Whether the calling thread is in a region already. A thread without a slot may be one, too: as a worker of
/// an unmeasured region, or in one of its tasks at its end.
#[inline(always)]
unsafe fn is_nested(this: *mut Master, runtime: &Runtime) -> bool {
    #[cold]
    #[inline(never)]
    fn is_inside(runtime: &Runtime) -> bool {
        // SAFETY: omp_get_level takes nothing.
        runtime.level.is_some_and(|level| unsafe { level() } != 0)
    }
    // SAFETY: this thread's own state.
    unsafe { (*this).depth != 0 || ((*this).slot == 0 && is_inside(runtime)) }
}

/// A nested region: its team size is passed on, and its threads learn which runtime they run in.
#[cold]
#[inline(never)]
unsafe fn nested<R: Default>(this: *mut Thread, region: &Region, pass: impl Pass<R>) -> R {
    let &Region { code, work, .. } = region;
    // SAFETY: as in `run`.
    unsafe {
        if let Some(me) = gather::around(this) {
            gather::inner(me, region);
            return R::default();
        }
        let requested = resize::inner_request(this, code, region.requested);
        forget_team();
        if let Some(around) = (*this).frame.as_ref() {
            around.has_nested();
        }
        let mut frame = Frame::new(code.runtime, work, (*master()).depth.saturating_add(1));
        if region.kind == Kind::Reductions {
            frame.first_word = *work.data.cast::<usize>();
        }
        let frame = &raw const frame;
        let serial = (*this).serial;
        let result = pass(code.runtime, run_thread, frame.cast_mut().cast(), requested);
        (*this).serial = serial;
        result
    }
}

pub unsafe extern "C" fn run_thread(frame: *mut c_void) {
    // SAFETY: the frame outlives the region.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        if frame.apart != 0 {
            apart::go(frame);
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

/// The same, where it is noted whose thread-local storage members will have.
unsafe extern "C" fn run_thread_noted(frame: *mut c_void) {
    // SAFETY: as above.
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

/// Enters a region that one call opens and another ends.
/// # Safety
/// As for [`run`]; the caller leaves what is returned.
pub unsafe fn open(this: *mut Thread, region: &Region) -> Entered {
    // SAFETY: as in `run`.
    unsafe {
        let _: bool = gather::worker_tls::invalidate(this);
        let at = ticks();
        state::tend(at, region.code.runtime);
        let slot = slot_of(master());
        let grant = pages::grant().word();
        let note = Note::of(region.code);
        let choice = choose(this, region, note.length());
        fold::enter(this, region.code.runtime, choice.team, at);
        match slot {
            Some(_) => Entered::new(this, region, choice, slot, (at, grant)),
            // Without a slot it isn't measured.
            None => {
                forget_team();
                Entered::quietly(this, region, choice)
            }
        }
    }
}
