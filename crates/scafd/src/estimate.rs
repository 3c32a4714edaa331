//! From a program's report page to what the policies need: one [`Interval`] a tick, and a few facts.
//!
//! Every value on the page is the program's to write, so every value is hostile: counters have to grow, no
//! region can have begun before the program attached or run for longer than the time that has passed, and
//! useful time is bounded by the CPU clock. A slot (one master's counters) that breaks these rules counts for
//! nothing in that interval. So a program can only lower its own estimate, or claim full efficiency, as if
//! unmeasured. A region that runs at the reading counts with its part so far. That is optimistic; when the
//! region's own account is lower, the difference is subtracted from what follows.

use crate::observe::clock::Tsc;
use scaf_policy::efficiency::Interval;
use scaf_proto::report::{NAME_BYTES, SLOTS, SlotCopy, Totals, fact};
use scaf_team::choice::Mechanism;
use scaf_team::gather::obstacle::Obstacle;
use scaf_team::permission::Permission;

/// A page as [`scaf_proto::report::ReportPage::read`] copies it.
pub type Page = (Totals, [Option<SlotCopy>; SLOTS]);

/// What one reading of a page says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Seen {
    pub interval: Interval,
    /// Threads in the teams that run now, else in the latest one; 0 if there was none yet.
    pub team: u32,
    pub in_region: bool,
    /// Threads of the latest region of the latest master.
    pub last_team: u32,
    /// When that master first had a team of that size, in ticks; not after the reading.
    pub team_since: u64,
    /// Regions left since the program attached.
    pub regions: u64,
    /// Those of them whose team size the program fixed.
    pub promised: u64,
    /// Changes whenever a region or a wait has ended.
    pub progress: u64,
    /// Team size that the program would have without us; 0 if it doesn't say.
    pub natural: u32,
    /// How the latest region follows the grant, as the client reports; `None` before the first.
    pub mechanism: Option<Mechanism>,
    /// Who permits its teams to be resized, as the client reports for its latest region.
    pub permission: Option<Permission>,
    /// Why its teams aren't gathered, as the client reports,
    pub ungathered: Option<Obstacle>,
    /// and the name of the function that forbids it.
    pub forbids: [u8; NAME_BYTES],
    /// Whether all its loops that spin on memory yield where it has fewer contexts than threads.
    pub yields: bool,
    /// Slots that broke the rules in this reading.
    pub hostile: u32,
}

/// What may be believed of the time since the last reading.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Contexts that the program had, on average, at least 1.
    pub p: f64,
    /// CPU time by its clock, in seconds.
    pub cpu_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    copy: SlotCopy,
    at: u64,
    /// Wall and useful ticks credited so far, those of regions in flight included.
    wall: u64,
    useful: u64,
}

/// The memory between two readings of one program's page.
#[derive(Clone, Debug)]
pub struct Meter {
    attached: u64,
    last: u64,
    accounts: [Account; SLOTS],
}

/// Team sizes above this are nonsense.
const MOST_THREADS: u32 = 65_535;

impl Meter {
    /// A meter for a program that attached at tick `now`.
    pub fn new(now: u64) -> Meter {
        Meter { attached: now, last: now, accounts: [Account { at: now, ..Account::default() }; SLOTS] }
    }

    pub fn read(&mut self, now: u64, page: &Page, bounds: Bounds, tsc: &Tsc) -> Seen {
        let (mut wall, mut useful, mut hostile) = (0u64, 0u64, 0);
        for (account, copy) in self.accounts.iter_mut().zip(&page.1) {
            let Some(copy) = copy else { continue };
            match account.advance(copy, now, self.attached) {
                Some((w, u)) => {
                    wall = wall.saturating_add(w);
                    useful = useful.saturating_add(u);
                }
                None => hostile += 1,
            }
        }
        let dt_s = tsc.seconds(now.saturating_sub(self.last));
        self.last = now;
        let p = if bounds.p.is_finite() { bounds.p.max(1.0) } else { 1.0 };
        let parallel_s = tsc.seconds(wall).min(dt_s);
        let mut useful_s = tsc.seconds(useful).min(p * parallel_s);
        if let Some(cpu_s) = bounds.cpu_s {
            useful_s = useful_s.min(cpu_s.max(0.0));
        }
        if p <= 1.0 {
            useful_s = parallel_s;
        }
        Seen { interval: Interval { dt_s, p, parallel_s, useful_s }, hostile, ..self.look(now, page) }
    }

