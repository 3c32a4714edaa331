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

use crate::arch::{NO_INDEX, NO_SLOT, STARTS, Thread, thread, ticks};
use crate::futex::Futex;
use crate::runtime::{self, Body, Code, Runtime};
use crate::sampling::{self, Note};
use crate::virtualise::{self, Parts};
use crate::{client, crowd, experiment, pages, promise, settings, watch};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::report::{SLOTS, Slot, fact};
use scaf_proto::rows::{Key, ROWS};
use scaf_team::barrier::Barrier;
use scaf_team::choice::{self, Choice, Facts};
use scaf_team::gate::Gate;

/// What [`run_thread`] is handed instead of the program's own data. Lies on the master's stack: the region's end
/// waits for all threads.
#[repr(C)]
pub struct Frame {
    /// A copy of the first word of the program's data where the runtime itself reads it (task reductions).
    first_word: usize,
    body: Body,
    data: *mut c_void,
    runtime: *const Runtime,
    /// Where the region is reported; null if it is nested or unmeasured.
    slot: *const Slot,
    depth: u32,
    /// [`HAS_TASKS`] once a task was created in the region: a wait may then be work. [`HAS_NESTED`] once a region was
    /// entered within it: its threads have to know that they are in one.
    seen: AtomicU32,
    /// Threads that have left the function, in the upper 12 bits, and the sum of their ticks in it (52 bits are 20
    /// days): one atomic addition a thread.
    inside: AtomicU64,
    /// Whether barriers and ends of loops are ours.
    pub takes_over: bool,
    /// Threads of the team, as the runtime says; 0 until somebody had to know.
    team: AtomicU32,
    /// The team's barrier, if it is ours.
    pub barrier: Barrier,
    /// Where threads of dynamic loops are parked.
    pub gate: Gate,
    /// The parts that its threads do, if it is virtualised.
    pub parts: Parts,
    /// Tick at which it was entered.
    pub entered: u64,
    /// The thread that opened it.
    master: *const Thread,
    /// Its master's own.
    marks: Cell<Marks>,
    /// Loops that it was entered with.
    loops: u32,
}

const ONE_THREAD: u64 = 1 << 52;

/// A region that has run for so long has its barriers marked (10 to 20 ms at 2 to 4 GHz).
const MARK_TICKS: u64 = 1 << 25;

/// The barriers of a region that its master came to.
#[derive(Clone, Copy)]
struct Marks {
    /// Ticks that the region runs before they are marked.
    after: u64,
    /// Tick of the latest one; 0 if there was none.
    last: u64,
    /// The grant then.
    grant: Word,
    /// The row on the page, as a hint.
    row: usize,
    /// Whether any was reported.
    told: bool,
}

/// Bits of [`Frame::seen`].
const HAS_TASKS: u32 = 1;
const HAS_NESTED: u32 = 2;

impl Frame {
    fn new(code_runtime: *const Runtime, body: Body, data: *mut c_void, depth: u32) -> Frame {
        Frame {
            first_word: 0,
            body,
            data,
            runtime: code_runtime,
            slot: null(),
            depth,
            seen: AtomicU32::new(0),
            inside: AtomicU64::new(0),
            takes_over: false,
            team: AtomicU32::new(0),
            barrier: Barrier::new(),
            gate: Gate::new(),
            parts: Parts::of(0),
            entered: 0,
            master: null(),
            marks: Cell::new(Marks {
                after: MARK_TICKS,
                last: 0,
                grant: Word::UNMANAGED,
                row: 0,
                told: false,
            }),
            loops: 0,
        }
    }

