//! How members start, wait, change and end.

use super::gathered_team::{Carrier, MEMBERS, Member, SCHEDULER, TEAM, around};
use super::task_pool::{left, run_any, with};
use super::{float_control, member_signals};
use crate::region::thread::thread;
use crate::sys::arch::{self, switch};
use crate::sys::futex::Futex;
use crate::sys::kernel_threads::give_way;
use core::hint::spin_loop;
use scaf_team::gather::scheduler::{Cancelled, Until};

/// Says that nobody is to be set free.
pub const NO_FIBER: usize = usize::MAX;

/// Rounds that a carrier looks for work before it naps; about 10 us.
const SPINS: u32 = 500;
/// Rounds between two looks at all members.
const FAR: u32 = 32;

/// What a member but the master runs.
pub unsafe extern "C" fn start(previous: usize) -> ! {
    after_switch(previous);
    // SAFETY: the member's own state; the master has set all of it.
    unsafe {
        if let Some(me) = around(thread()) {
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
    // Not reached: who is done is never changed to.
    loop {
        spin_loop();
    }
}

/// Whoever changed to the calling context is off the stack of the member that was said.
#[inline(always)]
pub fn after_switch(previous: usize) {
    if previous != NO_FIBER {
        SCHEDULER.set_suspended(previous);
    }
    member_signals::arrive();
}

/// Waits until that has come about; others are run meanwhile.
#[inline(always)]
pub unsafe fn wait(me: &'static Member, until: Until) {
    while !SCHEDULER.is_met(until) {
        // SAFETY: the caller runs the member.
        unsafe {
            // Who waits for something else, or could run tasks but got none, may wait for anybody.
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

/// Whoever waits at a barrier looks in its carrier's own part: to look at others' members takes their lines
/// from them. It looks at all soon ([`idle`]), and as long as it finds some there.
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

/// Has the member on another carrier if its own isn't wanted any more.
#[inline]
pub unsafe fn leave_surplus_carrier(me: &'static Member) {
    if let Some(carrier) = me.carrier.get()
        && SCHEDULER.is_surplus(carrier.number())
    {
        let number = me.number.get() as usize;
        SCHEDULER.set_wait(number, Until::Turn);
        carrier.has_changed();
        // SAFETY: the caller runs the member.
        unsafe { after_switch(switch(me.fiber.get(), carrier.home(), number)) }
    }
}

/// Waits for all members, and until all tasks are over. Whether the member was the last to arrive.
/// `may_leave` says that all can be threads of their own behind it.
#[inline(always)]
pub unsafe fn meet(me: &'static Member, may_leave: bool) -> bool {
    // SAFETY: the caller runs the member.
    unsafe {
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
}

/// The same where the region's being cancelled shows: nobody waits any more then.
pub unsafe fn meet_or_leave(me: &'static Member) {
    if SCHEDULER.is_cancelled(Cancelled::Region) {
        return;
    }
    // SAFETY: the caller runs the member.
    unsafe {
        match SCHEDULER.arrive(me.number.get() as usize) {
            Some(word) => wait(me, Until::PassedOrCancelled(word)),
            None => pass(me, false),
        }
    }
}

/// The same at the end of a region.
#[inline]
pub unsafe fn meet_at_end(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        if !TEAM.cancels.get() {
            meet(me, false);
            return;
        }
        match SCHEDULER.arrive_at_end() {
            Some(until) => wait(me, until),
            None => pass(me, false),
        }
    }
}

/// The last member to arrive has all go on once no task is left.
#[inline(always)]
unsafe fn pass(me: &'static Member, may_leave: bool) {
    if left() != 0 {
        // SAFETY: the caller runs the member.
        unsafe { finish_tasks(me) }
    }
    if may_leave {
        SCHEDULER.start_requested_return();
    }
    SCHEDULER.pass(&Futex);
}

/// The last member at a barrier: sees that all tasks are done.
#[cold]
unsafe fn finish_tasks(me: &'static Member) {
    while left() != 0 {
        // SAFETY: the caller runs the member.
        unsafe {
            leave_surplus_carrier(me);
            if !run_any(me) {
                wait_for(me, || with(|tasks| tasks.left() == 0 || tasks.ready() != 0));
            }
        }
    }
}

/// Waits until `is_met` says so. Whoever changes that says so to the scheduler.
pub unsafe fn wait_for(me: &'static Member, is_met: impl Fn() -> bool) {
    while !is_met() {
        let until = SCHEDULER.listen();
        if !is_met() {
            // SAFETY: the caller runs the member.
            unsafe { wait(me, until) }
        }
        SCHEDULER.unlisten();
    }
}

/// The member can't go on for now, and will look for itself: others are run, or the PU given up.
#[cold]
pub unsafe fn yield_member(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe { yield_until(me, Until::Turn) }
}

/// The same, where the program itself waits.
#[cold]
pub unsafe fn yield_in_spin_loop(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        leave_surplus_carrier(me);
        yield_until(me, Until::Spins);
    }
}

unsafe fn yield_until(me: &'static Member, until: Until) {
    // SAFETY: the caller runs the member.
    unsafe {
        let Some(carrier) = me.carrier.get() else { return };
        let number = me.number.get() as usize;
        // A signal's handler that yields while a member is changed here.
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

/// Changes to a member that was taken; returns when somebody has changed back.
#[inline(always)]
pub unsafe fn switch_to(me: &'static Member, carrier: &'static Carrier, next: usize, previous: usize) {
    // SAFETY: both members are held by this carrier.
    unsafe {
        if let Some(next) = MEMBERS.get(next) {
            next.carrier.set(Some(carrier));
            carrier.has_changed();
            after_switch(switch(me.fiber.get(), next.fiber.get(), previous));
        }
    }
}

/// Has the master on its own kernel thread again, if another carrier runs it.
#[inline(always)]
pub unsafe fn move_to_first_carrier(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        while let Some(carrier) = me.carrier.get()
            && carrier.number() != 0
        {
            SCHEDULER.set_wait(0, Until::Joined);
            after_switch(switch(me.fiber.get(), carrier.home(), 0));
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
        let found = 'look: {
            for round in 1..=SPINS {
                if SCHEDULER.is_met(until) || SCHEDULER.offers(until) {
                    break 'look None;
                }
                if SCHEDULER.is_surplus(carrier.number()) {
                    carrier.was_idle(since);
                    SCHEDULER.set_wait(number, until);
                    carrier.has_changed();
                    after_switch(switch(me.fiber.get(), carrier.home(), number));
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

/// The member is done: its carrier goes on with others, for ever.
unsafe fn leave(me: &'static Member) {
    // SAFETY: the caller runs the member, and nobody will run it again.
    unsafe {
        loop {
            let Some(carrier) = me.carrier.get() else { return };
            if let Some(next) = SCHEDULER.take(carrier.number(), me.number.get() as usize) {
                switch_to(me, carrier, next, NO_FIBER);
            } else if carrier.number() != 0 {
                switch(me.fiber.get(), carrier.home(), NO_FIBER);
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

/// Runs a member from a carrier's own stack; returns when it has changed back.
pub unsafe fn run_fiber(carrier: &'static Carrier, next: usize) {
    // SAFETY: the carrier has taken the member.
    unsafe {
        if let Some(member) = MEMBERS.get(next) {
            member.carrier.set(Some(carrier));
            carrier.has_changed();
            after_switch(switch(carrier.home(), member.fiber.get(), NO_FIBER));
            member_signals::put_back(carrier);
            // It may have been the master, which only one other carrier takes now.
            SCHEDULER.notify(&Futex);
        }
    }
}
