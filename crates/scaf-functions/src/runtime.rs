//! Functions of OpenMP runtimes: GCC's libgomp, LLVM's libomp, Intel's libiomp5.

use crate::symbol::Symbol;

/// What is known of a runtime's function.
#[derive(Debug)]
pub struct Function {
    /// Its symbol; a `*` at its end stands for whatever follows, unless that has a row of its own.
    pub name: Symbol,
    /// Its names for Fortran, which passes arguments by address: bits of [`FORTRAN`].
    fortran: u8,
    /// What a member gets who calls it.
    pub member: Member,
    /// What calls of it say of the program: bits of [`says`].
    pub says: u32,
    /// What it tells about the team.
    pub tells: Tells,
    /// How many integer or pointer arguments it takes, if code analysis is to know.
    pub arguments: Option<u8>,
    /// Whether libscaf exports it.
    pub exported: bool,
}

/// What may follow a symbol in its names for Fortran.
const FORTRAN: [&str; 2] = ["_", "_8_"];

impl Function {
    /// What follows its symbol in its names for Fortran.
    pub fn fortran(&self) -> impl Iterator<Item = &'static str> {
        FORTRAN.into_iter().filter(|ending| self.fortran & fortran(ending) != 0)
    }
}

const fn fortran(ending: &str) -> u8 {
    match ending.as_bytes() {
        b"_" => 1,
        b"_8_" => 2,
        _ => panic!("a name for Fortran ends with _ or _8_"),
    }
}

/// What a member of a gathered team gets who calls a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    /// Our handler's answer.
    Ours,
    /// The runtime's own, which knows nothing of a team.
    Neutral,
    /// Nothing: a program that calls it isn't gathered.
    Forbidden,
}

/// What a function tells about the team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tells {
    /// How many threads it has.
    TeamSize,
    /// The calling thread's number in it.
    ThreadNumber,
    /// Tells about the team in another way, which is not followed further.
    Inquiry,
    /// Deals out sections, which may wait for each other.
    Sections,
    /// Tells about the team, but libscaf answers it so that nobody learns the size. That doesn't hold for
    /// what is looked up by its name.
    Answered,
    /// Nothing.
    Nothing,
    /// Not known: nobody may count on anything.
    Unknown,
}

/// What a program's calls say of it: bits.
pub mod says {
    /// Its teams can't be gathered.
    pub const FORBIDDEN: u32 = 1;
    /// It may ask what it has chosen (schedule, dynamic, nested...), or have loops by that schedule.
    pub const CHOSEN: u32 = 2;
    /// It may create tasks.
    pub const TASKS: u32 = 4;
    /// Code of gcc's.
    pub const GOMP: u32 = 8;
    /// Code of LLVM's compilers.
    pub const KMPC: u32 = 16;
    /// It may cancel constructs.
    pub const CANCELS: u32 = 32;
    /// Iterations of its loops may wait for each other.
    pub const WAITS: u32 = 64;
    /// It may have reductions over the tasks of a group.
    pub const REDUCES: u32 = 128;
    /// It may start threads by itself.
    pub const THREADS: u32 = 256;
    /// Its loops may come with memory that the team shares, and have barriers within.
    pub const SHARED: u32 = 512;
    /// It may ask whether the calling task has a lock: libgomp's belong to tasks.
    pub const TASKS_LOCKS: u32 = 1024;
    /// All of these.
    pub const ALL: u32 = 2047;
}

macro_rules! rows {
    ($(
        $symbol:ident $(($($argument:ty),*) $(-> $result:ty)?)? $(as $type:ty)?:
        $member:ident $([$($says:ident)*])? $(, $tells:ident $(($count:literal))?)?
        $(=> $kind:ident $($handler:path)?)? $(| $($ending:tt $(= $own:path)?),*)?;
    )*) => {
        /// One for each function, sorted by name.
        pub static FUNCTIONS: &[Function] = &[$(
            Function {
                name: Symbol::new(stringify!($symbol)),
                fortran: 0 $($(| fortran(stringify!($ending)))*)?,
                member: member!($member $($kind)?),
                says: 0 $($(| says::$says)*)?,
                tells: optional!(Tells::Unknown $($tells)?),
                arguments: optional!(@count $($($count)?)?),
                exported: optional!(@is $($kind)?),
            },
        )*];
    };
}

