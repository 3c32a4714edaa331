//! What happens at the entry and the exit of a parallel region.
//!
//! Entry: find the region's runtime, read the grant, choose the team size, note the time. The outlined function is
//! called through [`run_thread`], which takes each thread's time in it. Exit: note the time, add up. In between no
//! message and no system call.
//!
//! Taking each thread's time moves a cache line between cores, 150 ns at two threads. Regions known to be short are
//! therefore sampled ([`crate::sampling`]).
//!
//! The team size is chosen by [`scaf_team::choice`]; here are the facts that it is chosen by. Regions within regions are
//! passed on as they are.

use crate::arch::{Thread, thread, ticks};
use crate::frame::Frame;
use crate::masters::{ask_natural, in_teams, join_teams, leave_teams, natural, one_master, slot_of};
use crate::runtime::{self, Body, Code, Runtime};
use crate::sampling::{self, Note};
use crate::virtualise::{self, Parts};
use crate::{blocking, client, crowd, experiment, pages, promise, settings, watch};
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::Ordering;
use scaf_proto::grant::Word;
use scaf_proto::report::{SLOTS, Slot, fact};
use scaf_team::choice::{self, Choice, Facts, Length};

/// What sets a region apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// It is one loop of so many iterations, which are dealt out in chunks, and which the runtime begins.
    Loop(u64),
    /// Task reductions: the runtime itself reads the first word of the program's data.
    Reductions,
    /// Opened by one call and ended by another.
    Opened,
    /// Sections, which may wait for each other: a smaller team might never get to the one that is waited for.
    Sections,
}

/// What each thread of a region does.
#[derive(Clone, Copy)]
pub struct Work {
    /// The program's outlined function, by which the region is known.
    pub body: Body,
    /// What is called with the data: that function, or what knows how to call it.
    pub run: Body,
    /// The program's own data, or ours.
    pub data: *mut c_void,
}

/// Runs a region: `call` passes it on, with the function, data and team size that it is handed.
///
/// # Safety
/// The work is the program's own; `call` returns when the region has ended.
#[inline(always)]
pub unsafe fn run<R>(
    code: Code,
    work: Work,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    let this = thread();
    // SAFETY: a thread's state is its own, and no reference to it outlives a call into the program.
    unsafe {
        if is_passed_by(this, code, requested) {
            return unmeasured(this, code, work, Choice::ALONE, call);
        }
        managed(this, code, work, requested, kind, call)
    }
}

/// Whether this run of a region is one that there is nothing to do about: a program of one thread has nothing to choose, and most runs of
/// its short regions aren't measured. One that isn't passed by has to be managed.
#[inline(always)]
pub unsafe fn is_passed_by(this: *mut Thread, code: Code, requested: u32) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        let alone = (*this).depth == 0
            && requested == 0
            && natural() == 1
            && Note::of(code).is_short_alone()
            && one_master();
        alone && sampling::is_passed_by(this)
    }
}

/// Runs a region of one thread that isn't measured.
#[inline(always)]
unsafe fn unmeasured<R>(
    this: *mut Thread,
    code: Code,
    work: Work,
    choice: Choice,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        (*this).runtime = code.runtime;
        (*this).depth = 1;
        (*this).shrunk = u32::from(choice.shrunk);
        let serial = (*this).serial;
        let result = call(code.runtime, work.run, work.data, choice.pass);
        (*this).serial = serial;
        (*this).depth = 0;
        (*this).runtime = null();
        result
    }
}