    /// Restarts the interval, because the DoP changes between two ticks.
    pub fn restart(&mut self, now: u64, page: &Page, tsc: &Tsc) {
        self.read(now, page, Bounds { p: 1.0, cpu_s: None }, tsc);
    }

    /// The facts on a page, without an interval.
    pub fn look(&self, now: u64, page: &Page) -> Seen {
        let copies = || page.1.iter().zip(&self.accounts).map(|(new, old)| new.unwrap_or(old.copy));
        let running =
            copies().map(|c| c.team.min(MOST_THREADS)).fold(0, u32::saturating_add).min(MOST_THREADS);
        let latest = copies().max_by_key(|c| (c.entered.min(now), c.team_since.min(now))).unwrap_or_default();
        let last_team = latest.last_team.min(MOST_THREADS);
        let natural = page.0.natural;
        Seen {
            interval: Interval { dt_s: 0.0, p: 1.0, parallel_s: 0.0, useful_s: 0.0 },
            team: if running > 0 { running } else { last_team },
            in_region: running > 0,
            last_team,
            team_since: latest.team_since.clamp(self.attached.min(now), now),
            regions: copies().map(|c| c.regions).fold(0, u64::saturating_add),
            promised: copies().map(|c| c.promised).fold(0, u64::saturating_add),
            progress: copies().map(|c| c.regions.wrapping_add(c.waits)).fold(0, u64::wrapping_add),
            natural: if natural <= MOST_THREADS { natural } else { 0 },
            mechanism: Mechanism::from_number(latest.mechanism),
            permission: Permission::from_number(page.0.permission),
            ungathered: Obstacle::from_number(page.0.ungathered),
            forbids: page.0.forbids,
            yields: page.0.facts & fact::YIELDS != 0,
            hostile: 0,
        }
    }
}

impl Account {
    /// The wall and useful ticks since the last reading; `None` if the slot breaks the rules.
    fn advance(&mut self, copy: &SlotCopy, now: u64, attached: u64) -> Option<(u64, u64)> {
        let last = self.copy;
        let dt = now.saturating_sub(self.at);
        let (wall, useful) = totals(copy, now, attached);
        let grows = copy.regions >= last.regions
            && copy.promised >= last.promised
            && copy.wall >= last.wall
            && copy.useful >= last.useful
            && copy.waits >= last.waits;
        let possible = copy.wall - last.wall.min(copy.wall) <= now.saturating_sub(attached)
            && copy.team <= MOST_THREADS
            && (copy.team == 0 || copy.entered <= now);
        self.copy = *copy;
        self.at = now;
        if !grows || !possible {
            (self.wall, self.useful) = (wall, useful);
            return None;
        }
        let credit = |credited: &mut u64, total: u64, most: u64| {
            let new = total.saturating_sub(*credited);
            *credited = (*credited).max(total);
            new.min(most)
        };
        let wall = credit(&mut self.wall, wall, dt);
        let team = u64::from(MOST_THREADS);
        Some((wall, credit(&mut self.useful, useful, wall.saturating_mul(team))))
    }
}

/// Wall and useful ticks up to `now`, with the part of a region in flight.
fn totals(copy: &SlotCopy, now: u64, attached: u64) -> (u64, u64) {
    if copy.team == 0 {
        return (copy.wall, copy.useful);
    }
    let so_far = now.saturating_sub(copy.entered.max(attached));
    let waited = copy.waits.saturating_sub(copy.waits_at_entry);
    let inside = so_far.saturating_mul(u64::from(copy.team.min(MOST_THREADS)));
    (copy.wall.saturating_add(so_far), copy.useful.saturating_add(inside.saturating_sub(waited)))
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
