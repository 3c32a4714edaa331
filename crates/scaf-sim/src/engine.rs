//! The simulation: from event to event on a virtual clock. Events are arrivals, ends of serial stretches and
//! regions, grants that come into effect, and the daemon's ticks; between two events every program has one
//! speed. As in scafd, decisions are made at ticks, and when programs come, go or need lent contexts back.

mod places;

use crate::contention::Shared;
use crate::outcome::{Outcome, ProgramOutcome, Step};
use crate::running::Running;
use crate::scenario::{ProgramSpec, Scenario};
use crate::turns::Turns;
use crate::watch::Watch;
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{Allocation, Decision, Dop, Machine, Policy, Program, ProgramId, Topology, allocate};

/// Shortest serial stretch whose contexts are worth lending, in seconds.
const SERIAL_S: f64 = 0.1;
/// Relative error of a program's profile.
const PROFILE_ERROR: f64 = 0.02;
/// Events this close together are one, in seconds.
const TOGETHER_S: f64 = 1e-9;
/// Time constant of the load average of 15 minutes, in seconds.
const LOAD_S: f64 = 900.0;

/// How to simulate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The seed of all randomness.
    pub seed: u64,
    /// Whether decisions are kept, as `scaf record` would.
    pub record: bool,
}

/// Simulates a scenario on a topology (mostly [`Scenario::topology`]) under a policy without memory.
pub fn simulate(
    scenario: &Scenario,
    topology: &Topology,
    policy: &mut dyn Policy,
    options: Options,
) -> Outcome {
    let mut simulation = Simulation::new(scenario, topology, policy, options);
    simulation.run();
    simulation.outcome()
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    units: Vec<u32>,
    policy: &'a mut dyn Policy,
    options: Options,
    shared: Shared<'a>,
    random: ChaCha8Rng,
    now_s: f64,
    next_tick_s: f64,
    /// When a lent program is to have its contexts back.
    wake_s: Option<f64>,
    /// Programs that haven't come yet, the next one last.
    to_come: Vec<usize>,
    running: Vec<Running<'a>>,
    watches: Vec<Watch>,
    turns: Turns,
    /// The system's recent load: libgomp's measure for too many threads.
    load: f64,
    lent: Vec<ProgramId>,
    ended: Vec<Option<ProgramOutcome>>,
    steps: Vec<Step>,
    changes: u64,
    decisions: Vec<Decision>,
    decided: u64,
    busy_s: f64,
    context_s: f64,
    most_busy: f64,
    /// When all programs had come and the work done by then; then their rate until the first left.
    together_since: Option<(f64, f64)>,
    together: Option<f64>,
}

