//! Mixes of programs that keep their teams and programs that don't, on machines of 16 to 1,024 contexts;
//! half of the mixes with short programs that come and go. A team of T that is kept runs on p contexts as
//! fast as on T / (T / p, rounded up).
//!
//! The daemon looks and decides at its rate, and decides when programs come and go. What it measures is off
//! by noise, says nothing of a program's first interval, and grants take effect at the end of a region (kept
//! teams: after a chunk). Policies are judged by all the work that was done, from the first moment on, over
//! what the best division would have done between any two arrivals or departures, by the true curves.

mod draw;
mod member;
mod setting;

pub use draw::{MEASURED, TeamMix, Visit, draw};
pub use setting::TeamSetting;

use super::curves::Curve;
use super::oracle;
use crate::scenario::Mechanisms;
use member::Member;
use scaf_policy::{Machine, Policy, Program, allocate};

/// The most work that can be done in a mix, in seconds of one context: with the best division between any two
/// arrivals or departures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Best {
    /// By any division.
    pub free: f64,
    /// With no program below [`TeamSetting::floor`].
    pub floored: f64,
}

/// Both, by trying all divisions.
pub fn best(mix: &TeamMix, setting: &TeamSetting) -> Best {
    let grown: Vec<Curve> = mix.visits.iter().map(|visit| growing(&visit.curve)).collect();
    let mut best = Best { free: 0.0, floored: 0.0 };
    for pair in moments(mix).windows(2) {
        let here = |(visit, _): &(&Visit, &Curve)| visit.from_s <= pair[0] && pair[0] < visit.to_s;
        let (visits, curves): (Vec<&Visit>, Vec<&Curve>) = mix.visits.iter().zip(&grown).filter(here).unzip();
        if visits.is_empty() {
            continue;
        }
        let equal = super::equal(mix.contexts, visits.iter().map(|visit| (&visit.curve, visit.team)));
        let floors: Vec<f64> = equal.iter().map(|speedup| speedup * setting.floor).collect();
        let s = pair[1] - pair[0];
        best.free += s * oracle::best(mix.contexts, &curves, &[]);
        best.floored += s * oracle::best(mix.contexts, &curves, &floors);
    }
    best
}

/// The same curve with what it loses by more contexts left out: these may be left idle.
fn growing(curve: &Curve) -> Curve {
    let most = |most: &mut f64, p: u32| {
        *most = most.max(curve.at(p));
        Some(*most)
    };
    let top: Vec<f64> = (1..=curve.contexts()).scan(0.0, most).collect();
    Curve::of(curve.name.clone(), curve.contexts(), |p| top[p as usize - 1])
}

/// When programs come or go, in order.
fn moments(mix: &TeamMix) -> Vec<f64> {
    let mut moments: Vec<f64> = mix.visits.iter().flat_map(|visit| [visit.from_s, visit.to_s]).collect();
    moments.sort_by(f64::total_cmp);
    moments.dedup();
    moments
}

/// The work that each visit did under a policy without memory, in seconds of one context.
pub fn run(policy: &mut dyn Policy, mix: &TeamMix, setting: &TeamSetting) -> Vec<f64> {
    let mechanisms = Mechanisms::default();
    let ticks: Vec<f64> = (1..(setting.run_s * setting.rate_hz).round() as u32)
        .map(|tick| f64::from(tick) / setting.rate_hz)
        .collect();
    let mut events = moments(mix);
    events.extend(&ticks);
    events.sort_by(f64::total_cmp);
    events.dedup();
    let mut members: Vec<Member> = Vec::new();
    let mut done = vec![0.0; mix.visits.len()];
    let (mut now_s, mut next, mut tick) = (0.0, 0, 0);
    for event_s in events {
        members.iter_mut().for_each(|member| member.advance(event_s - now_s, &mechanisms));
        now_s = event_s;
        if ticks.get(tick) == Some(&now_s) {
            tick += 1;
            members.iter_mut().for_each(|member| member.look(now_s, setting.noise));
        }
        members.iter().for_each(|member| done[member.id as usize] = member.done);
        members.retain(|member| member.visit.to_s > now_s);
        while let Some(visit) = mix.visits.get(next).filter(|visit| visit.from_s <= now_s) {
            members.push(Member::new(next as u64, visit, mix.contexts, now_s, setting));
            next += 1;
        }
        let seen: Vec<Program> = members.iter().map(Member::seen).collect();
        if seen.is_empty() {
            continue;
        }
        let shares = allocate(policy, &Machine::new(mix.contexts, now_s), &seen).shares;
        for (member, share) in members.iter_mut().zip(shares) {
            member.grant(super::dop_of(share.dop, mix.contexts), now_s, &mechanisms);
        }
    }
    done
}

#[cfg(test)]
mod tests;
