//! What `scaf run` (or an admin) sets by the environment. Read once, when the library is loaded, because a
//! program may change its environment later. A value out of range is ignored: the library can't complain.
//! `SCAF_SOCKET` path of the daemon's socket · `SCAF_NAME` · `SCAF_MIN`, `SCAF_MAX` contexts, 1 to 65,535 ·
//! `SCAF_WEIGHT_MILLI` thousandths, 1 to 1,000,000 · `SCAF_RIGID` 1 · `SCAF_EXACT` 1 · `SCAF_TURNS` 0 or 1 ·
//! `SCAF_SPIN` rounds, 0 to 2^32 - 1 · `SCAF_EXPERIMENT_EVERY` regions, from 1 (tests) · `SCAF_TCM` `scaf`
//! or `off` ([`Manager`]) · `SCAF_GATHER` 0 · `SCAF_MALLEABLE` 1, or `check` ([`Malleable`]) ·
//! `SCAF_FILTERS` filters of system calls · `SCAF_JOB` JOB.STEP, Slurm's numbers, of the step the low 16
//! bits

use super::file::decimal;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use scaf_proto::hello::NAME_BYTES;

/// How long barriers spin if nobody says anything, in rounds of 15 ns: libgomp's default. Threads of a folded
/// program sleep at once.
const SPIN: u32 = 300_000;

/// Longest path of a UNIX socket, its final zero included.
pub const PATH_BYTES: usize = 108;

/// Whose Thread Composability Manager oneTBB is to have (`entry/tbb/manager`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// Nobody said anything: ours, unless the program is linked with another one.
    Unsaid,
    /// Intel's, if it is there (`TCM_ENABLE=1`), else ours.
    Theirs,
    /// Ours (`SCAF_TCM=scaf`).
    Ours,
    /// Ours by no means (`SCAF_TCM=off`).
    Off,
}

/// Whether teams may be resized without asking code analysis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Malleable {
    No,
    /// By the user's word, whatever size the program asks for.
    Yes,
    /// Because `scaf check` tries it out: all but the sizes that the program fixes, and none starts whole.
    Check,
}

pub struct Settings {
    /// The socket's path; empty if not given.
    pub socket: [u8; PATH_BYTES],
    /// The per-user runtime folder (`XDG_RUNTIME_DIR`); empty if not given.
    pub runtime_dir: [u8; PATH_BYTES],
    pub name: [u8; NAME_BYTES],
    /// Slurm's number of the job that the program belongs to; 0 for none.
    pub job: u32,
    /// The low 16 bits of Slurm's number of its step.
    pub step: u16,
    /// A number made from the MPI launcher's name for the job (PMIx); 0 for none.
    pub launch: u64,
    pub min: u32,
    /// Most contexts; 0 for no limit.
    pub max: u32,
    /// Threads by `OMP_NUM_THREADS`, of the outermost teams; 0 if it isn't set.
    pub threads: u32,
    pub weight_milli: u32,
    /// The program needs all its contexts at once whenever it runs.
    pub rigid: bool,
    /// Results are to keep their bits: nothing is done that could have sums added up in another order.
    pub exact: bool,
    /// Whether it may be stopped for others' turns, if its user says so.
    pub turns: Option<bool>,
    pub malleable: Malleable,
    /// `OMP_DYNAMIC` is set, to whatever.
    pub dynamic: bool,
    /// The user has the runtime bind threads (`OMP_PROC_BIND` or the like).
    pub bound: bool,
    /// Rounds spun at a barrier while the whole team has contexts; `None` leaves all waits to the runtime,
    /// since the user says how threads wait.
    pub spin: Option<u32>,
    /// The user says how long libgomp spins in its own waits (`GOMP_SPINCOUNT`).
    pub fixed_spin: bool,
    /// It is a rank of an MPI job.
    pub is_rank: bool,
    /// The user says how LLVM's threads are to wait (`KMP_BLOCKTIME`, `KMP_LIBRARY`).
    pub own_blocking: bool,
    /// The user says how LLVM's runtime cuts loops (`KMP_SCHEDULE`).
    pub own_shares: bool,
    /// The user says something else about LLVM's runtime, or has a tool watch it.
    pub own_llvm: bool,
    /// Bytes of threads' stacks, if the user says how large they are (`OMP_STACKSIZE`).
    pub stacks: Option<usize>,
    /// For tests: one of so many regions is tried on one context; 0 for none.
    pub experiment_every: u32,
    /// Teams whose size is fixed may be gathered.
    pub gather: bool,
    /// The user says that a BLAS with threads of its own has one.
    pub blas_alone: bool,
    pub manager: Manager,
    /// Under so many filters of system calls `scaf run` has made all calls that this library makes.
    pub filters: u32,
}

struct Once(UnsafeCell<Settings>);

// SAFETY: written by the loader's one thread before the program starts, only read afterwards.
unsafe impl Sync for Once {}

