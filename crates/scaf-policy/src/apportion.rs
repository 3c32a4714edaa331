//! Divides contexts in proportion to claims, within floors and caps (water-filling). Largest remainders round
//! the numbers (SCAF, section 3.3, after equation 9).
//!
//! A team that is kept is rounded to a useful DoP ([`crate::steps`]): down, and up to the next one where it
//! has lost at least half of that step and the step fits into what rounding down has left. The teams that
//! follow their DoP divide the rest, and what they can't use lifts kept teams, by what these have lost.

use crate::{Program, ProgramId, steps};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub id: ProgramId,
    /// The proportion; positive and finite.
    pub share: f64,
    /// At least 1.
    pub floor: u32,
    pub cap: u32,
    /// Members of a team that is kept; 0 if every context is of use.
    pub team: u32,
}

impl Claim {
    /// The claim of `program` when a unit of its weight is worth `value` (positive, finite).
    pub fn new(program: &Program, value: f64) -> Claim {
        Claim {
            id: program.id,
            share: program.sane_weight() * value,
            floor: program.floor(),
            cap: program.cap(),
            team: program.fixed_team,
        }
    }

    /// The contexts to the next DoP that is of use, if it may have that.
    fn step(&self, contexts: u32) -> Option<u32> {
        steps::next(self.team, contexts).filter(|next| *next <= self.cap).map(|next| next - contexts)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub contexts: u32,
    /// The share before rounding, within floor and cap.
    pub ideal: f64,
}

impl Part {
    /// How the number came about: "7.60 rounded to 8", "held at its cap of 4", ...
    pub fn explain(&self, claim: &Claim) -> String {
        let Part { contexts, ideal } = *self;
        if contexts == claim.cap {
            format!("{contexts}, all that it can use")
        } else if contexts == claim.floor && ideal <= f64::from(contexts) {
            format!("{contexts}, its minimum")
        } else if (ideal - f64::from(contexts)).abs() < 5e-3 {
            format!("{contexts}")
        } else if claim.team > 0 {
            format!("{ideal:.2}, which is {contexts} for a team that keeps its {} threads", claim.team)
        } else {
            format!("{ideal:.2}, rounded to {contexts}")
        }
    }
}

/// Divides `capacity` contexts (0 counts as 1) among `claims`; the answer has their order, but doesn't depend
/// on it. Ties go to the lower id. Parts add up to the smaller of the capacity and the sum of caps, less what
/// is too little for anyone's next step. Floors that exceed the capacity are scaled down, to no less than 1;
/// with more claims than contexts each gets 1.
pub(crate) fn apportion(capacity: u32, claims: &[Claim]) -> Vec<Part> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    // The order keeps float sums reproducible.
    order.sort_by_key(|&i| claims[i].id);
    let sorted: Vec<Claim> = order.iter().map(|&i| claims[i]).collect();
    let mut parts = vec![Part { contexts: 1, ideal: 1.0 }; claims.len()];
    for (part, i) in apportion_sorted(u64::from(capacity.max(1)), sorted).into_iter().zip(order) {
        parts[i] = part;
    }
    parts
}

fn apportion_sorted(capacity: u64, mut claims: Vec<Claim>) -> Vec<Part> {
    let floors: u64 = claims.iter().map(|c| u64::from(c.floor)).sum();
    if capacity <= claims.len() as u64 {
        return vec![Part { contexts: 1, ideal: 1.0 }; claims.len()];
    }
    if floors > capacity {
        // Everyone keeps 1; the rest is divided in proportion to the floors less 1.
        for claim in &mut claims {
            claim.cap = claim.floor;
            claim.share = f64::from(claim.floor - 1).max(f64::MIN_POSITIVE);
            claim.floor = 0;
        }
        for claim in &mut claims {
            claim.cap -= 1;
        }
        let rest = capacity - claims.len() as u64;
        let ideals = level(rest, &claims);
        let mut parts = round(rest, &claims, ideals);
        for part in &mut parts {
            part.contexts += 1;
            part.ideal += 1.0;
        }
        return parts;
    }
    let caps: u64 = claims.iter().map(|c| u64::from(c.cap)).sum();
    let total = capacity.min(caps);
    let ideals = level(total, &claims);
    if claims.iter().all(|claim| claim.team == 0) {
        return round(total, &claims, ideals);
    }
    in_steps(total, &claims, ideals)
}

