//! How fibers start, wait, switch and end.

use super::gathered_team::{Carrier, MEMBERS, Member, SCHEDULER, TEAM, current};
use super::task_pool::{left, run_any, with};
use super::{float_control, member_signals};
use crate::sys::arch::{self, switch};
use crate::sys::futex::Futex;
use crate::sys::kernel_threads::give_way;
use core::hint::spin_loop;
use scaf_team::gather::scheduler::{Cancelled, Until};

/// There is no previous fiber to be made schedulable.
pub const NO_FIBER: usize = usize::MAX;

/// Rounds that a carrier looks for ready fibers before it naps; about 10 us.
const SPINS: u32 = 500;
/// Rounds between two looks at members of other parts.
const FAR: u32 = 32;

/// What a member other than the master runs.
pub unsafe extern "C" fn start(previous: usize) -> ! {
    after_switch(previous);
    // SAFETY: the master has set the body and its data before it opened the region.
    unsafe {
        if let Some(me) = current() {
            if let Some(body) = TEAM.body.get() {
                body(TEAM.data.get());
            }
            if TEAM.has_tasks.get() {
                meet_at_end(me);
            }
            float_control::leave(me);
            SCHEDULER.finish(me.number.get() as usize, &Futex);
            leave(me);
        }
    }
    // Not reached: a finished fiber is never scheduled.
    loop {
        spin_loop();
    }
}

/// Called on the new fiber after a switch: the previous fiber is fully saved and may be scheduled.
#[inline(always)]
pub fn after_switch(previous: usize) {
    if previous != NO_FIBER {
        SCHEDULER.set_suspended(previous);
    }
    member_signals::arrive();
}

/// Blocks the member until `until` holds; its carrier runs other members meanwhile.
#[inline(always)]
pub fn wait(me: &'static Member, until: Until) {
    while !SCHEDULER.is_met(until) {
        // SAFETY: `next` was taken by this carrier.
        unsafe {
            // A member that waits for something else, or got no task, takes ready members of any part.
            let mut is_near = matches!(until, Until::Passed(_));
            if SCHEDULER.offers(until) {
                leave_surplus_carrier(me);
                if run_any(me) {
                    continue;
                }
                is_near = false;
            }
            let Some(carrier) = me.carrier.get() else { return };
            let number = me.number.get() as usize;
            let next = if SCHEDULER.is_surplus(carrier.number()) {
                None
            } else if is_near {
                take_near(carrier, number)
            } else {
                SCHEDULER.take(carrier.number(), number)
            };
            if let Some(next) = next {
                SCHEDULER.set_wait(number, until);
                switch_to(me, carrier, next, number);
            } else {
                idle(me, carrier, until);
            }
        }
    }
}

/// At a barrier, looks for ready members in the carrier's own part first: to look at others' takes their
/// cache lines from them. The whole team is searched after a while ([`idle`]), and as long as that finds any.
#[inline(always)]
fn take_near(carrier: &Carrier, number: usize) -> Option<usize> {
    match SCHEDULER.take_near(carrier.number(), number) {
        None if carrier.roams() => take_far(carrier, number),
        next => next,
    }
}

#[cold]
fn take_far(carrier: &Carrier, number: usize) -> Option<usize> {
    let found = SCHEDULER.take(carrier.number(), number);
    carrier.set_roams(found.is_some());
    found
}

/// Moves the member to another carrier if its own is surplus.
#[inline]
pub fn leave_surplus_carrier(me: &'static Member) {
    if let Some(carrier) = me.carrier.get()
        && SCHEDULER.is_surplus(carrier.number())
    {
        let number = me.number.get() as usize;
        SCHEDULER.set_wait(number, Until::Turn);
        carrier.has_changed();
        // SAFETY: the member is saved here, and the carrier's own fiber waits in `run_fiber`.
        unsafe { after_switch(switch(me.fiber.get(), carrier.own_fiber(), number)) }
    }
}

/// A barrier: waits for all members and until all tasks are complete. Returns whether the member arrived
/// last. `may_leave` says that the team may return to threads behind it.
#[inline(always)]
pub fn meet(me: &'static Member, may_leave: bool) -> bool {
    match SCHEDULER.arrive(me.number.get() as usize) {
        Some(word) => {
            wait(me, Until::Passed(word));
            false
        }
        None => {
            pass(me, may_leave);
            true
        }
    }
}

/// A barrier at which a cancelled region ends for the member: it doesn't wait any more then.
pub fn meet_or_leave(me: &'static Member) {
    if SCHEDULER.is_cancelled(Cancelled::Region) {
        return;
    }
    match SCHEDULER.arrive(me.number.get() as usize) {
        Some(word) => wait(me, Until::PassedOrCancelled(word)),
        None => pass(me, false),
    }
}

/// The barrier at the region's end.
#[inline]
pub fn meet_at_end(me: &'static Member) {
    if !TEAM.cancels.get() {
        meet(me, false);
        return;
    }
    match SCHEDULER.arrive_at_end() {
        Some(until) => wait(me, until),
        None => pass(me, false),
    }
}

/// The last member to arrive releases all, once no task is left.
#[inline(always)]
fn pass(me: &'static Member, may_leave: bool) {
    if left() != 0 {
        finish_tasks(me)
    }
    if may_leave {
        SCHEDULER.start_requested_return();
    }
    SCHEDULER.pass(&Futex);
}

/// The last member at a barrier completes all tasks.
#[cold]
fn finish_tasks(me: &'static Member) {
    while left() != 0 {
        leave_surplus_carrier(me);
        if !run_any(me) {
            wait_for(me, || with(|tasks| tasks.left() == 0 || tasks.ready() != 0));
        }
    }
}

