//! From event to event: jobs come, and the next job of a node ends. In between each job goes on at one speed.

use super::division::{Divider, Kind};
use super::queue::{Queue, Rooms, Taken};
use super::{Job, Setting, Sharing};
use crate::mixes::Curve;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A job with less left than this has ended; times are rounded to less than this for years.
const ROUNDING_S: f64 = 1e-6;

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ended {
    /// When it started, in seconds.
    pub started_s: f64,
    /// When it ended, in seconds.
    pub ended_s: f64,
    /// The node it ran on.
    pub node: u32,
    /// Contexts times seconds that it had.
    pub had: f64,
    /// What was done of it: its run time, but for rounding.
    pub done_s: f64,
}

#[derive(Clone, Copy)]
struct Live {
    job: u32,
    kind: Kind,
    /// Contexts that nobody else may ask for.
    takes: u32,
    started_s: f64,
    /// Seconds that it would take on what it asked for.
    left_s: f64,
    speed: f64,
    dop: u32,
    had: f64,
}

#[derive(Default)]
struct Node {
    /// In the order of kinds, as the division has them.
    live: Vec<Live>,
    since_s: f64,
    /// Events of earlier versions are void.
    version: u32,
    /// Whether it is kept for a job.
    kept: bool,
}

impl Node {
    fn taken(&self) -> Taken {
        Taken { asked: self.live.iter().map(|live| live.takes).sum(), jobs: self.live.len() as u32 }
    }

    fn advance(&mut self, now_s: f64) {
        let dt_s = now_s - self.since_s;
        for live in &mut self.live {
            live.left_s -= dt_s * live.speed;
            live.had += dt_s * f64::from(live.dop);
        }
        self.since_s = now_s;
    }

    /// When it will have room for a job, if nobody else comes and speeds stay.
    fn room_at_s(&self, asks: u32, rooms: &Rooms, ends: &mut Vec<(f64, u32)>) -> f64 {
        let mut taken = self.taken();
        if rooms.fits(asks, taken) {
            return self.since_s;
        }
        ends.clear();
        ends.extend(self.live.iter().map(|live| (self.since_s + live.left_s / live.speed, live.takes)));
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (end_s, asked) in ends.iter() {
            taken = Taken { asked: taken.asked - asked, jobs: taken.jobs - 1 };
            if rooms.fits(asks, taken) {
                return *end_s;
            }
        }
        f64::INFINITY
    }
}

#[derive(PartialEq)]
struct End {
    at_s: f64,
    node: u32,
    version: u32,
}

impl Eq for End {}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &End) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for End {
    fn cmp(&self, other: &End) -> Ordering {
        self.at_s
            .total_cmp(&other.at_s)
            .then(self.node.cmp(&other.node))
            .then(self.version.cmp(&other.version))
    }
}

struct Cluster<'a> {
    setting: &'a Setting,
    jobs: &'a [Job],
    divider: Divider<'a>,
    nodes: Vec<Node>,
    rooms: Rooms,
    queue: Queue,
    ends: BinaryHeap<Reverse<End>>,
    ended: Vec<Option<Ended>>,
    scratch: Vec<(f64, u32)>,
}

/// What becomes of `jobs`, which are in the order of their arrivals, in their order.
pub fn simulate(setting: &Setting, curves: &[Curve], jobs: &[Job], sharing: Sharing) -> Vec<Ended> {
    let contexts = setting.contexts.max(1);
    let limit = match sharing {
        Sharing::Policy(_) => contexts * setting.oversubscription.max(1),
        _ => contexts,
    };
    let nodes = setting.nodes.max(1);
    let mut cluster = Cluster {
        setting,
        jobs,
        divider: Divider::new(sharing, contexts, curves),
        nodes: (0..nodes).map(|_| Node::default()).collect(),
        rooms: Rooms::new(nodes, contexts, limit),
        queue: Queue::default(),
        ends: BinaryHeap::new(),
        ended: vec![None; jobs.len()],
        scratch: Vec::new(),
    };
    let mut coming = (0..jobs.len() as u32).peekable();
    loop {
        let end_s = cluster.ends.peek().map_or(f64::INFINITY, |Reverse(end)| end.at_s);
        match coming.peek() {
            Some(job) if jobs[*job as usize].arrives_s < end_s => {
                cluster.arrive(*job);
                coming.next();
            }
            _ => match cluster.ends.pop() {
                Some(Reverse(end)) => cluster.end(&end),
                None => break,
            },
        }
    }
    // Every job fits an empty node, so none is left.
    cluster.ended.into_iter().flatten().collect()
}

