use super::super::interrupt::Interrupt;
use super::super::private::Private;
use super::Testbed;
use crate::environment::Change;
use anyhow::{Result, bail};
use std::fmt;
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
pub enum Config {
    Unmanaged,
    /// With OMP_WAIT_POLICY=passive: waiting threads sleep.
    Passive,
    /// With OMP_DYNAMIC=true: the runtime sizes teams by the load average.
    Dynamic,
    /// Bound to equal, contiguous parts of the machine, with as many threads.
    Pinned,
    Managed(String),
}

impl Config {
    /// Parses a configuration's name; the error lists all names.
    pub fn parse(text: &str) -> Result<Config> {
        Ok(match text {
            "unmanaged" => Config::Unmanaged,
            "passive" => Config::Passive,
            "dynamic" => Config::Dynamic,
            "pinned" => Config::Pinned,
            policy if scaf_policy::POLICIES.iter().any(|entry| entry.name == policy) => {
                Config::Managed(policy.to_owned())
            }
            other => {
                let policies: Vec<&str> = scaf_policy::POLICIES
                    .iter()
                    .map(|entry| entry.name)
                    .filter(|it| *it != "unmanaged")
                    .collect();
                bail!(
                    "no configuration or policy is called '{other}'; there are unmanaged, passive, dynamic, \
                     pinned, {}",
                    policies.join(", ")
                )
            }
        })
    }

    /// The private daemon of a managed configuration.
    pub fn daemon(
        &self,
        by_turns: bool,
        testbed: &dyn Testbed,
        memory: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Option<Private>> {
        let Config::Managed(policy) = self else { return Ok(None) };
        testbed.daemon(policy, by_turns, memory, interrupt).map(Some)
    }

    /// Environment and binding of program number `index` of `count`, called `name`, on these PUs.
    pub fn setting(
        &self,
        name: &str,
        (index, count): (usize, usize),
        pus: &[u32],
        daemon: Option<&Private>,
    ) -> (Vec<Change>, Option<Vec<u32>>) {
        match self {
            Config::Unmanaged => (vec![], None),
            Config::Passive => (vec![("OMP_WAIT_POLICY", Some("passive".into()))], None),
            Config::Dynamic => (vec![("OMP_DYNAMIC", Some("true".into()))], None),
            Config::Pinned => {
                let part = part(pus, index, count);
                (vec![("OMP_NUM_THREADS", Some(part.len().to_string().into()))], Some(part))
            }
            Config::Managed(_) => {
                (daemon.map(|daemon| daemon.environment(name, 1)).unwrap_or_default(), None)
            }
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Config::Unmanaged => "unmanaged",
            Config::Passive => "passive",
            Config::Dynamic => "dynamic",
            Config::Pinned => "pinned",
            Config::Managed(policy) => policy,
        })
    }
}

/// Part `index` of `count` equal, contiguous parts; with more parts than PUs, parts share PUs.
fn part(pus: &[u32], index: usize, count: usize) -> Vec<u32> {
    let start = index * pus.len() / count;
    let end = ((index + 1) * pus.len() / count).max(start + 1).min(pus.len());
    pus[start..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_contiguous_and_cover_the_machine() {
        let pus: Vec<u32> = (0..8).collect();
        assert_eq!(part(&pus, 0, 2), [0, 1, 2, 3]);
        assert_eq!((0..3).flat_map(|index| part(&pus, index, 3)).collect::<Vec<_>>(), pus);
    }

    #[test]
    fn more_programs_than_pus_share_them_evenly() {
        let parts: Vec<Vec<u32>> = (0..4).map(|index| part(&[3, 7], index, 4)).collect();
        assert_eq!(parts, [[3], [3], [7], [7]]);
        assert_eq!(part(&[5], 2, 3), [5]);
    }

    #[test]
    fn names_are_ours_or_policies() {
        assert_eq!(Config::parse("pinned").unwrap(), Config::Pinned);
        assert_eq!(Config::parse("equi").unwrap(), Config::Managed("equi".into()));
        assert!(Config::parse("nonsense").unwrap_err().to_string().contains("equi"));
    }
}
