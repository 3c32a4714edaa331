//! What control groups allow: CPU quota, weight and cpuset of a process's group and of every group around it,
//! in versions 2 and 1, found by `/proc/PID/cgroup` and our own mounts.

use super::files::read_text;
use scaf_policy::PuSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the groups allow together; `None` where none of them says anything.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cgroup {
    /// CPU time per time, in contexts; the least of all levels.
    pub quota: Option<f64>,
    /// PUs; those that all levels allow.
    pub cpuset: Option<PuSet>,
    /// Beside groups of the usual weight, which is 1: the product of all levels' (`cpu.weight`,
    /// `cpu.shares`); 0 for a group that the kernel puts behind all others (`cpu.idle`).
    pub weight: Option<f64>,
}

/// What the kernel gives a group that nobody has set a weight for, in version 2 and in version 1.
const USUAL_WEIGHT: f64 = 100.0;
const USUAL_SHARES: f64 = 1024.0;

struct Hierarchy {
    mount: PathBuf,
    group: PathBuf,
    /// Whether the path leads out of the mount, as in another cgroup namespace; then it names another group.
    outside: bool,
}

/// What processes' groups allow. Each group is read once, so processes of one group cost little.
pub struct Groups {
    root: PathBuf,
    mounts: String,
    known: BTreeMap<String, Cgroup>,
    /// See [`Groups::unusual`].
    unusual: u32,
}

impl Groups {
    /// Reads below `root`.
    pub fn new(root: &Path) -> Groups {
        let mounts = read_text(root.join("proc/self/mountinfo")).unwrap_or_default();
        Groups { mounts, ..Groups::unseen(root) }
    }

    /// Without mounts: every process is allowed everything.
    pub fn unseen(root: &Path) -> Groups {
        Groups { root: root.to_owned(), mounts: String::new(), known: BTreeMap::new(), unusual: 0 }
    }

    /// A process's; `self` for ours.
    pub fn of(&mut self, process: &str) -> Cgroup {
        let file = self.root.join("proc").join(process).join("cgroup");
        let mut groups = read_text(file).unwrap_or_default();
        if let Some(known) = self.known.get(&groups) {
            return known.clone();
        }
        let found = read(&self.root, &groups, &self.mounts, &mut self.unusual);
        groups.shrink_to_fit();
        self.known.insert(groups, found.clone());
        found
    }

    /// Levels beyond the usual number of all groups read so far. Each takes two files, some 6 us to read.
    pub fn unusual(&self) -> u32 {
        self.unusual
    }
}

/// What is missing, unreadable or outside of our mounts allows everything.
fn read(root: &Path, groups: &str, mounts: &str, unusual: &mut u32) -> Cgroup {
    let hierarchy = |controller| hierarchy(groups, mounts, controller).filter(|found| !found.outside);
    let mut levels = |hierarchy: &Hierarchy| {
        let levels = levels(root, hierarchy);
        *unusual += levels.len().saturating_sub(USUAL_LEVELS) as u32;
        levels
    };
    let mut found = Cgroup::default();
    if let Some(v2) = hierarchy("") {
        for folder in levels(&v2) {
            found.quota =
                least(found.quota, read_text(folder.join("cpu.max")).ok().and_then(|t| cpu_max(&t)));
            found.restrict(&folder.join("cpuset.cpus.effective"));
            found.weigh(&folder.join("cpu.weight"), USUAL_WEIGHT);
        }
    }
    if let Some(v1) = hierarchy("cpu") {
        for folder in levels(&v1) {
            let number = |file| read_text(folder.join(file)).ok()?.trim().parse::<f64>().ok();
            let quota = number("cpu.cfs_quota_us").zip(number("cpu.cfs_period_us"));
            found.quota = least(found.quota, quota.and_then(|(quota, period)| ratio(quota, period)));
            found.weigh(&folder.join("cpu.shares"), USUAL_SHARES);
        }
    }
    if let Some(v1) = hierarchy("cpuset") {
        for folder in levels(&v1) {
            found.restrict(&folder.join("cpuset.effective_cpus"));
            found.restrict(&folder.join("cpuset.cpus"));
        }
    }
    found
}

/// A group of the cpu controller below which groups can be made, and whether it is version 2's: in version 1
/// the daemon's own, in version 2 the topmost one that is seen.
pub fn cpu_group(root: &Path) -> Option<(PathBuf, bool)> {
    let groups = read_text(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = read_text(root.join("proc/self/mountinfo")).unwrap_or_default();
    let v1 = hierarchy(&groups, &mounts, "cpu");
    if let Some(own) = v1.and_then(|v1| levels(root, &v1).into_iter().next()) {
        return Some((own, false));
    }
    let v2 = hierarchy(&groups, &mounts, "")?;
    let top = levels(root, &v2).pop()?;
    let controllers = read_text(top.join("cgroup.controllers")).ok()?;
    controllers.split_whitespace().any(|name| name == "cpu").then_some((top, true))
}

/// The group of a process in the hierarchy of a version-1 controller, or in version 2's where `controller` is
/// empty.
pub fn group_of(root: &Path, pid: u32, controller: &str) -> Option<PathBuf> {
    let groups = read_text(root.join("proc").join(pid.to_string()).join("cgroup")).ok()?;
    let mounts = read_text(root.join("proc/self/mountinfo")).ok()?;
    let hierarchy = hierarchy(&groups, &mounts, controller)?;
    let folder =
        root.join(hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount)).join(&hierarchy.group);
    (!hierarchy.outside && folder.is_dir()).then_some(folder)
}

