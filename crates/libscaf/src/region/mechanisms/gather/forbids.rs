//! What forbids gathering a program: functions that one of its modules calls, found in the tables by which
//! the dynamic linker binds them ([`calls`]).

use super::member_stacks;
use crate::link::no_syscalls;
use crate::runtimes::entries::Runtime;
use crate::runtimes::linker::{any_module, file_of, segments_of};
use crate::runtimes::module_tables::Tables;
use crate::runtimes::modules;
use crate::sys::errno::keeping_errno;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use scaf_functions::runtime::says;
use scaf_functions::{calls, files};
use scaf_proto::report::{NAME_BYTES, ReportPage};

/// What is known: how many modules there were, plus one, and what their calls say, from bit [`SAID`] on.
static LOOKED: AtomicU32 = AtomicU32::new(0);
const SAID: u32 = 20;
const MODULES: u32 = (1 << SAID) - 1;

/// What the modules in the dynamic linker's list say, up to some place in it. It adds at its end, so while
/// none has gone, those behind that place are new: to read the tables of all of them takes 5 ms in a Python
/// program, which loads libraries again and again.
struct Seen {
    said: u32,
    modules: u32,
    /// How many modules had gone by then.
    gone: u32,
}

/// The latest one, packed: what it holds belongs together, whoever has looked.
static SEEN: AtomicU64 = AtomicU64::new(0);

impl Seen {
    fn of(packed: u64) -> Seen {
        let modules = (packed >> 32) as u32 & MODULES;
        Seen { said: (packed >> (32 + SAID)) as u32, modules, gone: packed as u32 }
    }

    fn packed(&self) -> u64 {
        u64::from(self.said) << (32 + SAID) | u64::from(self.modules & MODULES) << 32 | u64::from(self.gone)
    }
}

/// A look at the list.
struct Tour {
    seen: Seen,
    at: u32,
}

/// The function that was found, as far as it fits.
struct Name([AtomicU8; NAME_BYTES]);
static NAME: Name = Name([const { AtomicU8::new(0) }; NAME_BYTES]);

impl Name {
    fn keep(&self, name: &[u8]) {
        let padded = name.iter().copied().chain(core::iter::repeat(0));
        self.0.iter().zip(padded).for_each(|(cell, byte)| cell.store(byte, Ordering::Relaxed));
    }
}

/// Tells the daemon which function forbids it.
pub fn tell(page: &ReportPage) {
    let mut name = [0; NAME_BYTES];
    name.iter_mut().zip(&NAME.0).for_each(|(byte, cell)| *byte = cell.load(Ordering::Relaxed));
    page.set_forbids(&name);
}

/// Whether nothing in the process forbids it for regions of that runtime. Looks again where libraries have
/// come.
#[inline(always)]
pub fn nothing(runtime: &Runtime) -> bool {
    if let Some(said) = known() {
        return permits(said, runtime);
    }
    // Looking takes a system call.
    if no_syscalls::are_known_forbidden() {
        return false;
    }
    let now = modules::met().wrapping_add(1) & MODULES;
    let mut tour = Tour { seen: Seen::of(SEEN.load(Ordering::Relaxed)), at: 0 };
    let go = |tour: &mut Tour| any_module(|about| look(about, tour));
    // The number of those that have gone may be the same again where there are several lists.
    if !go(&mut tour) && tour.at < tour.seen.modules {
        tour = Tour { seen: Seen::of(0), at: 0 };
        go(&mut tour);
    }
    let said = tour.seen.said;
    SEEN.store(tour.seen.packed(), Ordering::Relaxed);
    LOOKED.store(now | said << SAID, Ordering::Relaxed);
    permits(said, runtime)
}

/// A region of gcc's within one of LLVM's, or the other way round, is another runtime's. libgomp's nestable
/// locks are a task's, and a member's tasks all look like one.
fn permits(said: u32, runtime: &Runtime) -> bool {
    let both = |one: u32, other: u32| said & one != 0 && said & other != 0;
    said & says::FORBIDDEN == 0
        && !both(says::GOMP, says::KMPC)
        && (said & says::KMPC == 0 || runtime.is_llvms())
        && (!both(says::TASKS, says::TASKS_LOCKS) || runtime.is_llvms())
}

/// Whether the program is gcc's code.
pub fn calls_gomp() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::GOMP != 0
}

/// What calls say, if that was looked for since the last library came. Doesn't ask the dynamic linker, whose
/// lock a master that waits may hold.
#[inline(always)]
fn known() -> Option<u32> {
    let (now, known) = (modules::met().wrapping_add(1) & MODULES, LOOKED.load(Ordering::Relaxed));
    (known & MODULES == now && modules::NEWS.load(Ordering::Relaxed) == 0).then_some(known >> SAID)
}