    /// The runtime whose region this is.
    #[inline(always)]
    pub fn runtime(&self) -> &'static Runtime {
        // SAFETY: runtimes live for ever.
        unsafe { &*self.runtime }
    }

    /// Threads of the team; 0 if nobody had to know yet.
    pub fn team_if_known(&self) -> u32 {
        self.team.load(Ordering::Relaxed)
    }

    /// Loops that the region was entered with.
    #[inline(always)]
    pub fn loops_at_entry(&self) -> u32 {
        self.loops
    }

    /// Runs the outlined function, as one thread of the team.
    #[inline(always)]
    pub unsafe fn run_body(&self) {
        // SAFETY: the program's own function and data.
        unsafe { (self.body)(self.data) }
    }

    /// Does `work` as a thread of the region, and adds up its time.
    #[inline(always)]
    pub unsafe fn visit(&self, this: *mut Thread, work: impl FnOnce()) {
        // SAFETY: a thread's state is its own.
        unsafe {
            let before = ((*this).runtime, (*this).frame, (*this).depth);
            let counts = ((*this).index, (*this).loops);
            (*this).runtime = self.runtime;
            (*this).frame = self;
            (*this).depth = self.depth;
            if (*this).slot == 0 {
                (*this).home = self.runtime;
            }
            ((*this).index, (*this).loops) = (NO_INDEX, 0);
            let start = ticks();
            work();
            let inside = ticks().wrapping_sub(start) & (ONE_THREAD - 1);
            ((*this).runtime, (*this).frame, (*this).depth) = before;
            ((*this).index, (*this).loops) = counts;
            self.inside.fetch_add(ONE_THREAD | inside, Ordering::Relaxed);
        }
    }

    /// Threads of the team.
    #[inline(always)]
    pub fn team(&self, runtime: &Runtime) -> u32 {
        let known = self.team.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: omp_get_num_threads takes nothing.
        let team = runtime.num_threads.map_or(1, |num_threads| unsafe { num_threads() }).max(1) as u32;
        self.team.store(team, Ordering::Relaxed);
        team
    }

    /// Threads that have left the outlined function, and the ticks that they spent in it together.
    fn inside(&self) -> (u32, u64) {
        let packed = self.inside.load(Ordering::Relaxed);
        ((packed >> 52) as u32, packed & (ONE_THREAD - 1))
    }

    /// A thread of the region is at a barrier, at tick `now`: marks that, if it is the master in a long region.
    #[inline(always)]
    pub fn mark(&self, this: *const Thread, now: u64, team: u32) {
        if this == self.master {
            let mut marks = self.marks.get();
            if marks.last != 0 || now.wrapping_sub(self.entered) > marks.after {
                let grant = pages::grant().word();
                if marks.last != 0 && marks.grant == grant && one_master() {
                    let key = Key::marks(self.body as usize, sampling::dop_of(team));
                    marks.row = pages::report().rows().add(marks.row, key, 1, now.wrapping_sub(marks.last));
                    marks.told |= marks.row < ROWS;
                }
                (marks.last, marks.grant) = (now, grant);
                self.marks.set(marks);
            }
        }
    }

    /// A thread of the region waited.
    #[inline(always)]
    pub fn waited(&self, ticks: u64) {
        // SAFETY: slots live in the report page, which is never unmapped.
        if let Some(slot) = unsafe { self.slot.as_ref() }
            && self.seen.load(Ordering::Relaxed) & HAS_TASKS == 0
        {
            slot.add_wait(ticks);
        }
    }

    /// A task is created in the region. Barriers are the runtime's from now on: it runs tasks there.
    #[inline(always)]
    pub fn has_tasks(&self) {
        if self.seen.load(Ordering::Relaxed) & HAS_TASKS == 0 {
            self.seen.fetch_or(HAS_TASKS, Ordering::Relaxed);
            self.barrier.hand_over(&Futex);
        }
    }

    /// The region is being cancelled, perhaps: its waits are the runtime's from now on.
    pub fn is_cancelled(&self) {
        self.barrier.hand_over(&Futex);
        self.gate.close_down(&Futex);
    }
}

/// What sets a region apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// It is one loop, whose iterations are dealt out in chunks, and which the runtime begins.
    Loop,
    /// Task reductions: the runtime itself reads the first word of the program's data.
    Reductions,
    /// Opened by one call and ended by another.
    Opened,
    /// Sections, which may wait for each other: a smaller team might never get to the one that is waited for.
    Sections,
}

/// Team size of the program without us, as last reported.
static NATURAL: AtomicU32 = AtomicU32::new(0);
/// Slots in use, a bit each.
static SLOTS_TAKEN: AtomicU32 = AtomicU32::new(0);
/// Threads in the teams of all masters; kept only while there are several masters.
static IN_TEAMS: AtomicU32 = AtomicU32::new(0);

