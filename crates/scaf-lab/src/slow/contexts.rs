//! Contexts as control groups: a folder with groups 0, 1, 2 and so on, all with the same quota. A thread is
//! moved by writing its id into `tasks` (version 1) or `cgroup.threads` (version 2, threaded groups).

use scafd::apply::groups;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longest period of a quota, in microseconds: a context that has used its part waits for the next one.
pub const MOST_PERIOD_US: u64 = 10_000;
/// Smallest quota that the kernel takes, in microseconds.
const LEAST_QUOTA_US: u64 = 1_000;
/// Part of the cores that all contexts together use at most, so that each gets its part in time.
const HEADROOM: f64 = 0.8;
/// The contexts' `cpu.shares` or `cpu.weight`: the kernel's most, so that other processes don't slow them.
const SHARES: u32 = 262_144;
const WEIGHT: u32 = 10_000;
/// The files that take threads, in versions 1 and 2.
const THREADS: [&str; 2] = ["tasks", "cgroup.threads"];

/// Why contexts can't be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cores can't stand for so many contexts.
    #[error(
        "{asked} contexts are too many for {cores} cores: each would have less than a millisecond of the {} \
         that a period lasts, which is the least that the kernel takes; ask for at most {most}",
        MOST_PERIOD_US / 1000
    )]
    TooMany {
        /// What was asked for.
        asked: u32,
        /// Cores that there are, less what quotas around us take.
        cores: f64,
        /// The most contexts that can be made.
        most: u32,
    },
    /// The kernel did not let us.
    #[error(
        "a group with a CPU quota can't be made at {}: {source}; slow motion needs root and, in version \
         2 of control groups, a group that the cpu controller is delegated to (systemd-run --scope -p \
         Delegate=yes -p CPUWeight=100 ...)",
        path.display()
    )]
    Refused {
        /// The file that could not be written, or the folder that could not be made.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

/// A folder of groups.
#[derive(Clone, Debug)]
pub struct Contexts {
    folder: PathBuf,
    count: u32,
    pace: f64,
    threads: &'static str,
}

/// Each context's quota in microseconds per [`MOST_PERIOD_US`], with `count` contexts on `cores`.
/// # Errors
/// [`Error::TooMany`].
fn quota_us(count: u32, cores: f64) -> Result<u64, Error> {
    let all = HEADROOM * cores * MOST_PERIOD_US as f64;
    let quota = (all / f64::from(count.max(1))) as u64;
    if quota < LEAST_QUOTA_US {
        return Err(Error::TooMany { asked: count, cores, most: (all / LEAST_QUOTA_US as f64) as u32 });
    }
    Ok(quota.min(MOST_PERIOD_US))
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |source| Error::Refused { path, source }
}

impl Contexts {
    /// Makes `count` groups in a new one at `folder`, whose parent is a group of the cpu controller.
    /// # Errors
    /// See [`Error`]. The caller removes what was made so far by [`Contexts::remove`].
    pub fn make(folder: &Path, version_2: bool, count: u32, cores: f64) -> Result<Contexts, Error> {
        let quota_us = quota_us(count, cores)?;
        Contexts::groups(folder, version_2, count, quota_us)?;
        let pace = quota_us as f64 / MOST_PERIOD_US as f64;
        Ok(Contexts { folder: folder.to_owned(), count, pace, threads: THREADS[usize::from(version_2)] })
    }

    fn groups(folder: &Path, version_2: bool, count: u32, quota: u64) -> Result<(), Error> {
        let make = |path: &Path| fs::create_dir(path).map_err(refused(path));
        let write = |path: PathBuf, text: String| fs::write(&path, text).map_err(refused(&path));
        make(folder)?;
        if version_2 {
            write(folder.join("cgroup.type"), "threaded".into())?;
            for group in [folder.parent(), Some(folder)].into_iter().flatten() {
                write(group.join("cgroup.subtree_control"), "+cpu".into())?;
            }
            write(folder.join("cpu.weight"), WEIGHT.to_string())?;
        } else {
            write(folder.join("cpu.shares"), SHARES.to_string())?;
        }
        for context in 0..count {
            let group = folder.join(context.to_string());
            make(&group)?;
            if version_2 {
                write(group.join("cgroup.type"), "threaded".into())?;
                write(group.join("cpu.max"), format!("{quota} {MOST_PERIOD_US}"))?;
            } else {
                write(group.join("cpu.cfs_period_us"), MOST_PERIOD_US.to_string())?;
                write(group.join("cpu.cfs_quota_us"), quota.to_string())?;
            }
            // A context that waited at a barrier makes up for it in the next period, with the quota as its
            // mean. Regions of 10 ms were 5.5 times as fast on 8 contexts as on one with it, 4.0 times
            // without.
            let burst = if version_2 { "cpu.max.burst" } else { "cpu.cfs_burst_us" };
            // Kernels before 5.14 have no such file.
            let _ = fs::write(group.join(burst), quota.to_string());
        }
        Ok(())
    }

    /// Removes what [`Contexts::make`] made; processes left inside are moved to the group around it.
    /// # Errors
    /// The kernel refuses, or it takes more than a second.
    pub fn remove(folder: &Path) -> io::Result<()> {
        let groups = || fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut last = Ok(());
        for _ in 0..100 {
            for group in groups().filter(|path| path.is_dir()).chain([folder.to_owned()]) {
                if let Some(parent) = folder.parent() {
                    groups::empty(&group, parent, &THREADS);
                }
                last = fs::remove_dir(&group);
            }
            match &last {
                Ok(()) => {
                    leave(folder.parent());
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
                // A killed thread takes a moment to leave its group.
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        last
    }

    /// Number of contexts.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A context's speed over a core's: above 0, at most 1.
    pub fn pace(&self) -> f64 {
        self.pace
    }

    /// The file that moves a process whose id, or 0 for the writer, is written into it: to a context, or for
    /// `None` beside all contexts, without a quota.
    pub fn processes(&self, context: Option<u32>) -> PathBuf {
        let group = context.map_or(self.folder.clone(), |context| self.folder.join(context.to_string()));
        group.join("cgroup.procs")
    }

    /// Moves one thread.
    /// # Errors
    /// The kernel's: ESRCH if it has ended.
    pub fn put(&self, tid: u32, context: u32) -> io::Result<()> {
        fs::write(self.folder.join(context.to_string()).join(self.threads), tid.to_string())
    }
}

/// In version 2, takes back the cpu controller that a group without other children delegated.
fn leave(parent: Option<&Path>) {
    let Some(parent) = parent else { return };
    let control = parent.join("cgroup.subtree_control");
    let mut entries = fs::read_dir(parent).into_iter().flatten().flatten();
    if control.exists() && !entries.any(|entry| entry.path().is_dir()) {
        let _ = fs::write(control, "-cpu");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_use_four_fifths_of_the_cores_and_none_more_than_a_core() {
        let quota = |count, cores| quota_us(count, cores).ok();
        assert_eq!(quota(8, 2.0), Some(2_000));
        assert_eq!(quota(16, 2.0), Some(1_000));
        assert_eq!(quota(1, 2.0), Some(10_000));
        assert_eq!(quota(3, 0.5), Some(1_333));
    }

    #[test]
    fn more_contexts_than_the_cores_can_pass_for_are_refused_with_how_many_can_be_had() {
        let error = quota_us(17, 2.0).unwrap_err().to_string();
        assert!(error.contains("17 contexts") && error.contains("at most 16"), "{error}");
    }

    /// Each file below `folder` and its text, in order of the paths.
    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (name, path) = (entry.file_name().into_string().unwrap(), entry.path());
            if path.is_dir() {
                all.extend(files(&path).into_iter().map(|(file, text)| (format!("{name}/{file}"), text)));
            } else {
                all.push((name, fs::read_to_string(path).unwrap()));
            }
        }
        all.sort();
        all
    }

    // No kernel stands behind these files: nothing is refused, and no files appear in new folders.

    #[test]
    fn in_version_1_each_context_has_a_quota_and_threads_are_moved_by_tasks() {
        let parent = tempfile::tempdir().unwrap();
        let made = Contexts::make(&parent.path().join("slow"), false, 2, 0.5).unwrap();
        assert_eq!((made.count(), made.pace()), (2, 0.2));
        made.put(77, 1).unwrap();
        let context =
            [("cpu.cfs_burst_us", "2000"), ("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "2000")];
        let mut all: Vec<(String, String)> = ["0", "1"]
            .iter()
            .flat_map(|at| context.map(|(file, text)| (format!("slow/{at}/{file}"), text.to_owned())))
            .collect();
        all.push(("slow/1/tasks".into(), "77".into()));
        all.push(("slow/cpu.shares".into(), "262144".into()));
        assert_eq!(files(parent.path()), all);
    }

    #[test]
    fn in_version_2_the_groups_are_threaded_and_the_cpu_controller_is_handed_down_to_them() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("slow");
        let made = Contexts::make(&folder, true, 2, 0.5).unwrap();
        let written = |file: &str, text: &str| (file.to_owned(), text.to_owned());
        let context = |at: &str| {
            [("cgroup.type", "threaded"), ("cpu.max", "2000 10000"), ("cpu.max.burst", "2000")]
                .map(|(file, text)| written(&format!("slow/{at}/{file}"), text))
        };
        let shared = [
            written("slow/cgroup.subtree_control", "+cpu"),
            written("slow/cgroup.type", "threaded"),
            written("slow/cpu.weight", "10000"),
        ];
        let all =
            [written("cgroup.subtree_control", "+cpu")].into_iter().chain(context("0")).chain(context("1"));
        assert_eq!(files(parent.path()), all.chain(shared).collect::<Vec<_>>());
        assert_eq!((made.count(), made.pace(), made.threads), (2, 0.2, "cgroup.threads"));
        assert_eq!(made.processes(Some(1)), folder.join("1/cgroup.procs"));
        assert_eq!(made.processes(None), folder.join("cgroup.procs"));
        made.put(77, 1).unwrap();
        assert_eq!(fs::read_to_string(folder.join("1/cgroup.threads")).unwrap(), "77");
    }

    #[test]
    fn who_is_left_in_a_group_of_version_2_is_moved_out_and_the_controller_given_back_if_it_is_no_one_elses()
    {
        let parent = tempfile::tempdir().unwrap();
        let group = parent.path().join("0");
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cgroup.threads"), "41\n42\n").unwrap();
        groups::empty(&group, parent.path(), &THREADS);
        assert_eq!(files(parent.path()).remove(1), ("cgroup.threads".into(), "42".into()));
        let control = parent.path().join("cgroup.subtree_control");
        fs::write(&control, "cpu").unwrap();
        leave(Some(parent.path()));
        assert_eq!(fs::read_to_string(&control).unwrap(), "cpu");
        fs::remove_dir_all(group).unwrap();
        leave(Some(parent.path()));
        assert_eq!(fs::read_to_string(&control).unwrap(), "-cpu");
    }

    #[test]
    fn where_no_group_can_be_made_the_error_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let error = Contexts::make(&folder.path().join("a/b"), false, 2, 2.0).unwrap_err().to_string();
        assert!(error.contains("a/b") && error.contains("root"), "{error}");
    }
}
