//! Which job of Slurm's a process belongs to. Where Slurm tracks processes by control groups
//! (proctrack/cgroup), its group names the job, and no user can change that. Elsewhere it is what the client
//! says: a label, by which nothing is decided.

use std::fmt::{self, Display, Formatter};

/// A step of a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Step {
    job: u32,
    /// The low 16 bits of Slurm's number.
    step: u16,
}

/// Slurm's steps that have names; it gives others numbers from 0 on.
const NAMED: [(u16, &str); 4] =
    [(0xfffb, "batch"), (0xfffc, "extern"), (0xfffa, "interactive"), (0xfffd, "pending")];

impl Step {
    /// The step of these numbers; `None` without a job.
    pub fn new(job: u32, step: u16) -> Option<Step> {
        (job != 0).then_some(Step { job, step })
    }

    /// What the text of `/proc/PID/cgroup` says: `.../slurm.../job_JOB/step_STEP/...`.
    pub fn of_cgroup(text: &str) -> Option<Step> {
        text.lines().find_map(|line| {
            let path = line.splitn(3, ':').nth(2)?;
            let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
            let at = names.iter().position(|name| name.starts_with("job_"))?;
            // Slurm's own groups, and no user's that are called so: version 1's, and systemd's scope.
            let slurms = match names.get(..at)? {
                [first, ..] if first.starts_with("slurm") => true,
                ["system.slice", scope, ..] => scope.ends_with("slurmstepd.scope"),
                _ => false,
            };
            let job = names[at].strip_prefix("job_")?.parse().ok()?;
            let step = names.get(at + 1)?.strip_prefix("step_")?;
            let named = NAMED.iter().find(|(_, name)| *name == step).map(|(number, _)| *number);
            let step = named.or_else(|| Some(step.parse::<u32>().ok()? as u16))?;
            Step::new(job, step).filter(|_| slurms)
        })
    }
}

/// As sacct writes it: `4711.0`, `4711.batch`.
impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(number, _)| *number == self.step) {
            Some((_, name)) => write!(f, "{}.{name}", self.job),
            None => write!(f, "{}.{}", self.job, self.step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<String> {
        Step::of_cgroup(&format!("9:cpuset:{path}\n0::/init.scope\n")).map(|step| step.to_string())
    }

    #[test]
    fn slurms_groups_name_job_and_step_in_both_versions() {
        assert_eq!(of("/slurm/uid_1000/job_17/step_0/task_0").as_deref(), Some("17.0"));
        assert_eq!(of("/slurm_n1/uid_1000/job_17/step_batch").as_deref(), Some("17.batch"));
        let v2 = "/system.slice/slurmstepd.scope/job_4711/step_3/user/task_0";
        assert_eq!(of(v2).as_deref(), Some("4711.3"));
        let of_node = of("/system.slice/node_slurmstepd.scope/job_1/step_extern/x");
        assert_eq!(of_node.as_deref(), Some("1.extern"));
    }

    #[test]
    fn groups_that_users_make_are_not_slurms() {
        for path in
            ["/user.slice/user-1000.slice/slurm/job_17/step_0", "/job_17/step_0", "/slurm/job_x/step_0"]
        {
            assert_eq!(of(path), None, "{path}");
        }
        for path in ["/slurm/job_0/step_0", "/slurm/job_17", "/slurm/job_99999999999/step_0", "/", ""] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn numbers_of_a_client_are_a_label() {
        assert_eq!(Step::new(0, 3), None);
        assert_eq!(Step::new(u32::MAX, 0xfffb).unwrap().to_string(), "4294967295.batch");
    }
}
