//! Calls by which the process becomes another program.

use super::can_take::{PATH, Program, copy};
use super::preload::{List, fitting, now, value_of};
use crate::link::affinity;
use crate::sys::arch;
use crate::sys::symbols::Next;
use core::ffi::{CStr, c_char, c_int, c_long};

type Path = *const c_char;
type Plain = unsafe extern "C" fn(Path, List) -> c_int;
type WithList = unsafe extern "C" fn(Path, List, List) -> c_int;
type OfOpen = unsafe extern "C" fn(c_int, List, List) -> c_int;
type From = unsafe extern "C" fn(c_int, Path, List, List, c_int) -> c_int;

static EXECVE: Next = Next::called(c"execve");
static EXECV: Next = Next::called(c"execv");
static EXECVP: Next = Next::called(c"execvp");
static EXECVPE: Next = Next::called(c"execvpe");
static FEXECVE: Next = Next::called(c"fexecve");
static EXECVEAT: Next = Next::called(c"execveat");

pub fn look() {
    [&EXECVE, &EXECV, &EXECVP, &EXECVPE, &FEXECVE, &EXECVEAT].into_iter().for_each(Next::look);
}

/// Folders where there is no PATH, as the C library has them.
const FOLDERS: &[u8] = b"/bin:/usr/bin";

/// A program by its path, if that is given.
/// # Safety
/// Null or a C string.
pub unsafe fn at<'p>(path: Path) -> Program<'p> {
    // SAFETY: as the caller says.
    Program::At(if path.is_null() { c"" } else { unsafe { CStr::from_ptr(path) } })
}

/// A program by its name, as a shell finds it.
/// # Safety
/// Null or a C string.
pub unsafe fn named<'p>(name: Path) -> Program<'p> {
    // SAFETY: as the caller says.
    let name = if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } };
    if name.to_bytes().contains(&b'/') {
        return Program::At(name);
    }
    Program::Named(name, value_of(b"PATH=").unwrap_or(FOLDERS))
}

/// Has the process become the program by `exec`, with the program's own affinity, and with another
/// environment if it can't have this one. Comes back if that fails.
unsafe fn become_it<R>(program: Program<'_>, environment: List, exec: impl Fn(Option<List>) -> R) -> R {
    let wide = affinity::widen_self();
    // SAFETY: the environment is the program's.
    let result = unsafe { fitting(program, environment, exec) };
    if let Some(wide) = &wide {
        affinity::narrow_self(wide);
    }
    result
}