#[unsafe(link_section = ".data.at_load")]
static IS_READ: AtomicBool = AtomicBool::new(false);
static SETTINGS: Once = Once(UnsafeCell::new(Settings {
    socket: [0; PATH_BYTES],
    runtime_dir: [0; PATH_BYTES],
    name: [0; NAME_BYTES],
    job: 0,
    step: 0,
    launch: 0,
    min: 1,
    max: 0,
    threads: 0,
    weight_milli: 1_000,
    rigid: false,
    exact: false,
    turns: None,
    malleable: Malleable::No,
    dynamic: false,
    bound: false,
    spin: None,
    fixed_spin: false,
    is_rank: false,
    own_blocking: false,
    own_shares: false,
    own_llvm: false,
    stacks: None,
    experiment_every: 0,
    gather: true,
    blas_alone: false,
    manager: Manager::Unsaid,
    filters: 0,
}));

/// How many of the program's own blocks ask for exact results now ([`crate::entry`]'s `scaf_exact`).
static BLOCKS: AtomicU32 = AtomicU32::new(0);

/// Whether results are to keep their bits, by the user's word or within a block of the program's.
#[inline(always)]
pub fn exact() -> bool {
    get().exact || is_in_block()
}

#[inline(always)]
pub fn is_in_block() -> bool {
    BLOCKS.load(Ordering::Relaxed) != 0
}

/// A block begins, or the one that began last ends; an end without a beginning does nothing.
pub fn count_block(begins: bool) {
    let next = |blocks: u32| if begins { blocks.checked_add(1) } else { blocks.checked_sub(1) };
    let _ = BLOCKS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
}

pub fn get() -> &'static Settings {
    // SAFETY: nobody writes the settings once the program has started.
    unsafe { &*SETTINGS.0.get() }
}

/// Reads the settings at load, while no other thread exists.
/// # Safety
/// `environment` is null, or the loader's array of C strings, which ends with null.
pub unsafe fn read(environment: *const *const c_char) {
    // SAFETY: no other thread is there that could read the settings; the array ends as the caller says.
    unsafe {
        let settings = &mut *SETTINGS.0.get();
        let mut policy = false;
        let mut at = environment;
        while !at.is_null() && !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_bytes();
            take(settings, entry);
            policy |= entry.starts_with(b"OMP_WAIT_POLICY=");
            at = at.add(1);
        }
        settings.spin = match settings.spin {
            _ if policy => None,
            None if !settings.fixed_spin => Some(SPIN),
            said => said,
        };
        if settings.max != 0 && settings.max < settings.min {
            settings.max = settings.min;
        }
    }
    IS_READ.store(true, Ordering::Release);
}

/// Whether the user has the runtime bind threads. Runtimes bind the first one as soon as they are loaded,
/// which may be before this library is.
pub fn runtime_binds() -> bool {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    if IS_READ.load(Ordering::Acquire) {
        return get().bound;
    }
    // SAFETY: the program hasn't started, so nobody changes its environment, which ends with null.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            if parts(CStr::from_ptr(*at).to_bytes())
                .is_some_and(|(name, value)| has_runtime_bind(name, value))
            {
                return true;
            }
            at = at.add(1);
        }
    }
    false
}

/// The parts of NAME=VALUE.
fn parts(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut parts = entry.splitn(2, |byte| *byte == b'=');
    parts.next().zip(parts.next())
}

fn has_runtime_bind(name: &[u8], value: &[u8]) -> bool {
    match name {
        b"OMP_PROC_BIND" => !value.eq_ignore_ascii_case(b"false"),
        b"GOMP_CPU_AFFINITY" | b"OMP_PLACES" => true,
        b"KMP_AFFINITY" => binds(value),
        _ => false,
    }
}

