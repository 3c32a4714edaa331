//! `scaf run`: executes the program, with the client library preloaded and a daemon to attach to.
//!
//! If the program can't be managed, it runs exactly as without scaf, and a line on standard error says why.

use crate::environment;
use crate::output::complain;
use crate::program_limits::{Malleable, ProgramLimits};
use crate::{background, cli, daemon, inherited, interleave, mold, session, target, verbose};
use anyhow::{Result, bail};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The value of [`mold::VARIABLE`] to start the program with, if any: its user asks for it, or gave no option
/// and the daemon knows that it would be slow otherwise.
fn molded(asked: bool, limits: &ProgramLimits, socket: &Path, program: &Path) -> Option<String> {
    let set = std::env::var(mold::VARIABLE).ok();
    let unsaid = set.is_none() && !limits.exact && !limits.rigid && limits.malleable == Malleable::Unsaid;
    let molds = asked || (unsaid && daemon::is_better_molded(socket, program));
    let snapshot = if molds { daemon::snapshot(socket).ok()? } else { return None };
    let own = rustix::thread::sched_getaffinity(None).map_or(u32::MAX, |own| own.count());
    let weight = f64::from(limits.weight_milli) / 1000.0;
    let threads = mold::threads(&snapshot, weight, (limits.min, limits.max), (set.as_deref(), own))?;
    Some(mold::setting(threads, set.as_deref()))
}

/// Carries out `scaf run`; returns only if the program can't be started, or with `--verbose` when it has
/// ended.
/// # Errors
/// Contradicting flags, a program that isn't there or isn't executable ([`target::Unstartable`]), or memory
/// that the kernel won't interleave or put it behind others.
pub fn run(flags: &cli::Run) -> Result<ExitCode> {
    let limits = ProgramLimits::from_flags(flags)?;
    let [name, arguments @ ..] = flags.command.as_slice() else { bail!("no program given") };
    let program = target::resolve(name)?;
    let mut command = Command::new(&program);
    command.arg0(name).args(arguments);
    let managed = manage(&program);
    let mut watched = None;
    match &managed {
        Ok((library, socket, other)) => {
            // It attaches as soon as there is a daemon that understands it.
            if let Some(other) = other {
                complain(&format!("scaf: {} runs unmanaged: {other}", name.display()));
            }
            let changes = environment::managed(&limits, socket, library, &|name| std::env::var_os(name));
            environment::apply_to_us(&changes);
            if let Some(setting) = molded(flags.mold, &limits, socket, &program) {
                environment::apply_to_us(&[(mold::VARIABLE, Some(setting.into()))]);
            }
            daemon::adopt_self(socket, &limits, flags.each);
            watched = Some(socket).filter(|_| flags.verbose);
        }
        Err(why) => complain(&format!("scaf: {} runs unmanaged: {why}", name.display())),
    }
    if flags.background {
        background::enter()?;
    }
    if flags.interleave {
        // After the daemon's start, so that its own memory isn't interleaved.
        interleave::memory()?;
    }
    inherited::restore(&mut command);
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
            // The file exists, so its interpreter or loader is missing.
            anyhow::Error::new(target::Unstartable::NotFound(name.clone()))
                .context(format!("{}: its interpreter or loader is missing", program.display()))
        }
        Some(libc::ENOEXEC) => target::Unstartable::Foreign(program.clone()).into(),
        _ => anyhow::Error::new(error)
            .context(target::Unstartable::NotExecutable(program.clone()))
            .context(format!("can't execute {}", program.display())),
    })
}

/// Executes a program with an unchanged environment by execv alone: execvp gives what the kernel refuses to a
/// shell, which would read another machine's code as a script.
fn never_by_a_shell(command: &mut Command, program: &Path, words: &[OsString]) -> Result<()> {
    let program = CString::new(program.as_os_str().as_bytes())?;
    let words = words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: the closure makes one system call, on strings that it owns and a list that ends with null.
    unsafe {
        command.pre_exec(move || {
            let list: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
            libc::execv(program.as_ptr(), list.as_ptr());
            Err(std::io::Error::last_os_error())
        });
    }
    Ok(())
}

/// The client library, a daemon's socket, and what is wrong with that daemon's version.
fn manage(program: &Path) -> Result<(PathBuf, PathBuf, Option<daemon::OtherVersion>), String> {
    if let Some(why) = target::obstacle(program) {
        return Err(why);
    }
    let library = library()?;
    let (socket, connection) = session::ensure()?;
    let other = daemon::other_version_of(&connection, &socket);
    Ok((library, socket, other))
}

/// The client library: `SCAF_LIB`, else `libscaf.so` beside the executable or in `../lib/scaf`.
/// # Errors
/// The places searched, or why it can't be preloaded.
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
