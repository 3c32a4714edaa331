//! A running program. Its speed is constant between two events. A *piece* is what the daemon can time: a run
//! of a region, or the stretch between two barriers of a long one.

use crate::scenario::{Mechanisms, Permits, ProgramSpec, RegionSpec};
use scaf_policy::ProgramId;
use scaf_team::choice::{self, Facts, Length, Mechanism};
use std::collections::BTreeMap;

/// Shortest run of a long region in seconds, started wide where it folds evenly
/// (docs/internals/mechanisms.md).
const LONG_S: f64 = 0.1;
/// Work that is less than this share of a step is rounding.
const ROUNDING: f64 = 1e-9;

/// What a program did since the daemon last looked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub parallel_s: f64,
    /// Useful seconds in regions, of all threads.
    pub useful_s: f64,
    /// Seconds in regions whose team differs from the one that the grant gives the next.
    pub astray_s: f64,
    /// Pieces that ended and their seconds, by region and DoP.
    pub pieces: BTreeMap<(u64, u32), (f64, f64)>,
}

pub(crate) struct Running<'a> {
    pub spec: &'a ProgramSpec,
    pub id: ProgramId,
    pub arrived_s: f64,
    pub natural: u32,
    phase: usize,
    round: u32,
    /// 0 is the serial stretch, k the kth region.
    step: usize,
    left: f64,
    run_left: f64,
    /// Work done in the piece, its start, and whether its DoP stayed the same.
    piece: (f64, f64, bool),
    pub team: u32,
    mechanism: Mechanism,
    /// Threads of its next team while it is unmanaged.
    pub wish: u32,
    /// Whether it waits for its turn.
    pub frozen: bool,
    pub dop: Option<u32>,
    pub contexts: u32,
    /// When it takes up how many contexts.
    pending: Option<(f64, u32)>,
    /// Its contexts, as positions in the topology.
    pub pus: Vec<usize>,
    /// Until when it fills its caches.
    cold_until: f64,
    serial_since: f64,
    /// Factor of its speed until the next tick.
    pub jitter: f64,
    pub done: f64,
    pub account: Account,
    ran: Vec<bool>,
    pub ended: bool,
}

impl<'a> Running<'a> {
    pub fn new(spec: &'a ProgramSpec, id: ProgramId, now_s: f64, natural: u32) -> Running<'a> {
        let regions = spec.phases.iter().map(|phase| phase.regions.len()).sum();
        Running {
            spec,
            id,
            arrived_s: now_s,
            natural,
            phase: 0,
            round: 0,
            step: 0,
            left: 0.0,
            run_left: 0.0,
            piece: (0.0, now_s, true),
            team: 1,
            mechanism: Mechanism::Unmanaged,
            wish: natural,
            frozen: false,
            dop: None,
            contexts: natural,
            pending: None,
            pus: Vec::new(),
            cold_until: now_s,
            serial_since: now_s,
            jitter: 1.0,
            done: 0.0,
            account: Account::default(),
            ran: vec![false; regions],
            ended: false,
        }
    }

    pub fn start(&mut self, now_s: f64) {
        match self.spec.phases.first() {
            Some(phase) => self.left = phase.serial_s,
            None => self.ended = true,
        }
        self.serial_since = now_s;
        if !self.ended && self.left <= 0.0 {
            self.next_step(now_s);
        }
    }

    pub fn region(&self) -> Option<&'a RegionSpec> {
        self.spec.phases.get(self.phase)?.regions.get(self.step.checked_sub(1)?)
    }

    fn number(&self) -> usize {
        let before: usize = self.spec.phases[..self.phase].iter().map(|phase| phase.regions.len()).sum();
        before + self.step - 1
    }

    /// Since when it is in a serial stretch; `None` if it isn't.
    pub fn serial_since(&self) -> Option<f64> {
        self.region().is_none().then_some(self.serial_since)
    }

    /// Goes on to the next step with work in it. True if it left a serial stretch.
    fn next_step(&mut self, now_s: f64) -> bool {
        let was_serial = self.region().is_none();
        loop {
            let Some(phase) = self.spec.phases.get(self.phase) else {
                self.ended = true;
                return false;
            };
            self.step += 1;
            if self.step > phase.regions.len() {
                self.step = 0;
                self.round += 1;
                if self.round >= phase.times {
                    self.phase += 1;
                    self.round = 0;
                }
                let Some(phase) = self.spec.phases.get(self.phase) else { continue };
                if phase.times > 0 && phase.serial_s > 0.0 {
                    self.left = phase.serial_s;
                    if !was_serial {
                        self.serial_since = now_s;
                    }
                    return false;
                }
                continue;
            }
            if let Some(region) = self.region() {
                self.left = region.seconds * f64::from(region.times);
                self.enter_run(now_s, region);
                return was_serial;
            }
        }
    }

