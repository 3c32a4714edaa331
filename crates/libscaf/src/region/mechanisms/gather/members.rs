//! Members: how they start, wait, change and end.

use super::carriers::{self, Carrier};
use super::work::Inner;
use super::{MOST, stacks, storage};
use crate::program::masters::natural;
use crate::program::thread::Master;
use crate::region::kind::{Kind, Region};
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::{self, Context, switch};
use crate::sys::futex::Futex;
use crate::sys::thread::{PROGRAM_AT, REGION_AT, part_of};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::hint::spin_loop;
use core::ptr::null;
use scaf_team::gather::crew::{Crew, Until};
use scaf_team::gather::shares::{Came, Shares};

/// The one team that is gathered at a time: whose program has several masters isn't gathered.
pub static CREW: Crew<MOST> = Crew::new();
pub static SHARES: Shares = Shares::new();
static MEMBERS: [Member; MOST] = [const { Member::new() }; MOST];

/// A member. Whoever runs it has it for itself.
pub struct Member {
    context: UnsafeCell<Context>,
    pub number: Cell<u32>,
    /// Who runs it.
    pub carrier: Cell<Option<&'static Carrier>>,
    /// The share that it came to last.
    pub share: Cell<u32>,
    /// The innermost region within the region that it is in.
    pub inner: Cell<*const Inner>,
    /// What it answers for `omp_get_max_threads`.
    pub most: Cell<u32>,
}

// SAFETY: a member is used by whoever holds it in the crew, one at a time.
unsafe impl Sync for Member {}

/// What all members of the region share.
struct Team {
    body: Cell<Option<Body>>,
    data: Cell<*mut c_void>,
    runtime: Cell<*const Runtime>,
    /// The share that all members came to last before the region.
    share: Cell<u32>,
}

// SAFETY: written by the master before the crew begins.
unsafe impl Sync for Team {}

static TEAM: Team =
    Team { body: Cell::new(None), data: Cell::new(core::ptr::null_mut()), runtime: Cell::new(null()), share: Cell::new(0) };

/// Says that nobody is to be set free.
pub const NOBODY: usize = usize::MAX;

/// Rounds that a carrier looks for work before it naps; about 10 us.
const SPINS: u32 = 500;
/// Longest nap, in milliseconds.
const NAP_MS: u32 = 2;

/// The member that the calling thread is, if it is one.
#[inline(always)]
pub unsafe fn around(this: *mut Thread) -> Option<&'static Member> {
    // SAFETY: this thread's own state; members live for ever.
    unsafe { (*this).member.as_ref() }
}

/// The state of the thread whose storage this is, which sleeps.
unsafe fn state_in(storage: usize) -> (*mut Thread, *mut Master) {
    (part_of::<Thread, REGION_AT>(storage), part_of::<Master, PROGRAM_AT>(storage))
}

/// Runs a region as its master.
pub unsafe fn run(this: *mut Thread, region: &Region, carriers: u32, size: u32) {
    // SAFETY: the crew is empty, so members and team are the master's; their workers sleep.
    unsafe {
        TEAM.body.set(Some(region.work.run));
        TEAM.data.set(region.work.data);
        TEAM.runtime.set(region.code.runtime);
        let first = TEAM.share.get();
        for (number, member) in MEMBERS.iter().enumerate().take(size as usize) {
            member.number.set(number as u32);
            member.share.set(first);
            member.inner.set(null());
            member.most.set(natural());
            *member.context.get() = if number == 0 {
                Context::with_storage(arch::storage())
            } else {
                let Some(end) = stacks::end(number) else { return };
                let storage = storage::of(number);
                let (its, master) = state_in(storage);
                (*its).member = member;
                (*its).runtime = region.code.runtime;
                (*its).frame = null();
                (*its).serial = 0;
                (*master).depth = 1;
                Context::fresh(end, storage, start)
            };
        }
        if let Kind::Loop(whole) = &region.kind {
            let first = first.wrapping_add(1);
            MEMBERS.iter().take(size as usize).for_each(|member| member.share.set(first));
            let _: Came = SHARES.come(first, whole);
        }
        let Some(me) = MEMBERS.first() else { return };
        me.carrier.set(Some(carriers::begin(region)));
        CREW.begin(size, carriers);
        if carriers > 1 {
            carriers::call(carriers);
        }
        (*this).member = me;
        (region.work.run)(region.work.data);
        (*this).member = null();
        go_home(me);
        wait(me, Until::Joined);
        CREW.close();
        carriers::dismiss();
        TEAM.share.set(me.share.get());
        for number in 1..size as usize {
            let (its, master) = state_in(storage::of(number));
            (*its).member = null();
            (*its).runtime = null();
            (*master).depth = 0;
        }
    }
}

/// What a member but the master runs.
unsafe extern "C" fn start(said: usize) -> ! {
    settle(said);
    // SAFETY: the member's own state; the master has set all of it.
    unsafe {
        if let Some(me) = around(thread()) {
            if let Some(body) = TEAM.body.get() {
                body(TEAM.data.get());
            }
            CREW.is_done(me.number.get() as usize, &Futex);
            leave(me);
        }
    }
    // Not reached: who is done is never changed to.
    loop {
        spin_loop();
    }
}

