//! `scaf run`: becomes the program, with the client library in it and a daemon to attach to.
//!
//! If the program can't be managed, it runs exactly as without scaf, and a line on standard error says why.

use crate::{cli, daemon, filters, inherited, interleave, mold, session, target, verbose};
use anyhow::{Result, bail};
use scaf_proto::rank::SPIN_OF_RANKS;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Spins in the waits that the library takes over, in loop rounds of 15 ns: libgomp's default. Threads of a
/// folded program sleep at once.
pub(crate) const SPIN: &str = "300000";

/// Spins in libgomp's own waits where the library can't adapt them to the fold (`libscaf`'s `crowd`). A loop
/// with a barrier each 50 us, two threads folded onto one PU, takes 206 ms at best; with libgomp's default
/// 8,000 ms, with 10,000 rounds 501, with 1,000 rounds 238. Alone on the machine, programs run 0 to 7%
/// longer.
const SPIN_FIXED: &str = "1000";

/// One of these is set for each rank, by the launchers of Open MPI, MPICH and PMIx.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

/// What the programs that start ranks are called.
const LAUNCHERS: [&str; 4] = ["mpirun", "mpiexec", "orterun", "prterun"];

/// Where one of these is set, the library gives libgomp no further threads: libgomp would bind them, limit
/// them, or give them larger stacks.
const UNSTEERABLE: [&str; 6] = [
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_CPU_AFFINITY",
    "OMP_THREAD_LIMIT",
    "OMP_STACKSIZE",
    "GOMP_STACKSIZE",
];

/// Longest program name in the handshake, in bytes.
const NAME_BYTES: usize = 63;

/// What its user says about the sizes of a program's teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malleable {
    /// Nothing: the judge of code decides.
    Unsaid,
    /// They may be resized.
    Yes,
    /// It is to be tried out ([`crate::check`]).
    Check,
}

impl Malleable {
    fn word(self) -> Option<&'static str> {
        match self {
            Malleable::Unsaid => None,
            Malleable::Yes => Some("1"),
            Malleable::Check => Some("check"),
        }
    }
}

/// The user's wishes for a program.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The program's name; `None` for the executable's.
    pub name: Option<String>,
    /// Fewest contexts, at least 1.
    pub min: u32,
    /// Most contexts; `None` for no limit.
    pub max: Option<u32>,
    /// Weight in thousandths, 1 to 1,000,000.
    pub weight_milli: u32,
    /// Whether the program needs all its contexts at once.
    pub rigid: bool,
    /// Whether the program's results are to keep their bits.
    pub exact: bool,
    /// Whether its teams may be resized whatever its code.
    pub malleable: Malleable,
}

impl Wish {
    /// No wishes at all.
    pub fn none() -> Wish {
        Wish {
            name: None,
            min: 1,
            max: None,
            weight_milli: 1000,
            rigid: false,
            exact: false,
            malleable: Malleable::Unsaid,
        }
    }

    /// The wishes in the flags.
    /// # Errors
    /// The flags contradict each other, or the name doesn't fit the handshake.
    pub fn from_flags(flags: &cli::Run) -> Result<Wish> {
        if let Some(max) = flags.max
            && max < flags.min
        {
            bail!("--min {} is more than --max {max}; give a --max of at least {}", flags.min, flags.min);
        }
        if let Some(name) = &flags.name
            && (name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control))
        {
            bail!("--name takes 1 to {NAME_BYTES} bytes without control characters");
        }
        Ok(Wish {
            name: flags.name.clone(),
            min: flags.min,
            max: flags.max,
            weight_milli: milli(flags.weight),
            rigid: flags.rigid,
            exact: flags.exact,
            malleable: if flags.malleable { Malleable::Yes } else { Malleable::Unsaid },
        })
    }
}

/// A weight in thousandths, 1 to 1,000,000.
pub fn milli(weight: f64) -> u32 {
    (weight * 1000.0).round().clamp(1.0, 1_000_000.0) as u32
}