/// Runs a region: `call` passes it on, with the body, data and team size that it is handed.
///
/// # Safety
/// `body` and `data` are the program's own; `call` returns when the region has ended.
#[inline(always)]
pub unsafe fn run<R: Default>(
    body: Body,
    data: *mut c_void,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    let Some(code) = runtime::of(body as usize) else {
        // There is no runtime to pass it to, or it is one too many: one thread is a team, too.
        // SAFETY: the program's own function and data.
        unsafe { body(data) };
        return R::default();
    };
    let this = thread();
    // SAFETY: a thread's state is its own, and no reference to it outlives a call into the program.
    unsafe {
        // A program of one thread has nothing to choose, and most runs of its short regions aren't measured.
        let alone = (*this).depth == 0
            && requested == 0
            && NATURAL.load(Ordering::Relaxed) == 1
            && Note::of(code).is_short_alone()
            && one_master();
        if alone && sampling::is_passed_by(this) {
            return unmeasured(this, code, body, data, Choice::ALONE, call);
        }
        managed(this, code, body, data, requested, kind, call)
    }
}

/// Runs a region of one thread that isn't measured.
#[inline(always)]
unsafe fn unmeasured<R>(
    this: *mut Thread,
    code: Code,
    body: Body,
    data: *mut c_void,
    choice: Choice,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        (*this).runtime = code.runtime;
        (*this).depth = 1;
        (*this).shrunk = u32::from(choice.shrunk);
        let result = call(code.runtime, body, data, choice.pass);
        (*this).depth = 0;
        (*this).runtime = null();
        result
    }
}

/// Runs any other region. Kept out of line: the one above shall not pay for its registers.
#[inline(never)]
unsafe fn managed<R>(
    this: *mut Thread,
    code: Code,
    body: Body,
    data: *mut c_void,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        if (*this).depth != 0 || ((*this).slot == 0 && is_inside(code.runtime)) {
            return nested(this, code, body, data, requested, kind, call);
        }
        let note = Note::of(code);
        if note.is_short_alone() && one_master() {
            let choice = choose(code, body, &note, requested, kind);
            if choice.team == 1 && choice.ids == 0 && sampling::is_left_out(this) {
                return unmeasured(this, code, body, data, choice, call);
            }
        }
        let entered = ticks();
        client::tend(entered, code.runtime);
        let slot = slot_of(this);
        let grant = pages::grant().word();
        let (mut entered, mut choice) = (entered, choose(code, body, &note, requested, kind));
        if experiment::concerns(body) {
            let plain = kind != Kind::Sections && one_master() && slot.is_some();
            let natural = NATURAL.load(Ordering::Relaxed);
            let region = experiment::Candidate { body, runtime: code.runtime, choice, natural, plain };
            let again = || choose(code, body, &note, requested, kind);
            let alone = || drop(unmeasured(this, code, body, data, Choice::EXPERIMENT, &call));
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
        let result = if choice.team == 1 && choice.ids == 0 {
            // One thread has nobody to wait for: its time in the region is the region's.
            let result = call(code.runtime, body, data, choice.pass);
            if let Some(slot) = slot {
                let wall = ticks().wrapping_sub(entered);
                let (others, theirs) = note.left_out_alone();
                let wall_of_all = wall.wrapping_add(theirs);
                slot.leave_alone(wall_of_all, others);
                Note::learn_alone(code, wall);
                Note::report(code, body, grant, 1, others.wrapping_add(1), wall_of_all);
            }
            result
        } else {
            let entry = Entry { code, slot, body, data, requested, kind, entered, grant, choice };
            several(this, &entry, call)
        };
        (*this).depth = 0;
        (*this).runtime = null();
        leave_teams(shared);
        result
    }
}

