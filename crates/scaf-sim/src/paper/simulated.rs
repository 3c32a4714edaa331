use super::report::Error;
use crate::scenario::Scenario;
use crate::{Options, Outcome, simulate};
use scaf_policy::{Objective, Settings, Topology, by_name};

/// The policies among `names` that this build has.
pub fn available(names: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().filter(|name| by_name(name, &Settings::default()).is_some()).collect()
}

/// Simulates a scenario under the policy of that name.
/// # Errors
/// If there is no such policy.
pub fn under(
    policy: &str,
    scenario: &Scenario,
    topology: &Topology,
    options: Options,
) -> Result<Outcome, Error> {
    let settings = Settings { objective: Objective::Throughput, floor: scenario.daemon.floor };
    let mut policy = by_name(policy, &settings).ok_or_else(|| Error::Policy(policy.to_owned()))?;
    Ok(simulate(scenario, topology, &mut *policy, options))
}

/// Applies `of` to `items` on all cores, for experiments of thousands of simulations; results are in order.
/// Each core takes every nth item, so that long ones, which stand together, are shared.
pub fn each<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let part = |first: usize| -> Vec<R> { items.iter().skip(first).step_by(cores).map(&of).collect() };
    let mut parts: Vec<_> = std::thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..cores).map(|first| scope.spawn(move || part(first))).collect();
        let own = part(0);
        let join = |it: std::thread::ScopedJoinHandle<'_, Vec<R>>| {
            it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        [own].into_iter().chain(others.into_iter().map(join)).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|at| parts[at % cores].next()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_becomes_of_each_is_in_order() {
        for count in [0, 1, 2, 7] {
            let items: Vec<usize> = (0..count).collect();
            assert!(super::each(&items, |item| item * 3).into_iter().eq((0..count).map(|item| item * 3)));
        }
    }
}