/// The setting of [`mold::VARIABLE`] that the program is to start with, if that isn't left to it: its user
/// asks for it, or has said nothing and the daemon knows that it would be slow otherwise.
fn molded(asked: bool, wish: &Wish, socket: &Path, program: &Path) -> Option<String> {
    let set = std::env::var(mold::VARIABLE).ok();
    let unsaid = set.is_none() && !wish.exact && !wish.rigid && wish.malleable == Malleable::Unsaid;
    let molds = asked || (unsaid && daemon::is_better_molded(socket, program));
    let snapshot = if molds { daemon::snapshot(socket).ok()? } else { return None };
    let own = rustix::thread::sched_getaffinity(None).map_or(u32::MAX, |own| own.count());
    let weight = f64::from(wish.weight_milli) / 1000.0;
    let threads = mold::threads(&snapshot, weight, (wish.min, wish.max), (set.as_deref(), own))?;
    Some(mold::setting(threads, set.as_deref()))
}

/// Carries out `scaf run`; returns only if the program can't be started, or with `--verbose` when it has
/// ended.
/// # Errors
/// Contradicting flags, a program that isn't there or isn't executable ([`target::Unstartable`]), or memory
/// that the kernel won't interleave.
pub fn run(flags: &cli::Run) -> Result<ExitCode> {
    let wish = Wish::from_flags(flags)?;
    let [name, arguments @ ..] = flags.command.as_slice() else { bail!("no program given") };
    let program = target::resolve(name)?;
    let mut command = Command::new(&program);
    command.arg0(name).args(arguments);
    let managed = manage(&program);
    let mut watched = None;
    match &managed {
        Ok((library, socket)) => {
            // It attaches as soon as there is a daemon that understands it.
            if let Some(other) = daemon::other_version(socket) {
                eprintln!("scaf: {} runs unmanaged: {other}", name.display());
            }
            let ranks = starts_ranks(&program).then(|| OsString::from("0"));
            let inherited = |name: &str| match std::env::var_os(name) {
                None if RANKS.contains(&name) => ranks.clone(),
                value => value,
            };
            apply(&mut command, &environment(&wish, socket, library, &inherited));
            if let Some(setting) = molded(flags.mold, &wish, socket, &program) {
                command.env(mold::VARIABLE, setting);
            }
            watched = Some(socket).filter(|_| flags.verbose);
        }
        Err(why) => eprintln!("scaf: {} runs unmanaged: {why}", name.display()),
    }
    if flags.interleave {
        // After the daemon's start, so that its own memory isn't interleaved.
        interleave::memory()?;
    }
    inherited::hand_on(&mut command);
    if managed.is_err() && target::is_binary(&program) {
        never_by_a_shell(&mut command, &program, &flags.command)?;
    }
    let error = match watched {
        Some(socket) => match verbose::run(command, name, socket) {
            Ok(code) => return Ok(code),
            Err(error) => error,
        },
        None => command.exec(),
    };
    Err(error).map_err(|error| match error.raw_os_error() {
        Some(libc::ENOENT) => {
            // The file was found, so its interpreter or loader is missing.
            anyhow::Error::new(target::Unstartable::NotFound(name.clone()))
                .context(format!("{}: its interpreter or loader is missing", program.display()))
        }
        Some(libc::ENOEXEC) => target::Unstartable::Foreign(program.clone()).into(),
        _ => anyhow::Error::new(error)
            .context(target::Unstartable::NotExecutable(program.clone()))
            .context(format!("can't execute {}", program.display())),
    })
}

/// Has a program, whose environment stays as it is, executed by the kernel or not at all: what the kernel
/// refuses, the C library gives to a shell, which would take another machine's code for its own language.
fn never_by_a_shell(command: &mut Command, program: &Path, words: &[OsString]) -> Result<()> {
    let program = CString::new(program.as_os_str().as_bytes())?;
    let words = words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: the closure makes one system call, with strings of its own and a list of them that has an end.
    unsafe {
        command.pre_exec(move || {
            let list: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
            libc::execv(program.as_ptr(), list.as_ptr());
            Err(std::io::Error::last_os_error())
        });
    }
    Ok(())
}

fn manage(program: &Path) -> Result<(PathBuf, PathBuf), String> {
    if let Some(why) = target::obstacle(program) {
        return Err(why);
    }
    let library = library()?;
    Ok((library, session::ensure()?))
}