/// Blocks the member until `is_met` holds. Whoever changes that calls `SCHEDULER.notify_changed`.
pub fn wait_for(me: &'static Member, is_met: impl Fn() -> bool) {
    while !is_met() {
        let until = SCHEDULER.listen();
        if !is_met() {
            wait(me, until)
        }
        SCHEDULER.unlisten();
    }
}

/// The member can't continue now: runs another one, or gives up the PU. It is scheduled again later.
#[cold]
pub fn yield_member(me: &'static Member) {
    yield_until(me, Until::Turn)
}

/// The same from a loop of the program's own that spins.
#[cold]
pub fn yield_in_spin_loop(me: &'static Member) {
    leave_surplus_carrier(me);
    yield_until(me, Until::Spins);
}

fn yield_until(me: &'static Member, until: Until) {
    // SAFETY: `next` was taken by this carrier.
    unsafe {
        let Some(carrier) = me.carrier.get() else { return };
        let number = me.number.get() as usize;
        // A handler of a signal that interrupted a switch has called us.
        if SCHEDULER.is_in_exclusive_section() {
            return give_way();
        }
        match SCHEDULER.take(carrier.number(), number) {
            Some(next) => {
                SCHEDULER.set_wait(number, until);
                switch_to(me, carrier, next, number);
            }
            None => give_way(),
        }
    }
}

/// Switches to a member that this carrier has taken. Returns when the calling member is scheduled again.
#[inline(always)]
pub unsafe fn switch_to(me: &'static Member, carrier: &'static Carrier, next: usize, previous: usize) {
    // SAFETY: this carrier runs `me` and has taken `next`, whose fiber is saved and has a sleeping thread's
    // TLS.
    unsafe {
        if let Some(next) = MEMBERS.get(next) {
            next.carrier.set(Some(carrier));
            carrier.has_changed();
            after_switch(switch(me.fiber.get(), next.fiber.get(), previous));
        }
    }
}

/// Moves the master to its own kernel thread if another carrier runs it.
#[inline(always)]
pub fn move_to_first_carrier(me: &'static Member) {
    // SAFETY: the master is saved here, and the carrier's own fiber waits in `run_fiber`.
    unsafe {
        while let Some(carrier) = me.carrier.get()
            && carrier.number() != 0
        {
            SCHEDULER.set_wait(0, Until::Joined);
            after_switch(switch(me.fiber.get(), carrier.own_fiber(), 0));
        }
    }
}

/// No member is ready: looks for a while, naps, and leaves the region if the carrier is surplus.
#[cold]
#[inline(never)]
fn idle(me: &'static Member, carrier: &'static Carrier, until: Until) {
    let number = me.number.get() as usize;
    let since = arch::ticks();
    // SAFETY: `next` was taken by this carrier; its own fiber waits in `run_fiber`.
    unsafe {
        let found = 'look: {
            for round in 1..=SPINS {
                if SCHEDULER.is_met(until) || SCHEDULER.offers(until) {
                    break 'look None;
                }
                if SCHEDULER.is_surplus(carrier.number()) {
                    carrier.was_idle(since);
                    SCHEDULER.set_wait(number, until);
                    carrier.has_changed();
                    after_switch(switch(me.fiber.get(), carrier.own_fiber(), number));
                    return;
                }
                if round % FAR == 0
                    && let Some(next) = take_far(carrier, number)
                {
                    break 'look Some(next);
                }
                spin_loop();
            }
            let look = || {
                if SCHEDULER.is_met(until)
                    || SCHEDULER.offers(until)
                    || SCHEDULER.is_surplus(carrier.number())
                {
                    return Some(None);
                }
                SCHEDULER.take(carrier.number(), number).map(Some)
            };
            carrier.nap(look).flatten()
        };
        carrier.was_idle(since);
        if let Some(next) = found {
            SCHEDULER.set_wait(number, until);
            switch_to(me, carrier, next, number);
        }
    }
}

/// The member has finished: its carrier runs others, and never returns here.
unsafe fn leave(me: &'static Member) {
    // SAFETY: `next` was taken by this carrier; nobody schedules a finished member.
    unsafe {
        loop {
            let Some(carrier) = me.carrier.get() else { return };
            if let Some(next) = SCHEDULER.take(carrier.number(), me.number.get() as usize) {
                switch_to(me, carrier, next, NO_FIBER);
            } else if carrier.number() != 0 {
                switch(me.fiber.get(), carrier.own_fiber(), NO_FIBER);
            } else {
                let since = arch::ticks();
                let look = || SCHEDULER.take(0, me.number.get() as usize);
                let found = carrier.nap(look);
                carrier.was_idle(since);
                if let Some(next) = found {
                    switch_to(me, carrier, next, NO_FIBER);
                }
            }
        }
    }
}

/// Runs a member from a carrier's own stack until the carrier is surplus.
pub unsafe fn run_fiber(carrier: &'static Carrier, next: usize) {
    // SAFETY: the caller has taken the member, so its fiber is saved and nobody else runs it.
    unsafe {
        if let Some(member) = MEMBERS.get(next) {
            member.carrier.set(Some(carrier));
            carrier.has_changed();
            after_switch(switch(carrier.own_fiber(), member.fiber.get(), NO_FIBER));
            member_signals::put_back(carrier);
            // The master may be schedulable now, which only one other carrier takes.
            SCHEDULER.notify(&Futex);
        }
    }
}
