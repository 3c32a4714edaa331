//! The environment of a managed program, and of one that is to run as without us.

use crate::daemon;
use crate::filters;
use crate::program_limits::ProgramLimits;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

/// How long a thread of an OpenBLAS spins where it has nothing to do, before it sleeps: this power of two in
/// ticks of the processor's clock, so 1 to 2 ms. The library's own 28 is 0.1 s for each of its threads at
/// each start of a Python program, beside whoever else computes (`docs/decisions/waits.md`). It is read once,
/// when the library is loaded.
pub const BLAS_SPIN: [&str; 2] = ["OPENBLAS_THREAD_TIMEOUT", "22"];

/// A variable's new value; `None` removes it.
pub type Change = (&'static str, Option<OsString>);

/// Variables that nobody else has: with `LD_PRELOAD` and OpenBLAS's all that [`managed`] changes.
pub const OURS: [&str; 10] = [
    daemon::SOCKET_VARIABLE,
    "SCAF_NAME",
    "SCAF_MIN",
    "SCAF_MAX",
    "SCAF_WEIGHT_MILLI",
    "SCAF_RIGID",
    "SCAF_TURNS",
    "SCAF_EXACT",
    "SCAF_MALLEABLE",
    "SCAF_FILTERS",
];

/// The changes for a managed program to the environment that `before` looks up.
pub fn managed(
    limits: &ProgramLimits,
    socket: &Path,
    library: &Path,
    before: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<Change> {
    // Limits not given are removed: a program that we manage may use `scaf run` itself.
    let mut changes = vec![
        ("LD_PRELOAD", Some(preload(library, before("LD_PRELOAD").as_deref()))),
        (daemon::SOCKET_VARIABLE, Some(socket.into())),
        ("SCAF_NAME", limits.name.as_ref().map(OsString::from)),
        ("SCAF_MIN", Some(limits.min.to_string().into())),
        ("SCAF_MAX", limits.max.map(|max| max.to_string().into())),
        ("SCAF_WEIGHT_MILLI", Some(limits.weight_milli.to_string().into())),
        ("SCAF_RIGID", limits.rigid.then(|| "1".into())),
        ("SCAF_TURNS", limits.turns.map(|turns| u8::from(turns).to_string().into())),
        ("SCAF_EXACT", limits.exact.then(|| "1".into())),
        ("SCAF_MALLEABLE", limits.malleable.word().map(OsString::from)),
        ("SCAF_FILTERS", filters::survived().map(|filters| filters.to_string().into())),
    ];
    let [name, ours] = BLAS_SPIN;
    if before(name).is_none() {
        changes.push((name, Some(ours.into())));
    }
    changes
}

/// What undoes [`managed`].
pub fn taken_back(before: &dyn Fn(&str) -> Option<OsString>) -> Vec<Change> {
    let mut changes: Vec<Change> = OURS.iter().map(|name| (*name, None)).collect();
    let [name, ours] = BLAS_SPIN;
    if before("SCAF_MIN").is_some() && before(name).is_some_and(|value| value == ours) {
        changes.push((name, None));
    }
    if let Some(list) = before("LD_PRELOAD") {
        let is_ours = |library: &&[u8]| Path::new(OsStr::from_bytes(library)).ends_with("libscaf.so");
        let others = list.as_bytes().split(|byte| b" :".contains(byte));
        let others = others.filter(|it| !it.is_empty() && !is_ours(it)).collect::<Vec<_>>().join(&b':');
        changes.push(("LD_PRELOAD", (!others.is_empty()).then(|| OsString::from_vec(others))));
    }
    changes
}

/// Applies [`managed`]'s changes to a command.
pub fn apply(command: &mut Command, changes: &[Change]) {
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Applies them to this process, which becomes the program: [`Command`] sorts what it changes, and the rest
/// is to stay as it was, in its order, and where a name stands there twice.
pub fn apply_to_us(changes: &[Change]) {
    for (name, value) in changes {
        // SAFETY: `scaf run` has one thread before it starts the program.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
}

/// LD_PRELOAD with the library first, and once.
fn preload(library: &Path, before: Option<&OsStr>) -> OsString {
    let mut list = library.as_os_str().to_owned();
    let others = before.unwrap_or_default().as_bytes().split(|byte| b" :".contains(byte));
    for other in others.filter(|other| !other.is_empty() && *other != library.as_os_str().as_bytes()) {
        list.push(":");
        list.push(OsStr::from_bytes(other));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_variables_of_ours_are_listed() {
        let changes = managed(&ProgramLimits::none(), Path::new("/s"), Path::new("/l.so"), &|_| None);
        let mut names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
        names.retain(|name| !["LD_PRELOAD", BLAS_SPIN[0]].contains(name));
        assert_eq!(names, OURS);
    }

    #[test]
    fn preloaded_libraries_of_others_are_kept_and_ours_is_there_once() {
        let ours = Path::new("/l/libscaf.so");
        assert_eq!(preload(ours, None), "/l/libscaf.so");
        assert_eq!(preload(ours, Some(OsStr::new("/a.so /b.so"))), "/l/libscaf.so:/a.so:/b.so");
        assert_eq!(preload(ours, Some(OsStr::new("/l/libscaf.so:/a.so"))), "/l/libscaf.so:/a.so");
    }

    #[test]
    fn what_was_not_asked_for_is_not_inherited() {
        let limits = ProgramLimits::none();
        let changes = managed(&limits, Path::new("/s"), Path::new("/l"), &|_| None);
        for name in ["SCAF_NAME", "SCAF_MAX", "SCAF_RIGID", "SCAF_EXACT", "SCAF_MALLEABLE"] {
            assert!(changes.contains(&(name, None)), "{name}");
        }
        assert!(changes.contains(&("SCAF_SOCKET", Some("/s".into()))));
    }

    #[test]
    fn how_long_openblas_spins_is_set_once_unless_its_user_chose_it() {
        let [name, ours] = BLAS_SPIN;
        let among = |value: Option<&'static str>| {
            let before = move |asked: &str| value.filter(|_| asked == name).map(OsString::from);
            let changes = managed(&ProgramLimits::none(), Path::new("/s"), Path::new("/l"), &before);
            changes.into_iter().find(|(changed, _)| *changed == name).map(|(_, value)| value)
        };
        assert_eq!(among(None), Some(Some(ours.into())));
        assert_eq!(among(Some("26")), None);
        assert_eq!(among(Some(ours)), None, "an outer scaf run set it");
    }

    #[test]
    fn what_was_set_is_taken_back_and_nothing_else() {
        let start = [("LD_PRELOAD", "/a.so"), ("GOMP_SPINCOUNT", "5"), ("HOME", "/")];
        let look_up = |set: &[(String, OsString)], asked: &str| {
            set.iter().find(|(name, _)| name == asked).map(|(_, value)| value.clone())
        };
        for blas in [None, Some("26")] {
            let blas = blas.map(|value| (BLAS_SPIN[0], value));
            let plain: Vec<(String, OsString)> =
                start.into_iter().chain(blas).map(|(name, value)| (name.into(), value.into())).collect();
            let mut now = plain.clone();
            let apply = |changes: Vec<Change>, now: &mut Vec<(String, OsString)>| {
                for (name, value) in changes {
                    now.retain(|(known, _)| known != name);
                    now.extend(value.map(|value| (name.to_owned(), value)));
                }
            };
            let library = Path::new("/l/libscaf.so");
            apply(
                managed(&ProgramLimits::none(), Path::new("/s"), library, &|name| look_up(&plain, name)),
                &mut now,
            );
            assert_ne!(now, plain);
            let managed = now.clone();
            apply(taken_back(&|name| look_up(&managed, name)), &mut now);
            now.sort();
            let mut plain = plain;
            plain.sort();
            assert_eq!(now, plain);
        }
    }
}