    fn enter_run(&mut self, now_s: f64, region: &RegionSpec) {
        // A grant is read at entry, and its affinity is set by then.
        self.settle(now_s);
        self.run_left = region.seconds;
        self.piece = (0.0, now_s, true);
        let number = self.number();
        let first = !std::mem::replace(&mut self.ran[number], true);
        (self.team, self.mechanism) = self.choose(region, first);
    }

    /// The team of a run of a region and its mechanism, chosen as in the client; `first`: not run before.
    fn choose(&self, region: &RegionSpec, first: bool) -> (u32, Mechanism) {
        let dop =
            if self.spec.rigid { self.natural } else { self.dop.unwrap_or(self.wish).min(self.natural) };
        let length = match region.mechanism {
            Permits::Auto if first => Length::Unknown,
            Permits::Auto if region.seconds / region.speedup.at(dop) >= LONG_S => Length::Long,
            _ => Length::Short,
        };
        let choice = choice::choose(&Facts {
            requested: 0,
            natural: self.natural,
            budget: Some(dop),
            word: false,
            kept: false,
            resizable: matches!(region.mechanism, Permits::Auto | Permits::Resize),
            gathers: region.mechanism == Permits::Gather,
            length,
            only_master: true,
            lent: false,
            spins: self.spec.spins,
        });
        let parks = region.mechanism == Permits::Park && choice.mechanism == Mechanism::Fold;
        let team = choice.team.max(choice.ids);
        (team, if parks { Mechanism::Park } else { choice.mechanism })
    }

    fn next_team(&self, region: &RegionSpec) -> u32 {
        self.choose(region, false).0
    }

    /// Members of the team that it keeps, if all its regions do ([`scaf_policy::Program::fixed_team`]).
    pub fn fixed_team(&self) -> u32 {
        let mut regions = self.spec.phases.iter().flat_map(|phase| &phase.regions);
        let kept = regions.all(|region| matches!(region.mechanism, Permits::Gather | Permits::Fold));
        if kept { self.natural } else { 0 }
    }

    /// Threads of a team that spins and can be resized, to be waited for; others are folded at little loss.
    pub fn late_team(&self) -> u32 {
        let resized = |region: &RegionSpec| matches!(region.mechanism, Permits::Resize | Permits::Auto);
        if self.spec.spins && self.region().is_some_and(resized) { self.team } else { 0 }
    }

    /// Its turn begins or ends. After a turn of others its caches are cold.
    pub fn freeze(&mut self, now_s: f64, frozen: bool, mechanisms: &Mechanisms) {
        if self.frozen && !frozen {
            // At most half a slice, so that every program makes progress.
            let lost_ms = (mechanisms.switch_ms + mechanisms.cold_ms).min(0.5 * mechanisms.slice_ms);
            self.cold_until = self.cold_until.max(now_s + lost_ms * 1e-3);
        }
        self.frozen = frozen;
    }

    /// Threads that make progress: those of the team that have a context.
    pub fn width(&self) -> u32 {
        if self.frozen {
            return 0;
        }
        if self.region().is_some() { self.team.min(self.contexts).max(1) } else { 1 }
    }

    /// Its speed with no program beside it, in work a second, and its memory traffic.
    pub fn alone(&self, now_s: f64, mechanisms: &Mechanisms, spin_loss: f64) -> (f64, f64) {
        if self.frozen {
            return (0.0, 0.0);
        }
        let busy = if now_s < self.cold_until { 0.0 } else { self.jitter };
        let Some(region) = self.region() else { return (busy, 0.0) };
        let width = self.width();
        let mut speed = region.speedup.at(width) * busy;
        if self.mechanism == Mechanism::Gather && self.natural > width {
            // Members that take turns: 16 on 5 contexts are as fast as on 4.
            speed = region.speedup.part(scaf_policy::steps::counts_as(self.natural, width)) * busy;
        } else if self.team > width && self.mechanism != Mechanism::Park {
            // Threads that take turns on one context end last: 5 on 4 take as long as 8.
            let turns = f64::from(self.team) / f64::from(width);
            speed *= (1.0 - mechanisms.fold_loss) * turns / turns.ceil();
            if self.spec.spins {
                speed /= 1.0 + spin_loss * (turns - 1.0);
            }
        }
        (speed, speed * region.bandwidth)
    }

    /// Seconds until something changes at this speed; infinite if nothing does.
    pub fn until_change(&self, now_s: f64, speed: f64) -> f64 {
        let mut next = f64::INFINITY;
        if now_s < self.cold_until && !self.frozen {
            next = self.cold_until - now_s;
        }
        if let Some((at, _)) = self.pending {
            next = next.min((at - now_s).max(0.0));
        }
        if speed > 0.0 {
            next = next.min(self.left / speed);
            if let Some(region) = self.region()
                && self.next_team(region) != self.team
            {
                next = next.min(self.run_left / speed);
            }
        }
        next
    }