/// A row can't say `ours` without a handler.
macro_rules! member {
    (ours) => {
        compile_error!("what is ours needs a handler")
    };
    (ours $kind:ident) => {
        Member::Ours
    };
    (neutral) => {
        Member::Neutral
    };
    (forbidden $($kind:ident)?) => {
        Member::Forbidden
    };
}

macro_rules! optional {
    (Tells::Unknown) => {
        Tells::Unknown
    };
    (Tells::Unknown $tells:ident) => {
        Tells::$tells
    };
    (@count) => {
        None
    };
    (@count $count:literal) => {
        Some($count)
    };
    (@is) => {
        false
    };
    (@is $kind:ident) => {
        true
    };
}
pub(crate) use optional;

runtime_functions!(rows);

/// Families: every function whose name begins so and has no row of its own.
pub static FAMILIES: &[Function] = &[
    // They compute with one variable, and know nothing of a team.
    family("__kmpc_atomic_*", Member::Neutral),
    // OpenACC, devices and their memory, teams' leagues.
    family("GOACC_*", Member::Forbidden),
    family("GOMP_PLUGIN_*", Member::Forbidden),
    family("GOMP_offload_*", Member::Forbidden),
    family("GOMP_target*", Member::Forbidden),
    family("GOMP_teams*", Member::Forbidden),
    family("__kmpc_dist_*", Member::Forbidden),
    family("__kmpc_get_interop_*", Member::Forbidden),
    family("__kmpc_push_num_teams*", Member::Forbidden),
    family("__kmpc_team_static_init_*", Member::Forbidden),
    family("__tgt_*", Member::Forbidden),
    family("acc_*", Member::Forbidden),
    family("omp_get_device_*", Member::Forbidden),
    family("omp_get_devices_*", Member::Forbidden),
    family("omp_get_interop_*", Member::Forbidden),
    family("omp_target_*", Member::Forbidden),
    // The inside and the settings of LLVM's runtime; Intel's atomic operations on structures, by locks of it.
    family("__kmp_*", Member::Forbidden),
    family("__kmpc___atomic_*", Member::Forbidden),
    family("__kmpc_barrier_master*", Member::Forbidden),
    family("__kmpc_init_lock*", Member::Forbidden),
    family("__kmpc_init_nest_lock*", Member::Forbidden),
    family("__kmpc_proxy_task_completed*", Member::Forbidden),
    family("kmp_*", Member::Forbidden),
    family("omp_pause_resource*", Member::Forbidden),
    // Other names of kmp_* and omp_*: for C with Fortran's runtime, and for Fortran's modules.
    family("kmpc_*", Member::Forbidden),
    family("omp_lib*", Member::Forbidden),
    family("ompc_*", Member::Forbidden),
];

const fn family(name: &'static str, member: Member) -> Function {
    let (name, tells) = (Symbol::new(name), Tells::Unknown);
    Function { name, fortran: 0, member, says: 0, tells, arguments: None, exported: false }
}

/// How the names of runtimes' functions begin. What begins so and has no row is unknown.
const PREFIXES: [&[u8]; 9] =
    [b"GOMP_", b"omp_", b"__kmp", b"kmp_", b"kmpc_", b"ompc_", b"GOACC_", b"acc_", b"__tgt_"];

/// Whether a function of this name is an OpenMP runtime's, known or not.
#[must_use]
pub fn is_runtimes(name: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The row of a function, by any of its names.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Function> {
    let exact = |name: &[u8]| {
        let at = FUNCTIONS.binary_search_by(|row| row.name.bytes().cmp(name)).ok()?;
        FUNCTIONS.get(at)
    };
    let fortrans = |ending: &str| {
        let row = exact(name.strip_suffix(ending.as_bytes())?)?;
        (row.fortran & fortran(ending) != 0).then_some(row)
    };
    let begins = |row: &&Function| row.name.is_family_of(name);
    let found = exact(name).or_else(|| fortrans("_")).or_else(|| fortrans("_8_"));
    found.or_else(|| FAMILIES.iter().find(begins))
}

const _: () = {
    let mut at = 1;
    while at < FUNCTIONS.len() {
        assert!(FUNCTIONS[at - 1].name.is_before(&FUNCTIONS[at].name), "the rows aren't sorted");
        at += 1;
    }
};