/// Where a hierarchy is mounted; see [`group_of`].
pub fn mount(root: &Path, controller: &str) -> Option<PathBuf> {
    let groups = read_text(root.join("proc/self/cgroup")).ok()?;
    let mounts = read_text(root.join("proc/self/mountinfo")).ok()?;
    let mount = hierarchy(&groups, &mounts, controller)?.mount;
    Some(root.join(mount.strip_prefix("/").unwrap_or(&mount)))
}

/// Contexts that a quota is good for: whole ones, at least 1.
pub fn whole_contexts(quota: f64) -> u32 {
    (quota as u32).max(1)
}

impl Cgroup {
    /// Those of `pus` that the cpuset has, or all if it has none.
    pub fn within(&self, pus: &PuSet) -> PuSet {
        let both = self.cpuset.as_ref().map(|cpuset| pus.intersection(cpuset));
        both.filter(|both| !both.is_empty()).unwrap_or_else(|| pus.clone())
    }

    /// [`whole_contexts`] of the quota.
    pub fn contexts(&self) -> Option<u32> {
        self.quota.map(whole_contexts)
    }

    /// Users make groups of their own: those of users who may not put their programs before others' count
    /// only where they put them behind.
    #[must_use]
    pub fn capped(self, is_trusted: bool) -> Cgroup {
        Cgroup { weight: self.weight.map(|weight| if is_trusted { weight } else { weight.min(1.0) }), ..self }
    }

    /// Multiplies the weight by one level's. A group with `cpu.idle` says 0, or 3 of 1,024.
    fn weigh(&mut self, file: &Path, usual: f64) {
        let number = |name: &Path| read_text(name).ok()?.trim().parse::<f64>().ok();
        let Some(weight) = number(file).filter(|weight| *weight >= 0.0) else { return };
        let is_idle = number(&file.with_file_name("cpu.idle")) == Some(1.0);
        let level = if is_idle { 0.0 } else { weight / usual };
        self.weight = Some(self.weight.unwrap_or(1.0) * level);
    }

    fn restrict(&mut self, file: &Path) {
        let Some(set) = read_text(file).ok().and_then(|t| t.trim().parse::<PuSet>().ok()) else {
            return;
        };
        // An empty list means "as the level above".
        if !set.is_empty() {
            self.cpuset = Some(self.cpuset.as_ref().map_or(set.clone(), |have| have.intersection(&set)));
        }
    }
}

/// The hierarchy of a version-1 controller, or of version 2 where `controller` is empty.
fn hierarchy(groups: &str, mounts: &str, controller: &str) -> Option<Hierarchy> {
    let path = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, names, path) = (parts.next()?, parts.next()?, parts.next()?);
        names.split(',').any(|name| name == controller).then_some(path)
    })?;
    // Fields: id, parent, device, root, mount point, options, optional, "-", type, source, super options.
    mounts.lines().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        let front: Vec<&str> = front.split(' ').collect();
        let back: Vec<&str> = back.split(' ').collect();
        let right = match controller {
            "" => back.first() == Some(&"cgroup2"),
            name => back.first() == Some(&"cgroup") && back.get(2)?.split(',').any(|option| option == name),
        };
        if !right {
            return None;
        }
        let (mounted, mount) = (*front.get(3)?, *front.get(4)?);
        // In a container the mount shows only its own part of the tree; our path may name all of it.
        let inside = Path::new(path).strip_prefix(mounted).unwrap_or(Path::new(path));
        let group = inside.components().filter(|c| matches!(c, std::path::Component::Normal(_))).collect();
        let outside = path.starts_with("/..");
        Some(Hierarchy { mount: PathBuf::from(unescape(mount)), group, outside })
    })
}

/// Service managers, and containers within containers, make fewer.
const USUAL_LEVELS: usize = 16;

/// Levels of groups that are read, the outermost ones: users may nest their own as deep as they like.
const MOST_LEVELS: usize = 64;

/// The folders from our group up to the mount point.
fn levels(root: &Path, hierarchy: &Hierarchy) -> Vec<PathBuf> {
    let mount = root.join(hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount));
    let all: Vec<&Path> = hierarchy.group.ancestors().collect();
    let outermost = all.iter().skip(all.len().saturating_sub(MOST_LEVELS));
    outermost.map(|group| mount.join(group)).filter(|folder| folder.is_dir()).collect()
}

/// mountinfo writes a blank as \040.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
}

fn cpu_max(text: &str) -> Option<f64> {
    let mut fields = text.split_whitespace();
    let quota = fields.next()?.parse().ok()?;
    ratio(quota, fields.next().map_or(Some(100_000.0), |p| p.parse().ok())?)
}

/// Version 1 writes -1 for no limit.
fn ratio(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period).filter(|contexts| contexts.is_finite())
}

fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