fn take(settings: &mut Settings, entry: &[u8]) {
    // Nearly every entry ends here: a process without OpenMP pays for nothing else.
    if !matches!(entry.first(), Some(b'S' | b'O' | b'G' | b'K' | b'X' | b'T' | b'P')) {
        return;
    }
    settings.own_llvm |= changes_llvms(entry);
    settings.dynamic |= entry.starts_with(b"OMP_DYNAMIC");
    let Some((name, value)) = parts(entry) else { return };
    match (name, value) {
        (b"SCAF_SOCKET", _) => copy(&mut settings.socket, value),
        (b"SCAF_NAME", _) => copy(&mut settings.name, value),
        (b"SCAF_JOB", _) => (settings.job, settings.step) = job(value).unwrap_or((0, 0)),
        (b"PMIX_NAMESPACE", _) => settings.launch = hash(value),
        (b"SCAF_MIN", _) => settings.min = number(value, 65_535).unwrap_or(1),
        (b"SCAF_MAX", _) => settings.max = number(value, 65_535).unwrap_or(0),
        (b"SCAF_WEIGHT_MILLI", _) => settings.weight_milli = number(value, 1_000_000).unwrap_or(1_000),
        (b"SCAF_RIGID", b"1") => settings.rigid = true,
        (b"SCAF_EXACT", b"1") => settings.exact = true,
        (b"SCAF_TURNS", b"1") => settings.turns = Some(true),
        (b"SCAF_TURNS", b"0") => settings.turns = Some(false),
        (b"SCAF_MALLEABLE", b"1") => settings.malleable = Malleable::Yes,
        (b"SCAF_MALLEABLE", b"check") => settings.malleable = Malleable::Check,
        (b"SCAF_SPIN", b"0") => settings.spin = Some(0),
        (b"SCAF_SPIN", _) => settings.spin = number(value, u32::MAX),
        (b"SCAF_EXPERIMENT_EVERY", _) => settings.experiment_every = number(value, u32::MAX).unwrap_or(0),
        (b"SCAF_FILTERS", _) => settings.filters = number(value, u32::MAX).unwrap_or(0),
        (b"SCAF_GATHER", b"0") => settings.gather = false,
        (b"OPENBLAS_NUM_THREADS" | b"GOTO_NUM_THREADS", b"1") => settings.blas_alone = true,
        (b"SCAF_TCM", b"scaf") => settings.manager = Manager::Ours,
        (b"SCAF_TCM", b"off") => settings.manager = Manager::Off,
        (b"TCM_ENABLE", b"1") if settings.manager == Manager::Unsaid => settings.manager = Manager::Theirs,
        (b"XDG_RUNTIME_DIR", _) => copy(&mut settings.runtime_dir, value),
        (b"OMP_NUM_THREADS", _) => {
            // A list has a number for each level.
            let first = value.split(|byte| *byte == b',').next().unwrap_or(value);
            settings.threads = number(first.trim_ascii(), 65_535).unwrap_or(0);
        }
        (b"GOMP_SPINCOUNT", _) => settings.fixed_spin = true,
        (b"KMP_BLOCKTIME" | b"KMP_LIBRARY", _) => settings.own_blocking = true,
        (b"OMP_STACKSIZE" | b"GOMP_STACKSIZE" | b"KMP_STACKSIZE", _) => {
            settings.stacks = settings.stacks.max(Some(bytes(value)));
        }
        (b"KMP_SCHEDULE", _) => settings.own_shares = true,
        // Set for each rank by the launchers of Open MPI, MPICH and PMIx.
        (b"OMPI_COMM_WORLD_RANK" | b"PMI_RANK" | b"PMIX_RANK", _) => settings.is_rank = true,
        _ => settings.bound |= has_runtime_bind(name, value),
    }
}

fn changes_llvms(entry: &[u8]) -> bool {
    // A team's size is ours even where the runtime would choose it (`program/permission.rs`).
    let harmless: [&[u8]; 5] =
        [b"KMP_DUPLICATE_LIB_OK=", b"KMP_WARNINGS=", b"KMP_SETTINGS=", b"KMP_VERSION=", b"KMP_DYNAMIC_MODE="];
    entry.starts_with(b"OMP_TOOL_LIBRARIES=")
        || (entry.starts_with(b"KMP_") && !harmless.iter().any(|name| entry.starts_with(name)))
}

fn binds(value: &[u8]) -> bool {
    let kinds: [&[u8]; 6] = [b"compact", b"scatter", b"balanced", b"explicit", b"physical", b"logical"];
    let has =
        |kind: &[u8], at| value.get(at..at + kind.len()).is_some_and(|part| part.eq_ignore_ascii_case(kind));
    kinds.iter().any(|kind| (0..value.len()).any(|at| has(kind, at)))
}

/// A number of KiB, or of what the letter behind it says; no stack is as large as what isn't understood.
fn bytes(value: &[u8]) -> usize {
    let value = value.trim_ascii();
    let end = value.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let unit = match unit.trim_ascii() {
        b"B" | b"b" => 1,
        b"" | b"K" | b"k" => 1 << 10,
        b"M" | b"m" => 1 << 20,
        b"G" | b"g" => 1 << 30,
        _ => return usize::MAX,
    };
    let number = decimal(digits).filter(|number| *number != 0);
    number.map_or(usize::MAX, |number| (number as usize).saturating_mul(unit))
}

fn copy(to: &mut [u8], value: &[u8]) {
    if value.len() < to.len() {
        for (cell, byte) in to.iter_mut().zip(value) {
            *cell = *byte;
        }
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn job(value: &[u8]) -> Option<(u32, u16)> {
    let dot = value.iter().position(|byte| *byte == b'.')?;
    let (job, step) = (value.get(..dot)?, value.get(dot + 1..)?);
    let step = if step == b"0" { 0 } else { number(step, u32::from(u16::MAX))? as u16 };
    Some((number(job, u32::MAX)?, step))
}

fn number(digits: &[u8], most: u32) -> Option<u32> {
    decimal(digits).filter(|value| (1..=most).contains(value))
}