/// [`round`] for claims of which some have teams that are kept.
fn in_steps(total: u64, claims: &[Claim], ideals: Vec<f64>) -> Vec<Part> {
    let down = |(claim, ideal): (&Claim, f64)| {
        let whole = ((ideal + 1e-9).floor() as u32).clamp(claim.floor, claim.cap);
        // A floor that is no useful DoP is kept all the same.
        Part { contexts: steps::useful(claim.team, whole).max(claim.floor), ideal }
    };
    let mut parts: Vec<Part> = claims.iter().zip(ideals).map(down).collect();
    let sum = |parts: &[Part]| parts.iter().map(|part| u64::from(part.contexts)).sum::<u64>();
    let mut left = total.saturating_sub(sum(&parts));
    let mut kept: Vec<usize> = (0..claims.len()).filter(|&i| claims[i].team > 0).collect();
    left -= lift(left, claims, &mut parts, &mut kept, |lost, step| 2.0 * lost >= step);
    let follow: Vec<usize> = (0..claims.len()).filter(|&i| claims[i].team == 0).collect();
    let theirs: Vec<Claim> = follow.iter().map(|&i| claims[i]).collect();
    let caps: u64 = theirs.iter().map(|claim| u64::from(claim.cap)).sum();
    let rest = (left + follow.iter().map(|&i| u64::from(parts[i].contexts)).sum::<u64>()).min(caps);
    let again = level(rest, &theirs);
    for (&i, part) in follow.iter().zip(round(rest, &theirs, again)) {
        parts[i] = part;
    }
    left = total.saturating_sub(sum(&parts));
    loop {
        match lift(left, claims, &mut parts, &mut kept, |_, _| true) {
            0 => return parts,
            given => left -= given,
        }
    }
}

/// Lifts `kept` teams by a step each, as far as that many contexts are `left`: those that have lost most of
/// their step first, and only where what they have lost `may` make up for it. Returns what it gave.
fn lift(
    left: u64,
    claims: &[Claim],
    parts: &mut [Part],
    kept: &mut [usize],
    may: impl Fn(f64, f64) -> bool,
) -> u64 {
    let lost = |part: &Part| part.ideal - f64::from(part.contexts);
    // Shares of a step, in units that rounding doesn't reach.
    let share = |i: &usize| {
        let step = claims[*i].step(parts[*i].contexts);
        step.map_or(i64::MIN, |step| (lost(&parts[*i]) / f64::from(step) * 1e9) as i64)
    };
    kept.sort_by_cached_key(|i| std::cmp::Reverse(share(i)));
    let mut given = 0;
    for &mut i in kept {
        let Some(step) = claims[i].step(parts[i].contexts) else { continue };
        if given + u64::from(step) <= left && may(lost(&parts[i]), f64::from(step)) {
            parts[i].contexts += step;
            given += u64::from(step);
        }
    }
    given
}

/// Real-valued parts that add up to `total`, which lies between the sum of the floors and that of the caps.
fn level(total: u64, claims: &[Claim]) -> Vec<f64> {
    let mut fixed: Vec<Option<f64>> = vec![None; claims.len()];
    loop {
        let (mut rest, mut shares) = (total as f64, 0.0);
        for (claim, fixed) in claims.iter().zip(&fixed) {
            match fixed {
                Some(value) => rest -= value,
                None => shares += claim.share,
            }
        }
        let ideal = |c: &Claim| {
            if shares > 0.0 { (rest / shares * c.share).max(0.0) } else { 0.0 }
        };
        // Contexts that floors take beyond the level, less those that caps leave: the side that weighs more
        // is certain to stay at its bound, the other may come free again.
        let mut excess = 0.0;
        for (claim, _) in claims.iter().zip(&fixed).filter(|(_, f)| f.is_none()) {
            let x = ideal(claim);
            excess += x.clamp(f64::from(claim.floor), f64::from(claim.cap)) - x;
        }
        let mut held = false;
        for (claim, fixed) in claims.iter().zip(&mut fixed).filter(|(_, f)| f.is_none()) {
            let (x, floor, cap) = (ideal(claim), f64::from(claim.floor), f64::from(claim.cap));
            if x < floor && excess >= 0.0 {
                (*fixed, held) = (Some(floor), true);
            } else if x > cap && excess <= 0.0 {
                (*fixed, held) = (Some(cap), true);
            }
        }
        if !held {
            return claims.iter().zip(&fixed).map(|(c, f)| f.unwrap_or_else(|| ideal(c))).collect();
        }
    }
}

fn round(total: u64, claims: &[Claim], ideals: Vec<f64>) -> Vec<Part> {
    // A remainder within 1e-9 of a whole context is rounding noise.
    let down = |c: &Claim, x: f64| ((x + 1e-9).floor() as u32).clamp(c.floor, c.cap);
    let mut parts: Vec<Part> =
        claims.iter().zip(ideals).map(|(c, ideal)| Part { contexts: down(c, ideal), ideal }).collect();
    let mut sum: u64 = parts.iter().map(|p| u64::from(p.contexts)).sum();
    let lost = |p: &Part| ((p.ideal - f64::from(p.contexts)) * 1e9).round() as i64;
    let mut by_loss: Vec<usize> = (0..parts.len()).collect();
    by_loss.sort_by_key(|&i| -lost(&parts[i]));
    while sum < total {
        let before = sum;
        for &i in by_loss.iter() {
            if sum < total && parts[i].contexts < claims[i].cap {
                parts[i].contexts += 1;
                sum += 1;
            }
        }
        if sum == before {
            break;
        }
    }
    while sum > total {
        let before = sum;
        for &i in by_loss.iter().rev() {
            if sum > total && parts[i].contexts > claims[i].floor {
                parts[i].contexts -= 1;
                sum -= 1;
            }
        }
        if sum == before {
            break;
        }
    }
    parts
}

#[cfg(test)]
#[path = "apportion_tests.rs"]
mod tests;