/// What a call answers whose function isn't there.
fn missing() -> c_int {
    // SAFETY: `errno` is the calling thread's.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: Path, arguments: List, environment: List) -> c_int {
    // SAFETY: the program's arguments go on as they came, but for the environment.
    unsafe {
        let Some(real) = EXECVE.get::<WithList>() else { return missing() };
        become_it(at(path), environment, |fit| real(path, arguments, fit.unwrap_or(environment)))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: Path, arguments: List) -> c_int {
    // SAFETY: the program's arguments go on as they came.
    unsafe {
        become_it(at(path), now(), |fit| match (fit, EXECVE.get::<WithList>(), EXECV.get::<Plain>()) {
            (Some(fit), Some(real), _) => real(path, arguments, fit),
            (_, _, Some(real)) => real(path, arguments),
            _ => missing(),
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(name: Path, arguments: List) -> c_int {
    // SAFETY: the program's arguments go on as they came.
    unsafe {
        become_it(named(name), now(), |fit| match (fit, EXECVPE.get::<WithList>(), EXECVP.get::<Plain>()) {
            (Some(fit), Some(real), _) => real(name, arguments, fit),
            (_, _, Some(real)) => real(name, arguments),
            _ => missing(),
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(name: Path, arguments: List, environment: List) -> c_int {
    // SAFETY: the program's arguments go on as they came, but for the environment.
    unsafe {
        let Some(real) = EXECVPE.get::<WithList>() else { return missing() };
        become_it(named(name), environment, |fit| real(name, arguments, fit.unwrap_or(environment)))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(file: c_int, arguments: List, environment: List) -> c_int {
    // SAFETY: the program's arguments go on as they came, but for the environment.
    unsafe {
        let Some(real) = FEXECVE.get::<OfOpen>() else { return missing() };
        let mut room = [0; 64];
        let program = Program::At(of_open(file, &mut room));
        become_it(program, environment, |fit| real(file, arguments, fit.unwrap_or(environment)))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execveat(
    folder: c_int,
    path: Path,
    arguments: List,
    environment: List,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's arguments go on as they came, but for the environment. Where the C library hasn't
    // the function, it is the kernel's call.
    unsafe {
        from(folder, path, environment, flags, |fit| {
            let environment = fit.unwrap_or(environment);
            match EXECVEAT.get::<From>() {
                Some(real) => real(folder, path, arguments, environment, flags),
                None => {
                    libc::syscall(libc::SYS_execveat, folder, path, arguments, environment, flags) as c_int
                }
            }
        })
    }
}

unsafe fn from<R>(
    folder: c_int,
    path: Path,
    environment: List,
    flags: c_int,
    exec: impl Fn(Option<List>) -> R,
) -> R {
    let mut room = [0; PATH];
    // SAFETY: the program passes a C string.
    unsafe {
        let Program::At(given) = at(path) else { return exec(None) };
        let name = given.to_bytes();
        let program = if name.starts_with(b"/") || folder == libc::AT_FDCWD {
            given
        } else if name.is_empty() && flags & libc::AT_EMPTY_PATH != 0 {
            of_open(folder, &mut room)
        } else {
            let mut open = [0; 64];
            copy(&[of_open(folder, &mut open).to_bytes(), b"/", name], &mut room).unwrap_or(c"")
        };
        become_it(Program::At(program), environment, exec)
    }
}

/// The path of an open file.
fn of_open(file: c_int, room: &mut [u8]) -> &CStr {
    let mut digits = [0; 10];
    let mut rest = file.cast_unsigned();
    let mut first = digits.len();
    for cell in digits.iter_mut().rev() {
        *cell = b'0' + (rest % 10) as u8;
        (rest, first) = (rest / 10, first.saturating_sub(1));
        if rest == 0 {
            break;
        }
    }
    copy(&[b"/proc/self/fd/", digits.get(first..).unwrap_or(&[])], room).unwrap_or(c"")
}

arch::listed_arguments! {
    execl => execv;
    execlp => execvp;
    execle => execv_and_list;
}

/// Behind the arguments' end comes the environment.
unsafe extern "C" fn execv_and_list(path: Path, arguments: List) -> c_int {
    // SAFETY: the program's arguments end with null, and an environment follows.
    unsafe {
        let mut at = arguments;
        while !(*at).is_null() {
            at = at.add(1);
        }
        execve(path, arguments, *at.add(1).cast::<List>())
    }
}

/// Whether a system call is one of these.
pub fn is_exec(number: c_long) -> bool {
    matches!(number, libc::SYS_execve | libc::SYS_execveat)
}

/// One of these that the program makes by its number and its first five arguments; `call` makes it.
/// # Safety
/// They are the program's.
pub unsafe fn by_number(number: c_long, words: [usize; 5], call: impl Fn([usize; 5]) -> c_long) -> c_long {
    let [first, second, third, fourth, fifth] = words;
    let path = |word: usize| core::ptr::with_exposed_provenance::<c_char>(word);
    let list = |word: usize| core::ptr::with_exposed_provenance::<*const c_char>(word);
    let word = |fit: Option<List>, own: usize| fit.map_or(own, |fit| fit.expose_provenance());
    // SAFETY: the kernel's calls take a path and an environment at these places.
    unsafe {
        if number == libc::SYS_execve {
            let exec = |fit| call([first, second, word(fit, third), fourth, fifth]);
            return become_it(at(path(first)), list(third), exec);
        }
        let exec = |fit| call([first, second, third, word(fit, fourth), fifth]);
        from(first as c_int, path(second), list(fourth), fifth as c_int, exec)
    }
}