/// The client library: `SCAF_LIB`, else `libscaf.so` beside the executable or in `../lib/scaf`.
/// # Errors
/// Where it was looked for, or why it can't be preloaded.
pub fn library() -> Result<PathBuf, String> {
    let named = std::env::var_os("SCAF_LIB").filter(|path| !path.is_empty());
    let library = match named {
        Some(path) => Path::new(&path)
            .canonicalize()
            .map_err(|error| format!("SCAF_LIB={}: {error}", path.display()))?,
        None => daemon::beside_us("libscaf.so").ok_or(
            "there is no libscaf.so beside scaf or in ../lib/scaf; install it there or set SCAF_LIB",
        )?,
    };
    // The loader splits LD_PRELOAD at these, and has no way to quote them.
    if library.as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte)) {
        return Err(format!(
            "LD_PRELOAD can't carry the blank or colon in {}; install scaf in a folder without one",
            library.display()
        ));
    }
    Ok(library)
}

/// A variable's new value; `None` removes it.
pub type Change = (&'static str, Option<OsString>);

/// Variables that nobody else has: with `LD_PRELOAD` and `GOMP_SPINCOUNT` all that [`environment`] changes.
pub const OURS: [&str; 10] = [
    daemon::SOCKET_VARIABLE,
    "SCAF_NAME",
    "SCAF_MIN",
    "SCAF_MAX",
    "SCAF_WEIGHT_MILLI",
    "SCAF_RIGID",
    "SCAF_EXACT",
    "SCAF_MALLEABLE",
    "SCAF_FILTERS",
    "SCAF_SPIN",
];

/// The changes for a managed program to the environment that `before` looks up.
pub fn environment(
    wish: &Wish,
    socket: &Path,
    library: &Path,
    before: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<Change> {
    // Wishes not given are removed: a program that we manage may use `scaf run` itself.
    let mut changes = vec![
        ("LD_PRELOAD", Some(preload(library, before("LD_PRELOAD").as_deref()))),
        (daemon::SOCKET_VARIABLE, Some(socket.into())),
        ("SCAF_NAME", wish.name.as_ref().map(OsString::from)),
        ("SCAF_MIN", Some(wish.min.to_string().into())),
        ("SCAF_MAX", wish.max.map(|max| max.to_string().into())),
        ("SCAF_WEIGHT_MILLI", Some(wish.weight_milli.to_string().into())),
        ("SCAF_RIGID", wish.rigid.then(|| "1".into())),
        ("SCAF_EXACT", wish.exact.then(|| "1".into())),
        ("SCAF_MALLEABLE", wish.malleable.word().map(OsString::from)),
        ("SCAF_FILTERS", filters::survived().map(|filters| filters.to_string().into())),
    ];
    // A spin count set by an outer `scaf run` is no user's choice. If the user chose how to wait, the runtime
    // keeps all waits.
    let counts = before("GOMP_SPINCOUNT").is_some() && !spin_is_ours(before);
    let chosen = before("OMP_WAIT_POLICY").is_some() || counts;
    if !chosen {
        let fixed = UNSTEERABLE.iter().any(|name| before(name).is_some());
        let is_rank = RANKS.iter().any(|name| before(name).is_some());
        let spin = if fixed { Some(SPIN_FIXED) } else { is_rank.then_some(SPIN_OF_RANKS) };
        changes.push(("GOMP_SPINCOUNT", spin.map(OsString::from)));
    }
    changes.push(("SCAF_SPIN", (!chosen).then(|| SPIN.into())));
    changes
}

/// The changes to our own environment for a program that is to run plain, though we may be managed ourselves.
pub fn without_us() -> Vec<Change> {
    let before = |name: &str| std::env::var_os(name);
    let mut changes: Vec<Change> = OURS.iter().map(|name| (*name, None)).collect();
    if spin_is_ours(&before) {
        changes.push(("GOMP_SPINCOUNT", None));
    }
    if let Some(list) = before("LD_PRELOAD") {
        let is_ours = |library: &&[u8]| Path::new(OsStr::from_bytes(library)).ends_with("libscaf.so");
        let others = list.as_bytes().split(|byte| b" :".contains(byte)).filter(|it| !is_ours(it));
        let others = others.collect::<Vec<_>>().join(&b':');
        changes.push(("LD_PRELOAD", (!others.is_empty()).then(|| OsString::from_vec(others))));
    }
    changes
}

/// Whether how long libgomp spins was set by [`environment`] before, and is no user's choice.
pub fn spin_is_ours(before: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let ours = |count: OsString| count == SPIN_FIXED || count == SPIN_OF_RANKS;
    before("SCAF_SPIN").is_some() && before("GOMP_SPINCOUNT").is_some_and(ours)
}

/// Whether that is a program that starts ranks of MPI jobs, which inherit its environment.
fn starts_ranks(program: &Path) -> bool {
    let name = program.file_name().map(OsStr::as_bytes).unwrap_or_default();
    LAUNCHERS.iter().any(|launcher| name.starts_with(launcher.as_bytes()))
}

/// Applies [`environment`]'s changes to a command.
pub fn apply(command: &mut Command, changes: &[Change]) {
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
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

    fn flags(min: u32, max: Option<u32>, weight: f64) -> cli::Run {
        cli::Run {
            name: None,
            min,
            max,
            weight,
            interleave: false,
            rigid: false,
            exact: false,
            malleable: false,
            mold: false,
            verbose: false,
            command: vec!["true".into()],
        }
    }

    #[test]
    fn all_variables_of_ours_are_listed() {
        let changes = environment(&Wish::none(), Path::new("/s"), Path::new("/l.so"), &|_| None);
        let mut names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
        names.retain(|name| !["LD_PRELOAD", "GOMP_SPINCOUNT"].contains(name));
        assert_eq!(names, OURS);
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        let error = Wish::from_flags(&flags(3, Some(2), 1.0)).unwrap_err();
        assert!(error.to_string().contains("--min 3 is more than --max 2"));
        assert!(Wish::from_flags(&flags(2, Some(2), 1.0)).is_ok());
    }

    #[test]
    fn weights_travel_in_thousandths() {
        assert_eq!(Wish::from_flags(&flags(1, None, 0.0015)).unwrap().weight_milli, 2);
        assert_eq!(Wish::from_flags(&flags(1, None, 2.5)).unwrap().weight_milli, 2_500);
    }

    #[test]
    fn names_that_the_handshake_cant_carry_are_refused() {
        for name in ["", "a\nb", &"x".repeat(64)] {
            let flags = cli::Run { name: Some(name.into()), ..flags(1, None, 1.0) };
            assert!(Wish::from_flags(&flags).is_err(), "{name:?}");
        }
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
        let wish = Wish::none();
        let changes = environment(&wish, Path::new("/s"), Path::new("/l"), &|_| None);
        for name in ["SCAF_NAME", "SCAF_MAX", "SCAF_RIGID", "SCAF_EXACT", "SCAF_MALLEABLE"] {
            assert!(changes.contains(&(name, None)), "{name}");
        }
        assert!(changes.contains(&("SCAF_SOCKET", Some("/s".into()))));
    }

    #[test]
    fn a_user_who_chose_how_to_wait_is_not_overruled() {
        let wish = Wish::none();
        let among = |set: &'static [(&'static str, &'static str)]| {
            let before = move |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            let changes = environment(&wish, Path::new("/s"), Path::new("/l"), &before);
            let value = |wanted| {
                changes
                    .iter()
                    .find(|(name, _)| *name == wanted)
                    .map(|(_, value)| value.clone().unwrap_or_default())
            };
            (value("GOMP_SPINCOUNT"), value("SCAF_SPIN").unwrap_or_default())
        };
        let (none, spin): (OsString, OsString) = (OsString::new(), SPIN.into());
        assert_eq!(among(&[]), (Some(none.clone()), spin.clone()));
        assert_eq!(among(&[("OMP_WAIT_POLICY", "active")]), (None, none.clone()));
        assert_eq!(among(&[("GOMP_SPINCOUNT", "5")]), (None, none.clone()));
        assert_eq!(among(&[("OMP_PROC_BIND", "true")]), (Some(SPIN_FIXED.into()), spin.clone()));
        assert_eq!(among(&[("PMIX_RANK", "1")]), (Some(SPIN_OF_RANKS.into()), spin.clone()));
        let bound = &[("PMIX_RANK", "1"), ("OMP_PLACES", "cores")];
        assert_eq!(among(bound), (Some(SPIN_FIXED.into()), spin.clone()));
        assert!(starts_ranks(Path::new("/usr/bin/mpiexec.hydra")) && !starts_ranks(Path::new("/bin/mp")));
        // What an outer scaf run has set is no choice.
        let around = [("SCAF_SPIN", SPIN), ("GOMP_SPINCOUNT", SPIN_FIXED)];
        assert_eq!(among(Box::leak(Box::new(around))), (Some(none.clone()), spin));
        assert_eq!(among(&[("SCAF_SPIN", SPIN), ("GOMP_SPINCOUNT", "5")]), (None, none));
    }
}