/// Runs any region that isn't passed by. Kept out of line: those that are shall not pay for its registers.
#[inline(never)]
pub unsafe fn managed<R>(
    this: *mut Thread,
    code: Code,
    work: Work,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        if (*this).depth != 0 || ((*this).slot == 0 && is_inside(code.runtime)) {
            return nested(this, code, work, requested, kind, call);
        }
        let body = work.body;
        let note = Note::of(code);
        let mut first = None;
        if note.is_short_alone() && one_master() {
            let choice = choose(code, body, &note, note.length(), requested, kind);
            if choice.team == 1 && choice.ids == 0 && sampling::is_left_out(this) {
                return unmeasured(this, code, work, choice, call);
            }
            // To ask for lent contexts twice would be once in vain.
            first = pages::grant().word().lent().then_some(choice);
        }
        let entered = ticks();
        client::tend(entered, code.runtime);
        let slot = slot_of(this);
        let grant = pages::grant().word();
        let mut entered = entered;
        let mut choice = first.unwrap_or_else(|| choose(code, body, &note, note.length(), requested, kind));
        if experiment::concerns(body) {
            let plain = kind != Kind::Sections && one_master() && slot.is_some();
            let natural = natural();
            let region = experiment::Candidate { body, runtime: code.runtime, choice, natural, plain };
            let again = |length: Option<Length>| {
                choose(code, body, &note, length.unwrap_or(note.length()), requested, kind)
            };
            let alone = || drop(unmeasured(this, code, work, Choice::EXPERIMENT, &call));
            choice = experiment::attend(&region, again, alone).unwrap_or(choice);
            entered = ticks();
        }
        if choice.promised
            && let Some(slot) = slot
        {
            slot.add_promised();
        }
        let shared = join_teams(choice.team);
        if let Some(slot) = slot {
            slot.enter(choice.team, entered);
        }
        (*this).runtime = code.runtime;
        (*this).depth = 1;
        (*this).shrunk = u32::from(choice.shrunk);
        let serial = (*this).serial;
        let result = if choice.team == 1 && choice.ids == 0 {
            // One thread has nobody to wait for: its time in the region is the region's.
            let result = call(code.runtime, work.run, work.data, choice.pass);
            if let Some(slot) = slot {
                let wall = ticks().wrapping_sub(entered);
                let (others, theirs) = note.left_out_alone();
                let wall_of_all = wall.wrapping_add(theirs);
                slot.leave_alone(wall_of_all, others);
                Note::learn_alone(code, wall);
                Note::report(code, (body, kind), grant, 1, others.wrapping_add(1), wall_of_all);
            }
            result
        } else {
            let entry = Entry { code, slot, work, requested, kind, entered, grant, choice };
            several(this, &entry, call)
        };
        (*this).serial = serial;
        (*this).depth = 0;
        (*this).runtime = null();
        leave_teams(shared);
        result
    }
}

/// Whether the waits of regions on this runtime are ours, so that they follow the fold. Whoever says how LLVM's threads are to
/// wait is heeded.
pub fn takes_over(runtime: &Runtime) -> bool {
    let settings = settings::get();
    settings.spin.is_some() && runtime.is_complete() && !(runtime.is_llvms() && settings.own_blocking)
}

/// A region that is being entered.
struct Entry {
    code: Code,
    slot: Option<&'static Slot>,
    work: Work,
    requested: u32,
    kind: Kind,
    entered: u64,
    grant: Word,
    choice: Choice,
}