/// A region that is being entered.
struct Entry {
    code: Code,
    slot: Option<&'static Slot>,
    body: Body,
    data: *mut c_void,
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
    let &Entry { code, slot, body, data, entered, grant, choice, .. } = entry;
    let crowd = crowd::enter(code.runtime, choice.team);
    let hostless = crowd.is_hostless();
    // SAFETY: as in `run`; the frame lives until the region has ended.
    unsafe {
        if choice.ids == 0
            && !hostless
            && let Some(share) = Note::of(code).team(this)
        {
            let result = call(code.runtime, body, data, choice.pass);
            if let Some(slot) = slot {
                let left = ticks();
                let wall = left.wrapping_sub(entered);
                slot.leave(left, choice.team, share.of(wall.wrapping_mul(u64::from(choice.team))));
                Note::check(code, wall);
                Note::report(code, body, grant, choice.team, 1, wall);
            }
            return result;
        }
        let mut frame = Frame::new(code.runtime, body, data, 1);
        (frame.entered, frame.master) = (entered, this);
        if Note::of(code).is_marked() {
            frame.marks.get_mut().after = 0;
        }
        frame.slot = slot.map_or(null(), |slot| slot as *const Slot);
        if choice.ids != 0 {
            return virtualised(this, entry, frame, call);
        }
        frame.takes_over = settings::get().spin.is_some() && code.runtime.is_complete();
        if entry.kind == Kind::Reductions {
            frame.first_word = *data.cast::<usize>();
        }
        let frame = &raw const frame;
        (*this).frame = frame;
        let run = if hostless { run_thread_hosted } else { run_thread };
        let result = call(code.runtime, run, frame.cast_mut().cast(), choice.pass);
        (*this).frame = null();
        if let Some(slot) = slot {
            let (threads, inside) = (*frame).inside();
            let left = ticks();
            let useful = leave(slot, &*frame, entered, left, threads, inside);
            let plain = (*frame).seen.load(Ordering::Relaxed) == 0;
            let wall = left.wrapping_sub(entered);
            Note::learn_team(code, wall, useful, u64::from(threads), plain);
            if plain && threads == choice.team && choice.pass == entry.requested {
                Note::learn_whole(code);
            }
            // Else its marks have told.
            if (*frame).marks.get().told {
                Note::learn_marked(code);
            } else {
                Note::report(code, body, grant, threads, 1, wall);
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
    frame: Frame,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    let &Entry { code, slot, entered, grant, choice, .. } = entry;
    let parts = Parts::of(choice.ids);
    let frame = Frame { parts, loops: virtualise::loops_at_entry(entry.kind), ..frame };
    promise::note(fact::VIRTUALISED);
    // SAFETY: as in `several`; nobody is at the frame any more when the watch and the threads of their own are gone.
    unsafe {
        let post = ((*this).slot as usize).wrapping_sub(1);
        watch::put(post, &frame);
        (*this).frame = &raw const frame;
        let data = (&raw const frame).cast_mut().cast();
        let result = call(code.runtime, virtualise::run_parts, data, choice.pass);
        (*this).frame = null();
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
        Note::report(code, entry.body, grant, choice.team, 1, wall);
        result
    }
}

/// Adds the region up and returns its useful ticks. A team that had tasks may have worked while it waited, within the
/// function or after it: all its time counts as useful, an upper bound.
#[inline(always)]
fn leave(slot: &Slot, frame: &Frame, entered: u64, left: u64, threads: u32, inside: u64) -> u64 {
    let all = left.wrapping_sub(entered).wrapping_mul(u64::from(threads));
    let all_useful = frame.seen.load(Ordering::Relaxed) & HAS_TASKS != 0 || inside > all;
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
    body: Body,
    data: *mut c_void,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: as in `run`.
    unsafe {
        let requested = inner_request(this, code, requested);
        if let Some(around) = (*this).frame.as_ref() {
            around.seen.fetch_or(HAS_NESTED, Ordering::Relaxed);
        }
        let mut frame = Frame::new(code.runtime, body, data, (*this).depth.saturating_add(1));
        if kind == Kind::Reductions {
            frame.first_word = *data.cast::<usize>();
        }
        let frame = &raw const frame;
        call(code.runtime, run_thread, frame.cast_mut().cast(), requested)
    }
}

/// The team size to ask for within a region. The runtime doesn't count a team of one as a region: where it has one
/// thread because of us, there would have been a larger team around this region without us, and with nesting switched
/// off, as it is by default, this one would have had one thread.
unsafe fn inner_request(this: *mut Thread, code: Code, requested: u32) -> u32 {
    // SAFETY: this thread's own state; omp_get_max_active_levels takes nothing.
    unsafe {
        let one_level = || code.runtime.max_active_levels.is_none_or(|levels| levels() <= 1);
        if (*this).shrunk != 0 && one_level() { 1 } else { requested }
    }
}

/// What each thread of a team runs in place of the outlined function.
unsafe extern "C" fn run_thread(frame: *mut c_void) {
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
fn choose(code: Code, body: Body, note: &Note, requested: u32, kind: Kind) -> Choice {
    let word = pages::grant().word();
    let inspected = runtime::is_numbered(code.module)
        && runtime::modules_met() <= word.inspected()
        && runtime::NEWS.load(Ordering::Relaxed) == 0;
    let mut facts = Facts {
        requested,
        // As last seen: `client` asks the runtime about once a second. Only a smaller team needs the exact number.
        natural: NATURAL.load(Ordering::Relaxed),
        budget: word.dop().map(|dop| {
            dop.saturating_sub(IN_TEAMS.load(Ordering::Relaxed)).saturating_sub(experiment::contexts())
        }),
        kept: promise::is_kept(),
        resizable: inspected && word.resizable() && kind != Kind::Sections,
        independent: false,
        length: note.length(),
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
        && matches!(kind, Kind::Plain | Kind::Loop)
        && pages::grant().is_independent(body as usize as u64)
        && virtualise::is_possible(code.runtime)
}

/// Asks the runtime for the team size that the program would have without us.
#[inline(always)]
pub fn ask_natural(runtime: &Runtime) -> u32 {
    let Some(max_threads) = runtime.max_threads else {
        return 1;
    };
    // SAFETY: omp_get_max_threads takes nothing.
    let natural = unsafe { max_threads() }.max(1) as u32;
    let before = NATURAL.load(Ordering::Relaxed);
    if before != natural {
        if before != 0 {
            // The program set it in a way that we haven't seen, say through a handle of the runtime's file.
            promise::note(fact::SET_NUM_THREADS);
        }
        NATURAL.store(natural, Ordering::Relaxed);
        pages::report().set_natural(natural);
    }
    natural
}

/// Tells a new report page the team size that the program would have without us.
pub fn report_natural_again() {
    pages::report().set_natural(NATURAL.load(Ordering::Relaxed));
}

/// Whether the program has one master, as far as slots tell.
#[inline(always)]
pub fn one_master() -> bool {
    let taken = SLOTS_TAKEN.load(Ordering::Relaxed);
    taken & taken.wrapping_sub(1) == 0
}

/// Whether the program's threads have fewer contexts than they are, one of its teams having so many.
#[inline(always)]
pub fn is_crowded(team: u32) -> bool {
    let word = pages::grant().word();
    word.folded() && word.dop().is_some_and(|dop| team.max(IN_TEAMS.load(Ordering::Relaxed)) > dop)
}

/// Several masters share the program's one budget: each takes what the others leave. Returns what to give back.
#[inline(always)]
fn join_teams(team: u32) -> u32 {
    if one_master() {
        return 0;
    }
    IN_TEAMS.fetch_add(team, Ordering::Relaxed);
    team
}

#[inline(always)]
fn leave_teams(team: u32) {
    if team != 0 {
        IN_TEAMS.fetch_sub(team, Ordering::Relaxed);
    }
}

/// The calling master's slot; taken at its first region, given back when its thread ends.
#[inline(always)]
unsafe fn slot_of(this: *mut Thread) -> Option<&'static Slot> {
    // SAFETY: this thread's own state.
    let slot = unsafe {
        if (*this).slot == 0 {
            (*this).slot = take_slot();
        }
        (*this).slot
    };
    pages::report().slot((slot as usize).wrapping_sub(1))
}

#[cold]
fn take_slot() -> u32 {
    loop {
        let taken = SLOTS_TAKEN.load(Ordering::Relaxed);
        let free = taken.trailing_ones();
        if free as usize >= SLOTS {
            promise::note(fact::OVERFLOW);
            return NO_SLOT;
        }
        let now = taken | 1 << (free & 31);
        if SLOTS_TAKEN.compare_exchange(taken, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            client::when_thread_ends(free + 1);
            return free + 1;
        }
    }
}

/// Gives a slot back; `slot` is its number plus one.
pub fn free_slot(slot: u32) {
    SLOTS_TAKEN.fetch_and(!(1 << (slot.wrapping_sub(1) & 31)), Ordering::Relaxed);
}

/// After a fork, in the child: only the calling thread is there.
pub fn after_fork() {
    // SAFETY: this thread's own state.
    let slot = unsafe { (*thread()).slot };
    let mine = if slot == 0 || slot == NO_SLOT { 0 } else { 1 << (slot.wrapping_sub(1) & 31) };
    SLOTS_TAKEN.store(mine, Ordering::Relaxed);
    IN_TEAMS.store(0, Ordering::Relaxed);
    NATURAL.store(0, Ordering::Relaxed);
}

/// A region opened by an old-style `_start` entry point: the caller runs the body itself, then ends the region.
///
/// Its frame can't lie on the stack, and another thread may be in the body after the caller has left it, so there is
/// one frame a master, in `STARTED`.
///
/// # Safety
/// As for [`run`].
pub unsafe fn start(
    body: Body,
    data: *mut c_void,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32),
) {
    let Some(code) = runtime::of(body as usize) else {
        return;
    };
    let this = thread();
    // SAFETY: as in `run`; a frame is its master's own, and is written between regions only.
    unsafe {
        let depth = (*this).started as usize;
        if let Some(place) = (*this).started_in.get_mut(depth) {
            *place = code.runtime;
        }
        (*this).started = (*this).started.saturating_add(1);
        if (*this).depth != 0 {
            (*this).depth = (*this).depth.saturating_add(1);
            if let Some(around) = (*this).frame.as_ref() {
                // Its threads can't be told from those around it, so all waits are the runtime's from now on.
                around.seen.fetch_or(HAS_NESTED, Ordering::Relaxed);
                around.is_cancelled();
            }
            return call(code.runtime, body, data, inner_request(this, code, requested));
        }
        let entered = ticks();
        client::tend(entered, code.runtime);
        let slot = slot_of(this);
        // Of what its threads wait for, and who looks after them, nothing can be known: no kind for fewer threads.
        let kind = if kind == Kind::Sections { kind } else { Kind::Opened };
        let choice = choose(code, body, &Note::of(code), requested, kind);
        (*this).runtime = code.runtime;
        (*this).depth = 1;
        (*this).shrunk = u32::from(choice.shrunk);
        let Some(slot) = slot else {
            return call(code.runtime, body, data, choice.pass);
        };
        slot.enter(choice.team, entered);
        if choice.promised {
            slot.add_promised();
        }
        let started = &STARTED[((*this).slot.wrapping_sub(1) as usize) % SLOTS];
        started.shared.store(join_teams(choice.team), Ordering::Relaxed);
        started.entered.store(entered, Ordering::Relaxed);
        *started.note.get() = code.note;
        let frame = started.frame.get().cast::<Frame>();
        frame.write(Frame { slot, ..Frame::new(code.runtime, body, data, 1) });
        (*this).frame = frame;
        call(code.runtime, run_thread, frame.cast(), choice.pass);
        started.inside_since.store(ticks(), Ordering::Relaxed);
    }
}

/// The end of a region opened by [`start`]; `caller` is the return address, for a region that we haven't seen open.
pub unsafe extern "C" fn end(caller: usize) {
    let this = thread();
    // SAFETY: as in `start`.
    unsafe {
        let started = (*this).started;
        if started == 0 {
            if let Some(end) = runtime::of(caller).and_then(|code| code.runtime.parallel_end) {
                end();
            }
            return;
        }
        (*this).started = started - 1;
        let place = (started as usize - 1).min(STARTS - 1);
        let runtime = (*this).started_in.get(place).copied().unwrap_or(null());
        let Some(end) = runtime.as_ref().and_then(|runtime| runtime.parallel_end) else {
            return;
        };
        if (*this).depth > 1 {
            (*this).depth -= 1;
            return end();
        }
        let done = ticks();
        end();
        let left = ticks();
        if let Some(slot) = slot_of(this) {
            let mine = &STARTED[((*this).slot.wrapping_sub(1) as usize) % SLOTS];
            let frame = &*mine.frame.get().cast::<Frame>();
            let (others, theirs) = frame.inside();
            let own = done.wrapping_sub(mine.inside_since.load(Ordering::Relaxed));
            let entered = mine.entered.load(Ordering::Relaxed);
            leave(slot, frame, entered, left, others + 1, theirs.wrapping_add(own));
            if let Some(note) = (*mine.note.get()).as_ref() {
                Note::learn_length(note, left.wrapping_sub(entered));
            }
            leave_teams(mine.shared.load(Ordering::Relaxed));
        }
        (*this).depth = 0;
        (*this).frame = null();
        (*this).runtime = null();
    }
}

struct Started {
    /// Written before each region. All zero until then, so that a process without such regions has no page of it.
    frame: UnsafeCell<MaybeUninit<Frame>>,
    note: UnsafeCell<*const AtomicU64>,
    entered: AtomicU64,
    inside_since: AtomicU64,
    shared: AtomicU32,
}

// SAFETY: each entry is used by the one master that holds the slot of its number; its team reads the frame while the
// region runs.
unsafe impl Sync for Started {}

static STARTED: [Started; SLOTS] = [const {
    Started {
        frame: UnsafeCell::new(MaybeUninit::zeroed()),
        note: UnsafeCell::new(null()),
        entered: AtomicU64::new(0),
        inside_since: AtomicU64::new(0),
        shared: AtomicU32::new(0),
    }
}; SLOTS];