    pub fn advance(&mut self, now_s: f64, dt_s: f64, speed: f64) {
        if self.frozen {
            // A piece that stood still says nothing of the region's speed.
            self.piece.2 = false;
            return;
        }
        let work = (speed * dt_s).min(self.left);
        self.done += work;
        self.left -= work;
        let Some(region) = self.region() else { return };
        let width = self.width();
        let p = f64::from(width);
        let lost = 1.0 - (region.speedup.at(width) / p).min(1.0);
        self.account.parallel_s += dt_s;
        if width != self.next_team(region).min(self.dop.unwrap_or(self.natural)).max(1) {
            self.account.astray_s += dt_s;
        }
        self.account.useful_s += dt_s * p * (1.0 - region.waits * lost);
        self.run_left -= work;
        if self.run_left <= ROUNDING * region.seconds {
            let over = (-self.run_left).max(0.0) % region.seconds;
            self.run_left = region.seconds - over;
        }
        self.end_pieces(now_s, dt_s, speed, work, region, width);
    }

    fn end_pieces(&mut self, now_s: f64, dt_s: f64, speed: f64, work: f64, region: &RegionSpec, width: u32) {
        let size = region.seconds / f64::from(region.marks);
        let (done, started_s, clean) = self.piece;
        let all = done + work;
        let ended = (all / size + ROUNDING * 10.0).floor();
        if ended < 1.0 || speed <= 0.0 {
            self.piece.0 = all;
            return;
        }
        let first_end_s = now_s + ((size - done) / speed).clamp(0.0, dt_s);
        let key = (self.number() as u64, width);
        let more = ended - 1.0;
        if clean || more > 0.0 {
            let row = self.account.pieces.entry(key).or_default();
            if clean {
                *row = (row.0 + 1.0, row.1 + first_end_s - started_s);
            }
            *row = (row.0 + more, row.1 + more * size / speed);
        }
        let begun_s = (first_end_s + more * size / speed).min(now_s + dt_s);
        self.piece = ((all - ended * size).max(0.0), begun_s, true);
    }

    /// Does what is due at `now_s`. True if it left a serial stretch.
    pub fn due(&mut self, now_s: f64) -> bool {
        if let Some((at, contexts)) = self.pending
            && at <= now_s + ROUNDING
        {
            self.pending = None;
            self.take_up(contexts);
        }
        let Some(region) = self.region() else {
            return self.left <= ROUNDING && self.next_step(now_s);
        };
        if self.left <= ROUNDING * region.seconds {
            self.next_step(now_s);
        } else if region.seconds - self.run_left <= ROUNDING * 10.0 * region.seconds
            && self.next_team(region) != self.team
            && self.piece.0 <= ROUNDING * 100.0 * region.seconds
        {
            self.enter_run(now_s, region);
        }
        false
    }

    fn take_up(&mut self, contexts: u32) {
        self.piece.2 &= self.contexts == contexts;
        self.contexts = contexts;
    }

    fn settle(&mut self, now_s: f64) {
        if let Some((_, contexts)) = self.pending.take() {
            self.take_up(contexts);
        }
        self.piece.1 = now_s;
    }

    /// Takes in a grant: a DoP, and as many contexts or more. True if its DoP changed.
    pub fn grant(
        &mut self,
        now_s: f64,
        dop: Option<u32>,
        contexts: Option<u32>,
        pus: Vec<usize>,
        mechanisms: &Mechanisms,
    ) -> bool {
        let contexts = contexts.unwrap_or(self.natural).max(1);
        if !self.pus.is_empty() && self.pus != pus {
            let moved = pus.iter().filter(|pu| !self.pus.contains(pu)).count();
            let share = moved as f64 / pus.len().max(1) as f64;
            self.cold_until = self.cold_until.max(now_s + share * mechanisms.cold_ms * 1e-3);
        }
        let first = self.pus.is_empty();
        self.pus = pus;
        let changed = self.dop != dop;
        self.dop = dop;
        let wanted = self.pending.map_or(self.contexts, |(_, contexts)| contexts);
        if first || self.region().is_none() {
            self.pending = None;
            self.take_up(contexts);
        } else if contexts != wanted {
            let ms = match self.mechanism {
                Mechanism::Park | Mechanism::Gather if self.region().is_some() => mechanisms.chunk_ms,
                _ if contexts < self.contexts => mechanisms.fold_ms,
                _ => mechanisms.unfold_ms,
            };
            self.piece.2 = false;
            self.pending = Some((now_s + ms * 1e-3, contexts));
        }
        changed || first
    }
}
