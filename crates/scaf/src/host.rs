//! Facts about this machine for measurements and `scaf doctor`. Files are read under a root folder that tests
//! replace.

use scaf_policy::PuSet;
use serde::Serialize;
use std::path::Path;

/// The machine in each JSON object of `scaf bench`.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// PUs that this process may use.
    pub pus: u32,
    /// The processor's name.
    pub cpu_model: String,
    /// The kernel's release.
    pub kernel: String,
}

/// This machine.
pub fn machine() -> Machine {
    Machine {
        pus: u32::try_from(allowed().len()).unwrap_or(u32::MAX),
        cpu_model: cpu_model(Path::new("/")),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
    }
}

/// These PUs as a CPU mask for the kernel.
pub fn cpu_set(pus: &[u32]) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    pus.iter().for_each(|pu| set.set(*pu as usize));
    set
}

/// PUs that this process may use.
pub fn allowed() -> PuSet {
    scafd::observe::affinity(0).unwrap_or_default()
}

/// The same PUs, ordered so that neighbours share more: a contiguous part is a good partition.
pub fn allowed_by_neighbourhood() -> Vec<u32> {
    let allowed = allowed();
    match scaf_topology::load(&scaf_topology::Source::ThisMachine) {
        Ok(topology) => topology.restrict(&allowed).pus.iter().map(|pu| pu.os).collect(),
        Err(_) => allowed.iter().collect(),
    }
}

fn cpu_model(root: &Path) -> String {
    let info = std::fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    // ARM kernels give numbers instead of a name.
    let field = |name: &str| {
        info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    field("model name")
        .or_else(|| field("CPU part").map(|part| format!("ARM part {part}")))
        .unwrap_or("unknown".into())
}

/// The control groups and their limits for this process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cgroups {
    /// "v1", "v2", "v1 and v2" or "none".
    pub version: String,
    /// Available ones of cpu, cpuset and freezer.
    pub controllers: Vec<String>,
    /// The smallest CPU quota, in contexts, of our group and those around it.
    pub quota: Option<f64>,
}

/// This process's control groups, under `root` ("/" for this machine).
pub fn cgroups(root: &Path) -> Cgroups {
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let (membership, mounts) = (text("proc/self/cgroup"), text("proc/self/mounts"));
    let mount = |kind: &str, option: Option<&str>| {
        mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [_, folder, found, options, ..] = fields[..] else {
                return None;
            };
            let fits =
                found == kind && option.is_none_or(|name| options.split(',').any(|option| option == name));
            fits.then(|| root.join(folder.trim_start_matches('/')))
        })
    };
    let wanted = ["cpu", "cpuset", "freezer"];
    let mut controllers: Vec<String> = Vec::new();
    let mut quota: Option<f64> = None;
    let v2 = mount("cgroup2", None);
    if let Some(top) = &v2 {
        let there = std::fs::read_to_string(top.join("cgroup.controllers")).unwrap_or_default();
        let there: Vec<&str> = there.split_whitespace().collect();
        // v2 doesn't list the freezer, which it always has.
        controllers.extend(wanted.iter().filter(|name| there.contains(name)).map(|name| (*name).to_owned()));
        let own = membership.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
        quota = smallest(top, own, |folder| {
            let limit = std::fs::read_to_string(folder.join("cpu.max")).ok()?;
            let (quota, period) = limit.trim().split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        });
    }
    for name in wanted {
        if let Some(top) = mount("cgroup", Some(name)) {
            controllers.push(name.to_owned());
            if name == "cpu" {
                let own = membership.lines().find_map(|line| {
                    let mut fields = line.splitn(3, ':').skip(1);
                    fields
                        .next()?
                        .split(',')
                        .any(|controller| controller == name)
                        .then(|| fields.next())
                        .flatten()
                });
                let found = smallest(&top, own.unwrap_or("/"), |folder| {
                    let number =
                        |file| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<f64>().ok();
                    let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
                    (quota > 0.0 && period > 0.0).then(|| quota / period) // -1 is no limit
                });
                quota = quota.into_iter().chain(found).reduce(f64::min);
            }
        }
    }
    let version = match (v2.is_some(), mount("cgroup", None).is_some()) {
        (true, true) => "v1 and v2",
        (true, false) => "v2",
        (false, true) => "v1",
        (false, false) => "none",
    };
    controllers.dedup();
    Cgroups { version: version.into(), controllers, quota }
}

/// The smallest limit of the group `own` and its ancestors. In a container, /proc names a group outside the
/// mount; then only the mount's root counts.
fn smallest(top: &Path, own: &str, limit: impl Fn(&Path) -> Option<f64>) -> Option<f64> {
    let own = top.join(own.trim_start_matches('/'));
    own.ancestors().take_while(|folder| folder.starts_with(top)).filter_map(limit).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        root
    }

    #[test]
    fn this_machine_has_pus_and_a_kernel() {
        let machine = machine();
        assert!(machine.pus >= 1 && !machine.kernel.is_empty());
        assert_eq!(allowed_by_neighbourhood().len(), machine.pus as usize);
    }

    #[test]
    fn the_tightest_quota_on_the_way_up_counts_in_v2() {
        let root = host(&[
            ("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let found = cgroups(root.path());
        assert_eq!(found.version, "v2");
        assert_eq!(found.controllers, ["cpu", "cpuset"]);
        assert_eq!(found.quota, Some(1.5));
    }

    #[test]
    fn v1_keeps_quota_and_period_apart_and_minus_one_is_none() {
        let files = |quota| {
            host(&[
                ("proc/self/mounts", "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"),
                ("proc/self/cgroup", "3:cpu,cpuacct:/x\n"),
                ("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n"),
            ])
        };
        assert_eq!(cgroups(files("250000\n").path()).quota, Some(2.5));
        let none = cgroups(files("-1\n").path());
        assert_eq!((none.quota, none.version.as_str()), (None, "v1"));
    }

    #[test]
    fn a_machine_without_groups_is_fine() {
        assert_eq!(cgroups(host(&[]).path()).version, "none");
    }
}
