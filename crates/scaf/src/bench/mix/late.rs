//! How fast an arrival and a departure take effect on a program that runs already.
//!
//! *Shrink* is the time from the late program's attachment until the first program's smaller DoP is in
//! effect. *Grow* is the time from the late program's end until the first program's larger DoP is in effect.
//! Both use the daemon's own times ([`Point::effective_ns`]), so the sampling period doesn't matter.

use super::sampler::{Point, Sample};

/// Milliseconds; `None` where it didn't happen while it was watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Late {
    pub shrink_ms: Option<f64>,
    pub grow_ms: Option<f64>,
}

/// `first` runs already when `late` arrives, and `late` ended at `late_end_ns`.
pub fn late(samples: &[Sample], first: &str, late: &str, late_end_ns: Option<u64>) -> Late {
    Late {
        shrink_ms: shrink(samples, first, late),
        grow_ms: late_end_ns.and_then(|end| grow(samples, first, late, end)),
    }
}

fn shrink(samples: &[Sample], first: &str, late: &str) -> Option<f64> {
    let arrival = samples.iter().position(|sample| sample.program(late).is_some())?;
    let attached_ns = samples[arrival].program(late)?.attached_ns;
    let before = samples[..arrival].iter().rev().find_map(|sample| sample.program(first))?;
    let wide = before.dop?;
    let effective_ns = effective(&samples[arrival..], first, before.id, |dop| dop < wide)?;
    Some(milliseconds(attached_ns, effective_ns))
}

fn grow(samples: &[Sample], first: &str, late: &str, end_ns: u64) -> Option<f64> {
    let last = samples.iter().rposition(|sample| sample.program(late).is_some())?;
    let before = samples[last].program(first)?;
    let narrow = before.dop?;
    let effective_ns = effective(&samples[last..], first, before.id, |dop| dop > narrow)?;
    Some(milliseconds(end_ns, effective_ns))
}

/// When run `id` of a program first had a DoP that is `like` this in effect.
fn effective(samples: &[Sample], name: &str, id: u64, like: impl Fn(u32) -> bool) -> Option<u64> {
    let point =
        |sample: &Sample| -> Option<Point> { sample.program(name).filter(|point| point.id == id).cloned() };
    let changed = samples.iter().filter_map(point).filter(|point| point.dop.is_some_and(&like));
    changed.filter_map(|point| point.effective_ns).next()
}

/// The daemon may see the end of a program a moment before we do: that counts as 0.
fn milliseconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn point(id: u64, name: &str, dop: u32, granted_ms: u64, effective_ms: Option<u64>) -> Point {
        Point {
            id,
            name: name.into(),
            dop: Some(dop),
            attached_ns: granted_ms * MS,
            granted_ns: granted_ms * MS,
            effective_ns: effective_ms.map(|ms| ms * MS),
        }
    }

    fn sample(ms: u64, programs: Vec<Point>) -> Sample {
        Sample { now_ns: ms * MS, policy: String::new(), programs }
    }

    fn story() -> Vec<Sample> {
        vec![
            sample(0, vec![]),
            sample(20, vec![point(1, "a", 2, 5, Some(6))]),
            sample(40, vec![point(1, "a", 1, 30, None), point(2, "b", 1, 30, Some(31))]),
            sample(60, vec![point(1, "a", 1, 30, Some(33)), point(2, "b", 1, 30, Some(31))]),
            sample(80, vec![point(1, "a", 2, 75, None)]),
            sample(100, vec![point(1, "a", 2, 75, Some(78))]),
        ]
    }

    #[test]
    fn an_arrival_and_a_departure_are_timed_by_the_daemons_own_moments() {
        let found = late(&story(), "a", "b", Some(74 * MS));
        assert_eq!(found, Late { shrink_ms: Some(3.0), grow_ms: Some(4.0) });
    }

    #[test]
    fn a_departure_acted_on_before_we_see_it_took_no_time() {
        assert_eq!(late(&story(), "a", "b", Some(79 * MS)).grow_ms, Some(0.0));
    }

    #[test]
    fn a_first_program_that_started_anew_meanwhile_says_nothing() {
        let mut samples = story();
        for sample in &mut samples[4..] {
            sample.programs[0].id = 9;
        }
        assert_eq!(late(&samples, "a", "b", Some(74 * MS)).grow_ms, None);
        assert_eq!(late(&[], "a", "b", None), Late::default());
    }
}
