//! Programs' contexts over time, one upon the other, and what happened: the numbers of a picture.

use super::super::clock;
use super::sampler::Sample;

/// What was sampled while a mix ran.
pub struct Trace {
    pub config: String,
    pub start_ns: u64,
    pub samples: Vec<Sample>,
}

impl Trace {
    /// Seconds until the last sample.
    pub fn length(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| self.seconds(sample.now_ns))
    }

    fn seconds(&self, ns: u64) -> f64 {
        clock::seconds(self.start_ns, ns.max(self.start_ns))
    }
}

/// Something that happened; programs by their places in the mix.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    Arrival(usize),
    Departure(usize),
    Policy(String),
}

/// Contexts of each program from each time to the next, in seconds, and what happened.
pub struct Stack {
    steps: Vec<(f64, Vec<u32>)>,
    end: f64,
    marks: Vec<(f64, Mark)>,
}

impl Stack {
    pub fn of(trace: &Trace, names: &[&str]) -> Stack {
        let mut stack = Stack { steps: Vec::new(), end: trace.length(), marks: Vec::new() };
        let mut before: Option<&Sample> = None;
        for sample in &trace.samples {
            let dops: Vec<u32> =
                names.iter().map(|name| sample.program(name).and_then(|it| it.dop).unwrap_or(0)).collect();
            if stack.steps.last().is_none_or(|step| step.1 != dops) {
                let at = trace.seconds(changed_ns(before, sample));
                stack.steps.push((at, dops));
            }
            for (index, name) in names.iter().enumerate() {
                let id = |of: Option<&Sample>| of.and_then(|of| of.program(name)).map(|point| point.id);
                let (was, is) = (id(before), id(Some(sample)));
                if was != is && was.is_some() {
                    stack.marks.push((trace.seconds(sample.now_ns), Mark::Departure(index)));
                }
                if was != is
                    && let Some(point) = sample.program(name)
                {
                    stack.marks.push((trace.seconds(point.attached_ns), Mark::Arrival(index)));
                }
            }
            if before.is_some_and(|before| before.policy != sample.policy) {
                stack.marks.push((trace.seconds(sample.now_ns), Mark::Policy(sample.policy.clone())));
            }
            before = Some(sample);
        }
        stack
    }

    /// First and last second.
    pub fn span(&self) -> (f64, f64) {
        (self.steps.first().map_or(0.0, |step| step.0), self.end)
    }

    /// Most contexts of all programs together.
    pub fn top(&self) -> f64 {
        self.steps.iter().map(|step| step.1.iter().map(|dop| f64::from(*dop)).sum()).fold(0.0, f64::max)
    }

    pub fn marks(&self) -> &[(f64, Mark)] {
        &self.marks
    }

    /// The outline of what the program at that place has, on top of those before it: there along its upper
    /// edge, back along the lower one.
    pub fn band(&self, index: usize) -> Vec<(f64, f64)> {
        let sum = |dops: &[u32], programs: usize| -> f64 {
            dops.iter().take(programs).map(|it| f64::from(*it)).sum()
        };
        let edge = |programs: usize| -> Vec<(f64, f64)> {
            let ends = self.steps.iter().skip(1).map(|step| step.0).chain([self.end]);
            let steps = self.steps.iter().zip(ends);
            steps
                .flat_map(|((from, dops), to)| {
                    [(*from, sum(dops, programs)), (to.max(*from), sum(dops, programs))]
                })
                .collect()
        };
        let mut outline = edge(index + 1);
        outline.extend(edge(index).into_iter().rev());
        outline
    }
}

/// When what differs between two samples was granted, within the time between them.
fn changed_ns(before: Option<&Sample>, now: &Sample) -> u64 {
    let granted = now.programs.iter().map(|point| point.granted_ns).max().unwrap_or(now.now_ns);
    match before {
        Some(before) if granted > before.now_ns => granted.min(now.now_ns),
        Some(_) => now.now_ns,
        None => granted.min(now.now_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sampler::Point;
    use super::*;

    fn sample(now_s: f64, programs: &[(&str, u64, Option<u32>, f64)]) -> Sample {
        let ns = |s: f64| (s * 1e9) as u64;
        let point = |&(name, id, dop, granted_s): &(&str, u64, Option<u32>, f64)| Point {
            id,
            name: name.into(),
            dop,
            attached_ns: ns(granted_s),
            granted_ns: ns(granted_s),
            effective_ns: None,
        };
        let policy = if now_s < 3.5 { "equi" } else { "curve" }.into();
        Sample { now_ns: ns(now_s), policy, programs: programs.iter().map(point).collect() }
    }

    fn stack() -> Stack {
        let samples = vec![
            sample(1.0, &[("a", 1, Some(4), 0.5)]),
            sample(2.0, &[("a", 1, Some(3), 1.5), ("b", 2, Some(1), 1.5)]),
            sample(3.0, &[("a", 1, Some(3), 1.5), ("b", 2, Some(1), 1.5)]),
            sample(4.0, &[("b", 2, None, 1.5)]),
        ];
        Stack::of(&Trace { config: "equi".into(), start_ns: 0, samples }, &["a", "b"])
    }

    #[test]
    fn bands_lie_on_each_other_and_step_where_grants_changed() {
        let stack = stack();
        let below = [(0.5, 4.0), (1.5, 4.0), (1.5, 3.0), (4.0, 3.0), (4.0, 0.0), (4.0, 0.0)];
        let band = stack.band(0);
        assert_eq!(band[..6], below);
        assert!(band[6..].iter().all(|point| point.1 == 0.0));
        let above = stack.band(1);
        assert_eq!(above[2..4], [(1.5, 4.0), (4.0, 4.0)]);
        assert!(above[6..].iter().rev().eq(below.iter()));
        assert_eq!((stack.top(), stack.span()), (4.0, (0.5, 4.0)));
    }

    #[test]
    fn arrivals_departures_and_changes_of_policy_are_marked() {
        let marks = [
            (0.5, Mark::Arrival(0)),
            (1.5, Mark::Arrival(1)),
            (4.0, Mark::Departure(0)),
            (4.0, Mark::Policy("curve".into())),
        ];
        assert_eq!(stack().marks(), marks);
    }

    #[test]
    fn nothing_gives_an_empty_picture() {
        let stack = Stack::of(&Trace { config: "x".into(), start_ns: 0, samples: vec![] }, &["a"]);
        assert!(stack.band(0).is_empty() && stack.marks().is_empty());
    }
}
