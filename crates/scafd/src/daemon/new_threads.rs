//! New threads of narrowed programs get the program's grant; their children that don't attach get the
//! affinity that they would have without us.

use super::move_budget::MoveBudget;
use super::user_processes::UserProcesses;
use crate::apply::{Apply, Trouble, bound_thread};
use crate::log::UserLimiters;
use crate::observe::{Observer, clock};
use crate::registry::{Binding, Program, Registry};
use crate::talk::Talk;
use scaf_policy::PuSet;
use std::time::Instant;

/// How far up a newcomer's ancestors, and down a narrowed program's descendants, inherited affinities are
/// searched.
pub(super) const GENERATIONS: usize = 8;
/// Threads of a program that are asked for children, once a second at 6 us each.
const FORKERS: usize = 16;
/// Processes of one generation that are looked at: a program with more children isn't worth a tick's time.
const MOST_CHILDREN: usize = 64;
const YOUNG_NS: u64 = 1_000_000_000;

/// Moves threads created since their program's affinity was set.
pub(super) fn follow(
    registry: &mut Registry,
    apply: &mut Apply,
    budget: &mut MoveBudget,
    (observer, talk): (&Observer, &Talk),
    limiters: &mut UserLimiters,
) {
    let now_ns = clock::now_ns();
    for program in registry.iter_mut().filter(|program| !program.grant.masks.is_empty()) {
        let owner = program.identity.owner;
        if budget.is_spent(owner, talk.is_trusted(owner), Instant::now()) {
            continue;
        }
        let folded = program.grant.set.is_some()
            && program.evidence.seen.is_some_and(|seen| Some(seen.team) > program.grant.dop);
        let strays = program.reach.binding == Binding::Runtime && has_strays(program, observer);
        if !moved_within(program, YOUNG_NS, now_ns) && !folded && !strays {
            continue;
        }
        let Ok(stat) = observer.process(program.identity.pid).stat() else { continue };
        if stat.threads != program.grant.threads || strays {
            let pages = talk.pages(program.identity.id.0).filter(|_| program.grant.set.is_some());
            // Once in a row: it may say so all the time.
            if pages.is_some_and(|pages| !pages.begin_moves()) && !program.grant.put_off {
                program.grant.put_off = true;
                continue;
            }
            program.grant.put_off = false;
            (program.grant.threads, program.grant.counted) = (stat.threads, stat.threads);
            let target = program.target();
            let result = match &program.grant.set {
                Some(set) => {
                    let mut narrow = || apply.narrow(&target, set).map(drop);
                    match pages {
                        Some(pages) => pages.while_moving(narrow),
                        None => narrow(),
                    }
                }
                None => apply.restore(&target),
            };
            if let Err(trouble @ Trouble::Denied { .. }) = result {
                limiters.warn(owner, trouble);
            }
            budget.charge(owner, program.grant.counted, Instant::now());
        }
    }
}

/// Gives children of narrowed programs their own affinity back unless they attach.
pub(super) fn widen_children(
    (registry, bound): (&Registry, &UserProcesses),
    apply: &Apply,
    budget: &mut MoveBudget,
    (observer, talk): (&Observer, &Talk),
) {
    let now_ns = clock::now_ns();
    for program in registry.iter() {
        let (owner, trusted) = (program.identity.owner, talk.is_trusted(program.identity.owner));
        let narrow = program.grant.set.is_some() || moved_within(program, 2 * YOUNG_NS, now_ns);
        if program.grant.masks.is_empty() || !narrow || budget.is_spent(owner, trusted, Instant::now()) {
            continue;
        }
        let mut family = vec![program.identity.pid];
        for _ in 0..GENERATIONS {
            // Each file takes some 6 us to read, as to move two threads.
            budget.charge(owner, (2 * FORKERS * family.len()) as u32, Instant::now());
            family = family
                .iter()
                .flat_map(|parent| observer.process(*parent).children(FORKERS))
                .filter(|child| registry.by_pid(*child).is_none() && !bound.has(observer, *child))
                .take(MOST_CHILDREN)
                .collect();
            for child in &family {
                let threads = apply.restore_child(*child, &program.target());
                budget.charge(owner, threads, Instant::now());
            }
            if family.is_empty() || budget.is_spent(owner, trusted, Instant::now()) {
                break;
            }
        }
    }
}

/// Whether some thread of a narrowed program doesn't have its grant: runtimes bind each thread that they
/// start.
fn has_strays(program: &Program, observer: &Observer) -> bool {
    let stray =
        |set: &PuSet| bound_thread(observer, program.identity.pid, &[set]).is_ok_and(|it| it.is_some());
    program.grant.set.as_ref().is_some_and(stray)
}

fn moved_within(program: &Program, ns: u64, now_ns: u64) -> bool {
    program.grant.moved_ns.is_some_and(|at_ns| now_ns.saturating_sub(at_ns) < ns)
}