/// Runs a region of several threads. Kept out of line: a region of one shall not pay for its registers.
#[inline(never)]
unsafe fn several<R>(
    this: *mut Thread,
    entry: &Entry,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    let &Entry { code, slot, work, entered, grant, choice, .. } = entry;
    let crowd = crowd::enter(code.runtime, choice.team);
    if code.runtime.is_llvms() {
        // SAFETY: this thread's own state.
        unsafe { blocking::follow(this, code.runtime, choice.team) }
    }
    let hostless = crowd.is_hostless();
    // SAFETY: as in `run`; the frame lives until the region has ended.
    unsafe {
        if choice.ids == 0
            && !hostless
            && let Some(share) = Note::of(code).team(this)
        {
            let result = call(code.runtime, work.run, work.data, choice.pass);
            if let Some(slot) = slot {
                let left = ticks();
                let wall = left.wrapping_sub(entered);
                slot.leave(left, choice.team, share.of(wall.wrapping_mul(u64::from(choice.team))));
                Note::check(code, wall);
                Note::report(code, (work.body, entry.kind), grant, choice.team, 1, wall);
            }
            return result;
        }
        let mut frame = Frame::new(code.runtime, work, 1);
        (frame.entered, frame.master) = (entered, this);
        if Note::of(code).is_marked() {
            frame.mark_at_once();
        }
        frame.slot = slot.map_or(null(), |slot| slot as *const Slot);
        if choice.ids != 0 {
            return virtualised(this, entry, frame, call);
        }
        frame.takes_over = takes_over(code.runtime);
        if entry.kind == Kind::Reductions {
            frame.first_word = *work.data.cast::<usize>();
        }
        let frame = &raw const frame;
        // This may be in a task at another region's end.
        let left = (*this).left;
        (*this).frame = frame;
        let run = if hostless { run_thread_hosted } else { run_thread };
        let result = call(code.runtime, run, frame.cast_mut().cast(), choice.pass);
        ((*this).frame, (*this).left) = (null(), left);
        if let Some(slot) = slot {
            let (threads, inside) = (*frame).inside();
            let left = ticks();
            let useful = leave(slot, &*frame, entered, left, threads, inside);
            let plain = (*frame).is_plain();
            let wall = left.wrapping_sub(entered);
            Note::learn_team(code, wall, useful, u64::from(threads), plain);
            if plain && threads == choice.team && choice.pass == entry.requested {
                Note::learn_whole(code);
            }
            // Else its marks have told.
            if (*frame).is_told() {
                Note::learn_marked(code);
            } else {
                Note::report(code, (work.body, entry.kind), grant, threads, 1, wall);
            }
        }
        result
    }
}

/// Runs a region on fewer threads than the program finds in it.
#[cold]
#[inline(never)]
unsafe fn virtualised<R>(
    this: *mut Thread,
    entry: &Entry,
    mut frame: Frame,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    let &Entry { code, slot, entered, grant, choice, .. } = entry;
    frame.parts = Parts::of(choice.ids);
    frame.loops = virtualise::loops_at_entry(entry.kind);
    let frame = frame;
    promise::note(fact::VIRTUALISED);
    // SAFETY: as in `several`; nobody is at the frame any more when the watch and the threads of their own are gone.
    unsafe {
        let post = ((*this).slot as usize).wrapping_sub(1);
        watch::put(post, &frame);
        let before = (*this).left;
        (*this).frame = &raw const frame;
        let data = (&raw const frame).cast_mut().cast();
        let result = call(code.runtime, virtualise::run_parts, data, choice.pass);
        ((*this).frame, (*this).left) = (null(), before);
        watch::take_back(post, &frame);
        if frame.parts.come_home() {
            Note::never_virtual(code);
        }
        let left = ticks();
        let wall = left.wrapping_sub(entered);
        if let Some(slot) = slot {
            let (_, inside) = frame.inside();
            let all = wall.wrapping_mul(u64::from(choice.team));
            slot.leave(left, choice.team, inside.min(all));
        }
        Note::learn_length(code.note, wall);
        Note::report(code, (entry.work.body, entry.kind), grant, choice.team, 1, wall);
        result
    }
}

/// Adds the region up and returns its useful ticks. A team that had tasks whose time wasn't taken may have worked while it
/// waited, within the function or after it: all its time counts as useful, an upper bound.
#[inline(always)]
pub fn leave(slot: &Slot, frame: &Frame, entered: u64, left: u64, threads: u32, inside: u64) -> u64 {
    let all = left.wrapping_sub(entered).wrapping_mul(u64::from(threads));
    let all_useful = frame.has_untimed_tasks() || inside > all;
    slot.leave(left, threads, if all_useful { all } else { inside })
}

/// Whether a thread that is no master yet is in a region all the same: as a worker of one that isn't measured, or running
/// one of its tasks at its end.
#[cold]
#[inline(never)]
fn is_inside(runtime: &Runtime) -> bool {
    // SAFETY: omp_get_level takes nothing.
    runtime.level.is_some_and(|level| unsafe { level() } != 0)
}

