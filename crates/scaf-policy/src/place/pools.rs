//! Placement of a whole allocation, with pools and idle programs.

use super::{Site, Style, Want, place_turns};
use crate::{Allocation, Pool, ProgramId, PuSet, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// [`place_turns`] for an allocation. A pool is placed as one program, and its members have PUs of it only;
/// a member that may run on none of these, and idle programs, have the PUs that fewest others have.
pub fn place_allocation(
    topology: &Topology,
    wants: &[Want],
    allocation: &Allocation,
    style: Style,
) -> Vec<PuSet> {
    let turns = &allocation.turns;
    if allocation.pools.is_empty() && allocation.idle.is_empty() {
        return place_turns(topology, wants, turns, style);
    }
    let position: BTreeMap<ProgramId, usize> =
        wants.iter().enumerate().map(|(who, want)| (want.id, who)).collect();
    let at =
        |ids: &[ProgramId]| -> Vec<usize> { ids.iter().filter_map(|id| position.get(id).copied()).collect() };
    let pools: Vec<(&Pool, Vec<usize>)> = allocation
        .pools
        .iter()
        .map(|pool| (pool, at(&pool.members)))
        .filter(|(_, it)| !it.is_empty())
        .collect();
    let mut last: Vec<usize> = at(&allocation.idle);
    let aside: BTreeSet<usize> = last.iter().chain(pools.iter().flat_map(|(_, it)| it)).copied().collect();
    let own: Vec<usize> = (0..wants.len()).filter(|who| !aside.contains(who)).collect();

    let mut outer: Vec<Want> = own.iter().map(|who| wants[*who].clone()).collect();
    outer.extend(pools.iter().map(|(pool, members)| as_one(pool, members, wants)));
    let mut places = place_turns(topology, &outer, turns, style).into_iter();
    let mut sets = vec![PuSet::new(); wants.len()];
    let mut taken = PuSet::new();
    for (who, set) in own.into_iter().zip(&mut places) {
        taken = taken.union(&set);
        sets[who] = set;
    }
    for ((_, members), pool) in pools.iter().zip(places) {
        let (inside, outside) =
            members.iter().partition(|who| !wants[**who].allowed.intersection(&pool).is_empty());
        last.extend::<Vec<usize>>(outside);
        fill(&Site::new(&topology.restrict(&pool), style), wants, inside, &PuSet::new(), &mut sets);
        taken = taken.union(&pool);
    }
    fill(&Site::new(topology, style), wants, last, &taken, &mut sets);
    sets
}

/// What a pool wants: all that its members may have and had.
fn as_one(pool: &Pool, members: &[usize], wants: &[Want]) -> Want {
    let all =
        |of: fn(&Want) -> &PuSet| members.iter().fold(PuSet::new(), |all, who| all.union(of(&wants[*who])));
    Want {
        id: pool.members[0],
        dop: pool.contexts,
        allowed: all(|want| &want.allowed),
        previous: all(|want| &want.previous),
        weight: members.iter().map(|who| wants[*who].weight).fold(0.0, f64::max),
    }
}

fn fill(site: &Site, wants: &[Want], who: Vec<usize>, taken: &PuSet, sets: &mut [PuSet]) {
    let members: Vec<Want> = who.iter().map(|who| wants[*who].clone()).collect();
    for (who, set) in who.into_iter().zip(site.place(&members, taken)) {
        sets[who] = set;
    }
}