/// Whoever changed to the calling context is off the stack of the member that was said.
#[inline(always)]
pub fn settle(said: usize) {
    if said != NOBODY {
        CREW.set_free(said);
    }
}

/// Waits until that has come about; others are run meanwhile.
#[inline(always)]
pub unsafe fn wait(me: &'static Member, until: Until) {
    while !CREW.is_met(until) {
        // SAFETY: the caller runs the member.
        unsafe {
            let Some(carrier) = me.carrier.get() else { return };
            let number = me.number.get() as usize;
            if !CREW.is_surplus(carrier.number())
                && let Some(next) = CREW.take(carrier.number(), number)
            {
                CREW.waits(number, until);
                change(me, carrier, next, number);
            } else {
                idle(me, carrier, until);
            }
        }
    }
}

/// The member can't go on for now, and will look for itself: others are run, or the PU given up.
#[cold]
pub unsafe fn give_turn(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        let Some(carrier) = me.carrier.get() else { return };
        let number = me.number.get() as usize;
        match CREW.take(carrier.number(), number) {
            Some(next) => {
                CREW.waits(number, Until::Turn);
                change(me, carrier, next, number);
            }
            None => crate::sys::thread::give_way(),
        }
    }
}

/// Changes to a member that was taken; returns when somebody has changed back.
#[inline(always)]
unsafe fn change(me: &'static Member, carrier: &'static Carrier, next: usize, said: usize) {
    // SAFETY: both members are held by this carrier.
    unsafe {
        if let Some(next) = MEMBERS.get(next) {
            next.carrier.set(Some(carrier));
            carrier.has_changed();
            settle(switch(me.context.get(), next.context.get(), said));
        }
    }
}

/// Has the master on its own kernel thread again, if another carrier runs it.
#[inline(always)]
unsafe fn go_home(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        while let Some(carrier) = me.carrier.get()
            && carrier.number() != 0
        {
            CREW.waits(0, Until::Joined);
            settle(switch(me.context.get(), carrier.home(), 0));
        }
    }
}

/// There is nobody to change to: looks again for a while, then naps; leaves where the carrier isn't wanted.
#[cold]
#[inline(never)]
unsafe fn idle(me: &'static Member, carrier: &'static Carrier, until: Until) {
    let number = me.number.get() as usize;
    let since = arch::ticks();
    // SAFETY: the caller runs the member.
    unsafe {
        for _ in 0..SPINS {
            if CREW.is_met(until) {
                carriers::was_idle(arch::ticks().wrapping_sub(since));
                return;
            }
            if CREW.is_surplus(carrier.number()) {
                CREW.waits(number, until);
                carrier.has_changed();
                settle(switch(me.context.get(), carrier.home(), number));
                return;
            }
            spin_loop();
        }
        let found = CREW.nap(&Futex, NAP_MS, || {
            if CREW.is_met(until) || CREW.is_surplus(carrier.number()) {
                return Some(None);
            }
            CREW.take(carrier.number(), number).map(Some)
        });
        carriers::was_idle(arch::ticks().wrapping_sub(since));
        if let Some(Some(next)) = found {
            CREW.waits(number, until);
            change(me, carrier, next, number);
        }
    }
}

/// The member is done: its carrier goes on with others, for ever.
unsafe fn leave(me: &'static Member) {
    // SAFETY: the caller runs the member, and nobody will run it again.
    unsafe {
        loop {
            let Some(carrier) = me.carrier.get() else { return };
            if let Some(next) = CREW.take(carrier.number(), me.number.get() as usize) {
                change(me, carrier, next, NOBODY);
            } else if carrier.number() != 0 {
                switch(me.context.get(), carrier.home(), NOBODY);
            } else {
                let since = arch::ticks();
                let look = || CREW.take(0, me.number.get() as usize);
                if let Some(next) = CREW.nap(&Futex, NAP_MS, look) {
                    carriers::was_idle(arch::ticks().wrapping_sub(since));
                    change(me, carrier, next, NOBODY);
                }
            }
        }
    }
}

/// Runs a member from a carrier's own stack; returns when it has changed back.
pub unsafe fn carry(carrier: &'static Carrier, next: usize) {
    // SAFETY: the carrier has taken the member.
    unsafe {
        if let Some(member) = MEMBERS.get(next) {
            member.carrier.set(Some(carrier));
            carrier.has_changed();
            settle(switch(carrier.home(), member.context.get(), NOBODY));
            // It may have been the master, which only one other carrier takes now.
            CREW.tell(&Futex);
        }
    }
}

/// A region within the region: a team of one, as with one active level.
pub unsafe fn inner(me: &'static Member, region: &Region) {
    // SAFETY: the program's own function and data; the caller runs the member.
    unsafe {
        let whole = if let Kind::Loop(whole) = region.kind { Some(whole) } else { None };
        let inner = Inner::new(me.inner.get(), whole);
        let before = me.inner.replace(&raw const inner);
        (region.work.run)(region.work.data);
        me.inner.set(before);
    }
}

impl Member {
    const fn new() -> Member {
        Member {
            context: UnsafeCell::new(Context::NONE),
            number: Cell::new(0),
            carrier: Cell::new(None),
            share: Cell::new(0),
            inner: Cell::new(null()),
            most: Cell::new(0),
        }
    }
}