/// A region within a region: its team is passed on as it is, and its threads learn which runtime they run in.
#[cold]
#[inline(never)]
unsafe fn nested<R>(
    this: *mut Thread,
    code: Code,
    work: Work,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        let requested = inner_request(this, code, requested);
        if let Some(around) = (*this).frame.as_ref() {
            around.has_nested();
        }
        let mut frame = Frame::new(code.runtime, work, (*this).depth.saturating_add(1));
        if kind == Kind::Reductions {
            frame.first_word = *work.data.cast::<usize>();
        }
        let frame = &raw const frame;
        let serial = (*this).serial;
        let result = call(code.runtime, run_thread, frame.cast_mut().cast(), requested);
        (*this).serial = serial;
        result
    }
}

/// The team size to ask for within a region. The runtime doesn't count a team of one as a region: where it has one
/// thread because of us, there would have been a larger team around this region without us, and with nesting switched
/// off, as it is by default, this one would have had one thread.
pub unsafe fn inner_request(this: *mut Thread, code: Code, requested: u32) -> u32 {
    // SAFETY: this thread's own state; omp_get_max_active_levels takes nothing.
    unsafe {
        // Another runtime doesn't know of the region around.
        let its_own = core::ptr::eq((*this).runtime, code.runtime);
        let one_level = || its_own && code.runtime.max_active_levels.is_none_or(|levels| levels() <= 1);
        if (*this).shrunk != 0 && one_level() { 1 } else { requested }
    }
}

/// What each thread of a team runs in place of the outlined function.
pub unsafe extern "C" fn run_thread(frame: *mut c_void) {
    // SAFETY: the frame outlives the region.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        frame.visit(thread(), || frame.run_body());
    }
}

/// The same, in a team that needs a host of idle threads.
unsafe extern "C" fn run_thread_hosted(frame: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        crowd::call_in((*frame.cast_const().cast::<Frame>()).runtime());
        run_thread(frame);
    }
}

/// Chooses the team size of a region that isn't nested.
#[inline(always)]
pub fn choose(code: Code, body: Body, note: &Note, length: Length, requested: u32, kind: Kind) -> Choice {
    let word = pages::grant().word();
    let inspected = runtime::is_numbered(code.module)
        && runtime::modules_met() <= word.inspected()
        && runtime::NEWS.load(Ordering::Relaxed) == 0;
    let mut facts = Facts {
        requested,
        // As last seen: `client` asks the runtime about once a second. Only a smaller team needs the exact number.
        natural: natural(),
        budget: word.dop().map(|dop| dop.saturating_sub(in_teams()).saturating_sub(experiment::contexts())),
        kept: promise::is_kept(),
        resizable: inspected && word.resizable() && kind != Kind::Sections,
        independent: false,
        length,
        lent: word.lent() && requested != 1 && client::ask_back(word.epoch()),
        only_master: one_master(),
        spins: word.spins(),
    };
    let mut choice = choice::choose(&facts);
    if let Some(budget) = facts.budget
        && choice.team > budget.max(1)
    {
        let this = thread();
        let candidate = inspected && note.has_run_whole() && is_independent(this, code, body, kind);
        // SAFETY: this thread's own state.
        unsafe {
            if candidate && virtualise::may_shrink(this, budget) {
                facts.independent = true;
                choice = choice::choose(&facts);
            }
            if choice.ids == 0 && !candidate {
                (*this).streak = 0;
            }
        }
    }
    if requested > 1 {
        promise::note(fact::NUM_THREADS_CLAUSE);
    } else if requested == 0 && choice.pass != 0 {
        facts.natural = ask_natural(code.runtime);
        return choice::choose(&facts);
    }
    choice
}

/// Whether the region's threads are independent, so that fewer can do the parts of all.
#[inline(never)]
fn is_independent(this: *mut Thread, code: Code, body: Body, kind: Kind) -> bool {
    // SAFETY: this thread's own state.
    let has_post = unsafe { ((*this).slot as usize).wrapping_sub(1) < SLOTS };
    has_post
        && matches!(kind, Kind::Plain | Kind::Loop(_))
        && pages::grant().is_independent(body as usize as u64)
        && virtualise::is_possible(code.runtime)
}
