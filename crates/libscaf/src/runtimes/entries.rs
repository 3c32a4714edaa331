//! The functions of an OpenMP runtime, from their table (`crates/scaf-functions`): GCC's libgomp, LLVM's
//! libomp or Intel's libiomp5. The latter two are one runtime, which also has libgomp's entry points.

use crate::sys::symbols::function;
use core::ffi::{c_int, c_void};

/// An outlined function: the body of a region.
pub type Body = unsafe extern "C" fn(*mut c_void);
type Long = i64;
type Pointer = *mut c_void;
type ParallelLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long, u32);
type ParallelRuntimeLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, u32);
type LoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long);
type RuntimeLoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    *mut c_void,
    Long,
    Long,
    bool,
    u32,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);
/// Calls that wait: with one argument or none, and a result or none.
pub type Wait = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Passed on as it came, whatever its arguments.
type Whatever = unsafe extern "C" fn();
/// LLVM's description of a place in the source.
pub type Place = *mut c_void;
/// LLVM's outlined function: gets two of its thread's numbers by address, and the region's own arguments.
pub type Micro = unsafe extern "C" fn(*const c_int, *const c_int, ...);
/// Enters a region, or a league of teams, with so many arguments for the function.
pub type ForkCall = unsafe extern "C" fn(Place, c_int, Micro, ...);
/// Most of LLVM's entry points: a place, the thread's number, and nothing else.
pub type Here = unsafe extern "C" fn(Place, c_int);
/// The next chunk of a loop; writes whether it is the last, its bounds and its step.
pub type NextChunk =
    unsafe extern "C" fn(Place, c_int, *mut c_int, *mut c_void, *mut c_void, *mut c_void) -> c_int;
/// A thread's share of a static loop over `T`, with differences `S`: schedule, whether the share has the last
/// iteration, both bounds, stride, step, chunk size.
pub type ShareOut<T, S> = unsafe extern "C" fn(Place, c_int, c_int, *mut c_int, *mut T, *mut T, *mut S, S, S);
type TaskLoop =
    unsafe extern "C" fn(Body, *mut c_void, *mut c_void, Long, Long, u32, u64, c_int, Long, Long, Long);

/// A function's name for C, by its row's.
macro_rules! name_of {
    ($symbol:ident) => {
        const { $crate::sys::symbols::c_string(concat!(stringify!($symbol), "\0")) }
    };
}
pub(crate) use name_of;

macro_rules! runtime {
    ($(
        $symbol:ident $(($($argument:ty),*) $(-> $result:ty)?)? $(as $type:ty)?:
        $member:ident $([$($says:ident)*])? $(, $tells:ident $(($count:literal))?)?
        $(=> $kind:ident $($handler:path)?)? $(| $($ending:tt $(= $own:path)?),*)?;
    )*) => {
        /// Functions of one copy that are called here, by their own names; `None` where it is too old, and
        /// then no code linked with it calls them.
        #[allow(non_snake_case)]
        pub struct Runtime {
            /// It isn't one that is known: everything is passed on to it, and nothing is managed.
            pub is_foreign: bool,
            $(
                $(pub $symbol: Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>,)?
                $(pub $symbol: Option<$type>,)?
            )*
        }

        impl Runtime {
            pub const EMPTY: Runtime = Runtime {
                is_foreign: false,
                $(
                    $($symbol: None::<unsafe extern "C" fn($($argument),*) $(-> $result)?>,)?
                    $($symbol: None::<$type>,)?
                )*
            };

            /// Fills the table.
            /// # Safety
            /// `library` is a handle from dlopen, of a runtime whose functions have the types of their rows.
            pub unsafe fn load(&mut self, library: *mut c_void) {
                // SAFETY: a handle of dlopen's; what is found has its row's type, or is null, which is
                // `None`.
                unsafe {
                    $(
                        $(self.$symbol = function::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                            libc::dlsym(library, name_of!($symbol).as_ptr()).expose_provenance(),
                        );)?
                        $(self.$symbol = function::<$type>(
                            libc::dlsym(library, name_of!($symbol).as_ptr()).expose_provenance(),
                        );)?
                    )*
                }
            }
        }
    };
}

scaf_functions::runtime_functions!(runtime);

impl Runtime {
    #[inline(always)]
    pub fn is_llvms(&self) -> bool {
        self.__kmpc_fork_call.is_some()
    }

    /// Whether it has all that any version of LLVM's runtime has. Another one with some of its entry points
    /// may run several threads of a team on one of the kernel's.
    pub fn is_llvms_in_full(&self) -> bool {
        self.__kmpc_global_thread_num.is_some()
            && self.__kmpc_push_num_threads.is_some()
            && self.__kmpc_for_static_init_4.is_some()
            && self.__kmpc_for_static_init_8u.is_some()
            && self.__kmpc_dispatch_init_8u.is_some()
            && self.__kmpc_omp_task_alloc.is_some()
            && self.__kmpc_reduce_nowait.is_some()
            && self.__kmpc_doacross_init.is_some()
            && self.kmp_get_blocktime.is_some()
            && self.GOMP_barrier.is_some()
            && self.omp_get_thread_num.is_some()
    }

    /// Threads of the team that the calling thread is in, as the runtime says.
    #[inline(always)]
    pub fn team(&self) -> u32 {
        // SAFETY: omp_get_num_threads takes nothing.
        self.omp_get_num_threads.map_or(1, |num_threads| unsafe { num_threads() }).max(1) as u32
    }

    /// Whether its barriers and ends of loops can be taken over.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.GOMP_barrier.is_some()
            && self.GOMP_loop_end_nowait.is_some()
            && self.GOMP_sections_end_nowait.is_some()
            && self.omp_get_num_threads.is_some()
            && self.omp_get_thread_num.is_some()
    }
}