impl<'a> Simulation<'a> {
    fn new(
        scenario: &'a Scenario,
        topology: &'a Topology,
        policy: &'a mut dyn Policy,
        options: Options,
    ) -> Simulation<'a> {
        let mut to_come: Vec<usize> = (0..scenario.programs.len()).collect();
        let arrives = |i: &usize| scenario.programs[*i].arrives_s;
        to_come.sort_by(|a, b| arrives(b).total_cmp(&arrives(a)).then(b.cmp(a)));
        Simulation {
            scenario,
            topology,
            units: topology.units(),
            policy,
            options,
            shared: Shared::new(topology, &scenario.contention, &scenario.mechanisms),
            random: ChaCha8Rng::seed_from_u64(options.seed),
            now_s: 0.0,
            next_tick_s: 0.0,
            wake_s: None,
            to_come,
            running: Vec::new(),
            watches: Vec::new(),
            turns: Turns::default(),
            load: 0.0,
            lent: Vec::new(),
            ended: vec![None; scenario.programs.len()],
            steps: Vec::new(),
            changes: 0,
            decisions: Vec::new(),
            decided: 0,
            busy_s: 0.0,
            context_s: 0.0,
            most_busy: 0.0,
            together_since: None,
            together: None,
        }
    }

    fn period_s(&self) -> f64 {
        let rate_hz = self.policy.rate_hz().unwrap_or(self.scenario.daemon.rate_hz);
        1.0 / rate_hz.clamp(0.01, 1e4)
    }

    fn next_arrival_s(&self) -> Option<f64> {
        self.to_come.last().map(|i| self.scenario.programs[*i].arrives_s)
    }

    fn run(&mut self) {
        loop {
            if self.running.is_empty() {
                let Some(next_s) = self.next_arrival_s() else { return };
                self.now_s = self.now_s.max(next_s);
                self.next_tick_s = self.now_s + self.period_s();
                self.wake_s = None;
            }
            let came = self.arrive();
            if came {
                self.decide();
                for program in self.running.iter_mut().filter(|p| p.arrived_s == self.now_s) {
                    program.start(self.now_s);
                }
            }
            self.go_on();
            let tick = self.now_s >= self.next_tick_s - TOGETHER_S;
            if tick {
                self.tick();
            }
            let left = self.depart();
            let woken = self.wake_s.is_some_and(|at| at <= self.now_s + TOGETHER_S);
            if (tick || left || woken) && !self.running.is_empty() {
                self.decide();
            }
        }
    }

    /// Adds the programs that come now. True if there are any.
    fn arrive(&mut self) -> bool {
        let before = self.running.len();
        while self.next_arrival_s().is_some_and(|at| at <= self.now_s + TOGETHER_S) {
            let Some(i) = self.to_come.pop() else { break };
            let spec = &self.scenario.programs[i];
            let contexts = self.topology.pus.len() as u32;
            let natural = spec.natural.unwrap_or(contexts).clamp(1, contexts.max(1));
            // Numbered by the order in the file, so that outcomes find their place.
            let program = Running::new(spec, ProgramId(i as u64 + 1), self.now_s, natural);
            self.running.push(program);
            self.watches.push(Watch::new(self.now_s, self.scenario.daemon.rc_s, natural));
        }
        if self.to_come.is_empty()
            && self.running.len() == self.scenario.programs.len()
            && self.together_since.is_none()
        {
            self.together_since = Some((self.now_s, self.running.iter().map(|program| program.done).sum()));
        }
        self.running.len() > before
    }

    fn go_on(&mut self) {
        let speeds = self.shared.speeds(self.now_s, &self.running);
        let mut dt_s = self.next_tick_s - self.now_s;
        for at in [self.next_arrival_s(), self.wake_s, self.turns.end_s()].into_iter().flatten() {
            dt_s = dt_s.min(at - self.now_s);
        }
        for (program, speed) in self.running.iter().zip(&speeds.speeds) {
            dt_s = dt_s.min(program.until_change(self.now_s, *speed));
        }
        let dt_s = dt_s.max(0.0);
        for (program, speed) in self.running.iter_mut().zip(&speeds.speeds) {
            program.advance(self.now_s, dt_s, *speed);
        }
        self.busy_s += speeds.busy * dt_s;
        self.context_s += self.topology.pus.len() as f64 * dt_s;
        self.most_busy = self.most_busy.max(speeds.busy);
        self.now_s += dt_s;
        if self.turns.end_s().is_some_and(|at| at <= self.now_s + TOGETHER_S) {
            self.turns.next(self.now_s, &self.scenario.mechanisms);
            self.turns.take(self.now_s, &mut self.running, &self.scenario.mechanisms);
        }
        let lent = &self.lent;
        for program in &mut self.running {
            if program.due(self.now_s) && lent.contains(&program.id) && self.wake_s.is_none() {
                self.wake_s = Some(self.now_s + self.scenario.mechanisms.wake_ms * 1e-3);
            }
        }
    }

    fn tick(&mut self) {
        self.next_tick_s = self.now_s + self.period_s();
        if self.scenario.daemon.load_adaptive {
            self.adapt_to_load();
        }
        let lends = self.policy.lends();
        for (program, watch) in self.running.iter_mut().zip(&mut self.watches) {
            let account = std::mem::take(&mut program.account);
            let dop = program.dop.unwrap_or(program.natural);
            let lent = lends
                && dop <= program.spec.min.max(1)
                && dop < program.natural
                && self.lent.contains(&program.id);
            watch.look(self.now_s, dop, lent, account);
        }
        let noise = self.scenario.noise_pct / 100.0;
        if noise > 0.0 {
            for program in &mut self.running {
                // Twelve uniform numbers make a normal one, bounded at six deviations.
                let normal: f64 = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
                program.jitter = (noise * normal).exp();
            }
        }
    }

    /// libgomp's OMP_DYNAMIC: a team has the program's threads less the load of the last 15 minutes.
    fn adapt_to_load(&mut self) {
        let threads: u32 = self.running.iter().map(Running::width).sum();
        let share = 1.0 - (-self.period_s() / LOAD_S).exp();
        self.load += share * (f64::from(threads) - self.load);
        for program in &mut self.running {
            program.wish = (f64::from(program.natural) - (self.load + 0.1).floor()).max(1.0) as u32;
        }
    }

    fn depart(&mut self) -> bool {
        let before = self.running.len();
        if self.running.iter().any(|program| program.ended) {
            self.note_together();
        }
        for at in (0..self.running.len()).rev() {
            if self.running[at].ended {
                let program = self.running.remove(at);
                self.watches.remove(at);
                self.ended[program.id.0 as usize - 1] = Some(self.outcome_of(&program));
                self.steps.push(Step { at_s: self.now_s, program: program.id.0, contexts: 0 });
            }
        }
        self.running.len() < before
    }

    fn note_together(&mut self) {
        if let (Some((since_s, before)), None) = (self.together_since, self.together)
            && self.now_s > since_s
        {
            let done: f64 = self.running.iter().map(|program| program.done).sum();
            self.together = Some((done - before) / (self.now_s - since_s));
        }
    }

    fn outcome_of(&self, program: &Running) -> ProgramOutcome {
        let spec = program.spec;
        let time_s = self.now_s - program.arrived_s;
        ProgramOutcome {
            name: spec.name.clone(),
            arrived_s: program.arrived_s,
            ended_s: self.now_s,
            work_s: spec.work_s(),
            done_s: program.done,
            speedup: spec.work_s() / time_s,
            slowdown: time_s / spec.time_s(program.natural),
        }
    }

    fn request(&self, program: &Running, watch: &Watch) -> Program {
        let judged = watch.judged();
        let spec = program.spec;
        let serial = watch.has_begun()
            && program.serial_since().is_some_and(|since_s| self.now_s - since_s >= SERIAL_S - TOGETHER_S);
        Program {
            id: program.id,
            tree: 0,
            user: spec.user,
            min: spec.min,
            max: spec.max.unwrap_or(u32::MAX),
            weight: spec.weight,
            natural: program.natural,
            dop: judged.map_or(program.dop.unwrap_or(0), |(dop, _)| dop),
            efficiency: judged.map(|(_, efficiency)| efficiency),
            curve: watch.curve(),
            profile: if self.scenario.daemon.profiles { profile(spec, program.natural) } else { Vec::new() },
            serial,
            idle: false,
            background: false,
            team: program.late_team(),
            fixed_team: program.fixed_team(),
            rigid: spec.rigid,
        }
    }

    fn decide(&mut self) {
        self.wake_s = None;
        let requests: Vec<Program> = self
            .running
            .iter()
            .zip(&self.watches)
            .map(|(program, watch)| self.request(program, watch))
            .collect();
        let capacity = self.scenario.capacity_at(self.now_s, self.topology.pus.len() as u32);
        let (now_s, units) = (self.now_s, self.units.clone());
        let (gang, users) = (self.scenario.daemon.gang, self.scenario.daemon.users);
        let machine = Machine { capacity, now_s, units, gang, users };
        let allocation = allocate(self.policy, &machine, &requests);
        self.decided += 1;
        let lends = |request: &&Program| self.policy.lends() && request.serial;
        self.lent = requests.iter().filter(lends).map(|request| request.id).collect();
        let dops: Vec<Option<u32>> =
            self.running.iter().map(|program| granted(&allocation, program.id)).collect();
        let sets = self.places(&dops, &allocation);
        let all_at_once = self.scenario.daemon.all_at_once;
        for (i, set) in sets.into_iter().enumerate() {
            let (program, watch) = (&mut self.running[i], &mut self.watches[i]);
            let first = program.pus.is_empty();
            let contexts = allocation.contexts(program.id);
            if program.grant(self.now_s, dops[i], contexts, set, &self.scenario.mechanisms) {
                watch.restart(self.now_s, &mut program.account);
                self.changes += u64::from(!first);
                let contexts = dops[i].unwrap_or(program.natural);
                self.steps.push(Step { at_s: self.now_s, program: program.id.0, contexts });
            }
        }
        self.turns.decided(
            self.now_s,
            if all_at_once { &[] } else { &allocation.turns },
            &self.scenario.mechanisms,
        );
        self.turns.take(self.now_s, &mut self.running, &self.scenario.mechanisms);
        if self.options.record {
            let (number, policy) = (self.decided, self.policy.name().to_owned());
            self.decisions.push(Decision { number, policy, machine, programs: requests, allocation });
        }
    }

    fn outcome(self) -> Outcome {
        let programs: Vec<ProgramOutcome> = self.ended.into_iter().flatten().collect();
        Outcome {
            policy: self.policy.name().to_owned(),
            seed: self.options.seed,
            programs,
            changes: self.changes,
            decisions: self.decided,
            busy_pct: if self.context_s > 0.0 { 100.0 * self.busy_s / self.context_s } else { 0.0 },
            most_busy: self.most_busy,
            occupied_s: self.context_s / self.topology.pus.len().max(1) as f64,
            stp_together: self.together,
            steps: self.steps,
            recorded: self.decisions,
        }
    }
}

fn granted(allocation: &Allocation, id: ProgramId) -> Option<u32> {
    match allocation.shares.iter().find(|share| share.id == id)?.dop {
        Dop::Contexts(dop) => Some(dop.max(1)),
        Dop::Unmanaged => None,
    }
}

/// A program's speedup alone, as measured at every DoP beforehand.
fn profile(spec: &ProgramSpec, natural: u32) -> Vec<Measured> {
    let point = |dop| Measured { dop, speedup: Estimate { value: spec.speedup(dop), error: PROFILE_ERROR } };
    (1..=natural).map(point).collect()
}
