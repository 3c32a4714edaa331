//! How many cores of each kind each program gets: for d PUs at most d cores, and at least d over the PUs of a
//! core; spare cores are given out between these. Where there are too few, programs whose last core would be
//! half empty share cores (*scraps*, for [`super::layout`]). On a hybrid machine the heaviest programs get
//! the strongest cores; programs of equal weight keep theirs.

use super::shape::{Order, Shape};

pub(super) type Plan = Vec<Vec<usize>>;

/// Divides `whole[kind]` cores. With `keep`, present cores count; with `wide`, spare cores are given out.
pub(super) fn plan(shape: &Shape, orders: &[Order], whole: &[usize], keep: bool, wide: bool) -> Plan {
    let cores: usize = whole.iter().sum();
    let smt = shape.kinds.iter().map(|kind| kind.smt).max().unwrap_or(1);
    let least = least(orders, cores, smt);
    // Where some have too few, what is left is for their scraps.
    let enough = least.iter().zip(orders).all(|(cores, order)| cores * smt >= order.size);
    let spare = if enough { cores.saturating_sub(least.iter().sum()) } else { 0 };
    if shape.kinds.len() < 2 {
        let numbers = if wide { widened(orders, least, spare) } else { least };
        return numbers.into_iter().map(|number| vec![number]).collect();
    }
    // `least` takes all cores for as wide as the widest, so the spare ones may not all be spare.
    let had = if keep { had(shape, orders) } else { vec![vec![0; whole.len()]; orders.len()] };
    let mut given = if wide { spare } else { 0 };
    loop {
        let (plan, enough) = divide(shape, orders, &widened(orders, least.clone(), given), whole, &had);
        if enough || given == 0 {
            return plan;
        }
        given /= 2;
    }
}

/// The fewest cores of `smt` PUs for each; only whole ones where there aren't enough.
fn least(orders: &[Order], cores: usize, smt: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = orders.iter().map(|order| order.size / smt).collect();
    let left = cores.saturating_sub(numbers.iter().sum());
    let rest = |who: usize| orders[who].size % smt;
    let mut scraps: Vec<usize> = (0..orders.len()).filter(|&who| rest(who) > 0).collect();
    // Who leaves least of a core unused gets one, as long as the others' scraps fit into the rest.
    scraps.sort_by(|&a, &b| {
        rest(b).cmp(&rest(a)).then(orders[b].weight.total_cmp(&orders[a].weight)).then(a.cmp(&b))
    });
    let mut others: usize = scraps.iter().map(|&who| rest(who)).sum();
    for (given, &who) in scraps.iter().enumerate() {
        others -= rest(who);
        if given >= left || (left - given - 1) * smt < others {
            break;
        }
        numbers[who] += 1;
    }
    numbers
}

/// Gives `spare` cores out one by one, each to the program with most PUs a core, by weight.
fn widened(orders: &[Order], mut numbers: Vec<usize>, spare: usize) -> Vec<usize> {
    for _ in 0..spare {
        let pus_a_core =
            |who: usize| orders[who].weight * orders[who].size as f64 / numbers[who].max(1) as f64;
        let open = (0..orders.len()).filter(|&who| numbers[who] < orders[who].size);
        let Some(who) = open.max_by(|&a, &b| pus_a_core(a).total_cmp(&pus_a_core(b)).then(b.cmp(&a))) else {
            break;
        };
        numbers[who] += 1;
    }
    numbers
}

fn had(shape: &Shape, orders: &[Order]) -> Plan {
    let count = |order: &Order| {
        let mut cores: Vec<usize> = order.previous.iter().map(|&pu| shape.core_of[pu]).collect();
        cores.sort_unstable();
        cores.dedup();
        let mut of = vec![0; shape.kinds.len()];
        cores.into_iter().for_each(|core| of[shape.cores[core].kind] += 1);
        of
    };
    orders.iter().map(count).collect()
}

/// Kinds for so many cores each, heaviest program first; and whether all cores hold what is wanted.
fn divide(
    shape: &Shape,
    orders: &[Order],
    numbers: &[usize],
    whole: &[usize],
    had: &[Vec<usize>],
) -> (Plan, bool) {
    let kinds = shape.kinds.len();
    let mut left = whole.to_vec();
    let mut plan = vec![vec![0; kinds]; orders.len()];
    let mut by_weight: Vec<usize> = (0..orders.len()).collect();
    by_weight.sort_by(|&a, &b| orders[b].weight.total_cmp(&orders[a].weight));
    let mut enough = true;
    for group in by_weight.chunk_by(|&a, &b| orders[a].weight == orders[b].weight) {
        let mut missing: Vec<usize> = group.iter().map(|&who| numbers[who]).collect();
        for kind in 0..kinds {
            let most: Vec<usize> = group.iter().map(|&who| usable(shape, &orders[who], kind)).collect();
            // Who has most keeps them first.
            let mut by_kept: Vec<usize> = (0..group.len()).collect();
            by_kept.sort_by_key(|&at| (std::cmp::Reverse(had[group[at]][kind]), at));
            for at in by_kept {
                let kept = had[group[at]][kind].min(missing[at]).min(most[at]).min(left[kind]);
                plan[group[at]][kind] = kept;
                missing[at] -= kept;
                left[kind] -= kept;
            }
            while left[kind] > 0 {
                let open = (0..group.len()).filter(|&at| missing[at] > 0 && plan[group[at]][kind] < most[at]);
                let Some(at) = open.min_by_key(|&at| (plan[group[at]][kind], at)) else { break };
                plan[group[at]][kind] += 1;
                missing[at] -= 1;
                left[kind] -= 1;
            }
        }
        for &who in group {
            let holds = |plan: &Plan| -> usize {
                plan[who].iter().zip(&shape.kinds).map(|(cores, kind)| cores * kind.smt).sum()
            };
            while numbers[who] > 0 && holds(&plan) < orders[who].size {
                let Some(kind) = (0..kinds).find(|&kind| left[kind] > 0) else {
                    enough = false;
                    break;
                };
                plan[who][kind] += 1;
                left[kind] -= 1;
            }
        }
    }
    (plan, enough)
}

fn usable(shape: &Shape, order: &Order, kind: usize) -> usize {
    if order.allowed.is_none() {
        return usize::MAX;
    }
    let open = |core: &&super::shape::Core| core.kind == kind && core.pus.iter().any(|&pu| order.may(pu));
    shape.cores.iter().filter(open).count()
}