impl Cluster<'_> {
    fn takes(&self, job: u32) -> u32 {
        self.divider.takes(&self.jobs[job as usize])
    }

    fn place(&self, job: u32) -> Option<u32> {
        self.rooms.find(self.takes(job), |node| self.nodes[node as usize].taken())
    }

    fn arrive(&mut self, job: u32) {
        let now_s = self.jobs[job as usize].arrives_s;
        let place = if self.queue.is_full() { None } else { self.place(job) };
        match place {
            Some(node) => self.start(job, node, now_s),
            None => {
                self.queue.others.push_back(job);
                self.keep_nodes(now_s);
            }
        }
    }

    fn end(&mut self, end: &End) {
        let node = &mut self.nodes[end.node as usize];
        if node.version != end.version {
            return;
        }
        let before = node.taken();
        node.advance(end.at_s);
        let (jobs, ended) = (self.jobs, &mut self.ended);
        node.live.retain(|live| {
            let over = live.left_s <= ROUNDING_S;
            if over {
                ended[live.job as usize] = Some(Ended {
                    started_s: live.started_s,
                    ended_s: end.at_s,
                    node: end.node,
                    had: live.had,
                    done_s: jobs[live.job as usize].run_s - live.left_s,
                });
            }
            !over
        });
        self.changed(end.node, before);
        self.fill(end.node, end.at_s);
        self.keep_nodes(end.at_s);
    }

    /// Starts jobs that wait on a node where others have ended, and on those that are kept no longer.
    fn fill(&mut self, node: u32, now_s: f64) {
        let mut free = vec![node];
        while let Some(node) = free.pop() {
            loop {
                let (taken, is_kept) = (self.nodes[node as usize].taken(), self.nodes[node as usize].kept);
                let (rooms, divider, jobs) = (&self.rooms, &self.divider, self.jobs);
                let fits = |job: u32| rooms.fits(divider.takes(&jobs[job as usize]), taken);
                let kept = self.queue.take_kept(|job, its| (its == node || !is_kept) && fits(job));
                let other = if kept.is_some() || is_kept { None } else { self.queue.take_other(fits) };
                if let Some((job, its)) = kept {
                    self.nodes[its as usize].kept = false;
                    self.rooms.add(its, self.nodes[its as usize].taken());
                    self.start(job, node, now_s);
                    if its != node {
                        free.push(its);
                    }
                } else if let Some(job) = other {
                    self.start(job, node, now_s);
                } else {
                    break;
                }
            }
        }
    }

    /// Keeps nodes for jobs at the head of the queue.
    fn keep_nodes(&mut self, now_s: f64) {
        while let Some(job) = self.queue.unkept() {
            // One that came while the queue was long hasn't been looked at.
            if let Some(node) = self.place(job) {
                self.queue.others.pop_front();
                self.start(job, node, now_s);
                continue;
            }
            let takes = self.takes(job);
            let mut best: Option<(f64, u32)> = None;
            for (node, at) in self.nodes.iter().zip(0..).filter(|(node, _)| !node.kept) {
                let room_at_s = node.room_at_s(takes, &self.rooms, &mut self.scratch);
                if best.is_none_or(|(best_s, _)| room_at_s < best_s) {
                    best = Some((room_at_s, at));
                }
            }
            let Some((_, node)) = best else { return };
            self.rooms.remove(node, self.nodes[node as usize].taken());
            self.nodes[node as usize].kept = true;
            self.queue.keep(node);
        }
    }

    fn start(&mut self, job: u32, at: u32, now_s: f64) {
        let spec = &self.jobs[job as usize];
        let (kind, takes) = (self.divider.kind(spec), self.divider.takes(spec));
        let live = Live {
            job,
            kind,
            takes,
            started_s: now_s,
            left_s: spec.run_s,
            speed: 1.0,
            dop: kind.1,
            had: 0.0,
        };
        let node = &mut self.nodes[at as usize];
        let before = node.taken();
        node.advance(now_s);
        let place = node.live.partition_point(|other| (other.kind, other.job) < (kind, job));
        node.live.insert(place, live);
        self.changed(at, before);
    }

    /// Divides a node anew.
    fn changed(&mut self, at: u32, before: Taken) {
        let node = &mut self.nodes[at as usize];
        if !node.kept {
            self.rooms.remove(at, before);
            self.rooms.add(at, node.taken());
        }
        node.version += 1;
        let kinds: Vec<Kind> = node.live.iter().map(|live| live.kind).collect();
        let dops = self.divider.divide(&kinds);
        let all: u32 = dops.iter().sum();
        let mut first_s = f64::INFINITY;
        for (live, dop) in node.live.iter_mut().zip(dops) {
            let others = f64::from(all - dop) / f64::from(self.setting.contexts);
            let alone = self.divider.speed(&self.jobs[live.job as usize], dop);
            live.speed = alone / (1.0 + self.setting.partner_loss * others);
            live.dop = dop;
            first_s = first_s.min(live.left_s / live.speed);
        }
        if first_s.is_finite() {
            let at_s = node.since_s + first_s.max(0.0);
            self.ends.push(Reverse(End { at_s, node: at, version: node.version }));
        }
    }
}