/// Whether the program is known not to start threads by itself.
pub fn starts_no_threads() -> bool {
    known().is_some_and(|said| said & (says::THREADS | says::FORBIDDEN) == 0)
}

#[inline(always)]
pub fn has_tasks() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::TASKS != 0
}

/// Whether iterations of its loops may wait for each other.
#[inline(always)]
fn waits_within() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::WAITS != 0
}

pub fn reduces() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::REDUCES != 0
}

/// Whether its loops may come with memory that the team shares, and have barriers within.
pub fn shares_memory() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::SHARED != 0
}

/// Whether members of long regions can be shared out anew among more carriers: tasks are, and so are members
/// that wait for each other within loops, which on threads of one PU take a time slice each.
pub fn are_shared_out() -> bool {
    has_tasks() || waits_within()
}

#[inline(always)]
pub fn cancels() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::CANCELS != 0
}

/// Whether the program may ask what it has chosen, or have loops by that schedule.
#[inline(always)]
pub fn asks_icvs() -> bool {
    LOOKED.load(Ordering::Relaxed) >> SAID & says::CHOSEN != 0
}

/// Whether nothing forbade it when that was last looked for, and no library has come since.
pub fn still_nothing(runtime: &Runtime) -> bool {
    known().is_some_and(|said| permits(said, runtime))
}

/// Looks into a module; `true` once gathering is forbidden.
fn look(about: &libc::dl_phdr_info, tour: &mut Tour) -> bool {
    let gone = about.dlpi_subs as u32;
    if tour.at == 0 && gone != tour.seen.gone {
        tour.seen = Seen { said: 0, modules: 0, gone };
    }
    if tour.seen.said & says::FORBIDDEN != 0 {
        return true;
    }
    tour.at = tour.at.wrapping_add(1);
    if tour.at <= tour.seen.modules {
        return false;
    }
    tour.seen.modules = tour.at;
    // SAFETY: the dynamic linker's description of a loaded module.
    if unsafe { wants_code_on_stacks(about) } {
        member_stacks::make_executable();
    }
    // SAFETY: the dynamic linker's description of a loaded module, whose relocations name symbols in its
    // table, and these C strings in its string table: the dynamic linker has used them itself.
    unsafe {
        let Some(tables) = tables(about) else { return false };
        let file = file_of(about);
        for (first, count) in tables.relocations {
            for number in 0..count {
                let symbol = &*tables.symbols.add(((*first.add(number)).info >> 32) as usize);
                if symbol.st_name == 0 || symbol.st_shndx != 0 {
                    continue;
                }
                let name = CStr::from_ptr(tables.names.add(symbol.st_name as usize)).to_bytes();
                tour.seen.said |= calls::say_in(file, name);
                if tour.seen.said & says::FORBIDDEN != 0 {
                    NAME.keep(name);
                    return true;
                }
            }
        }
        false
    }
}

/// Whether the module asks for executable stacks, by its header for them or by having none, as glibc sees it.
unsafe fn wants_code_on_stacks(about: &libc::dl_phdr_info) -> bool {
    // SAFETY: the caller's module, whose table of segments is where it says.
    unsafe {
        if file_of(about).starts_with(b"linux-vdso") {
            return false;
        }
        let stack = segments_of(about).iter().find(|header| header.p_type == libc::PT_GNU_STACK);
        stack.is_none_or(|header| header.p_flags & libc::PF_X != 0)
    }
}

fn is_python() -> bool {
    let mut path = [0u8; 4096];
    // SAFETY: fills memory of ours.
    let length = keeping_errno(|| unsafe {
        libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), path.len())
    });
    let path = usize::try_from(length).ok().and_then(|length| path.get(..length)).unwrap_or(&[]);
    path.rsplit(|byte| *byte == b'/').next().is_some_and(|file| file.starts_with(b"python"))
}

/// The tables of a module; `None` if it has none, or is one whose calls don't count: the runtimes themselves,
/// the C library, Python's interpreter and us.
unsafe fn tables(about: &libc::dl_phdr_info) -> Option<Tables> {
    // SAFETY: the caller's module.
    unsafe {
        let file = file_of(about);
        let own: [&[u8]; 4] = [b"libc.so", b"libscaf.so", b"ld-linux", b"linux-vdso"];
        let is_python = if file.is_empty() { is_python() } else { file.starts_with(b"libpython") };
        if is_python || files::is_openmp_runtime(file) || own.iter().any(|prefix| file.starts_with(prefix)) {
            return None;
        }
        Tables::of(about)
    }
}
