//! The calls by which programs wait in MPI (`program/mpi_rank.rs`), for C and Fortran, in Open MPI and MPICH.
//! Each is passed on to the next library that has it. Handles are numbers in one MPI and addresses in the
//! other, so all arguments are words. Polling loops are noticed by a call at each turn: Open MPI's yields,
//! once it is told to, and MPICH's asks UCX. Other MPIs are passed on, and nothing is lent.

use crate::program::mpi_rank;
use crate::runtimes::entries::name_of;
use crate::runtimes::linker::{in_library_of, module_of, size_of_module};
use crate::sys::arch;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::{function, next};
use crate::sys::thread_state::{self, LINK_AT, MPI_AT, Part};
use core::cell::Cell;
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// MPI_ERR_OTHER of Open MPI; MPICH's is one less. For a program that asked by a weak reference whether the
/// call is there.
const NO_MPI: c_int = 16;

/// Libraries that were unloaded so far: what was found before may be gone.
static UNLOADS: AtomicU32 = AtomicU32::new(0);

pub fn forget_unloaded() {
    UNLOADS.fetch_add(1, Ordering::AcqRel);
}

/// A function by its name, as the dynamic linker would have bound a call to it: to the next one that all see,
/// else to that of the caller's library and those that it depends on. The latter may differ from caller to
/// caller (Python's modules, a plug-in that brings an MPI of one rank), so one library's answer is kept.
struct Real {
    name: &'static CStr,
    /// [`EMPTY`], [`BUSY`] or [`KEPT`].
    state: AtomicU32,
    /// [`UNLOADS`] when it was found.
    unloads: AtomicU32,
    found: AtomicUsize,
    /// Where the callers are that it is for: a module's begin and size; size `usize::MAX` for all.
    begin: AtomicUsize,
    size: AtomicUsize,
}

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const KEPT: u32 = 2;

impl Real {
    const fn called(name: &'static CStr) -> Real {
        Real {
            name,
            state: AtomicU32::new(EMPTY),
            unloads: AtomicU32::new(0),
            found: AtomicUsize::new(0),
            begin: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
        }
    }

    /// # Safety
    /// `F` is the type of a pointer to that function.
    #[inline]
    unsafe fn get<F: Copy>(&self, caller: usize) -> Option<F> {
        let unloads = UNLOADS.load(Ordering::Acquire);
        if self.state.load(Ordering::Acquire) == KEPT && self.unloads.load(Ordering::Relaxed) == unloads {
            let found = self.found.load(Ordering::Relaxed);
            let offset = caller.wrapping_sub(self.begin.load(Ordering::Relaxed));
            let is_for_caller = offset < self.size.load(Ordering::Relaxed);
            // What is kept changes after an unload only.
            if is_for_caller && UNLOADS.load(Ordering::Acquire) == unloads {
                // SAFETY: F is the function's type, as the caller says, and this address was found by its
                // name.
                return unsafe { function(found) };
            }
        }
        // SAFETY: F is the function's type, as the caller says.
        unsafe { function(keeping_errno(|| self.find(caller, unloads))) }
    }

    #[cold]
    fn find(&self, caller: usize, unloads: u32) -> usize {
        // SAFETY: an address, which nobody calls here.
        let of_all: Option<usize> = unsafe { next(self.name) };
        let (found, begin, size) = match of_all {
            Some(found) => (found, 0, usize::MAX),
            None => {
                // That there is none is kept, too.
                let found = in_library_of(caller, self.name).map_or(0, |found| found.addr());
                let begin = module_of(caller).map_or(0, |(_, begin)| begin);
                (found, begin, if begin == 0 { 0 } else { size_of_module(begin) })
            }
        };
        let state = self.state.load(Ordering::Acquire);
        let is_old = state == KEPT && self.unloads.load(Ordering::Relaxed) != unloads;
        if (state == EMPTY || is_old)
            && self.state.compare_exchange(state, BUSY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            self.found.store(found, Ordering::Relaxed);
            self.begin.store(begin, Ordering::Relaxed);
            self.size.store(size, Ordering::Relaxed);
            self.unloads.store(unloads, Ordering::Relaxed);
            self.state.store(KEPT, Ordering::Release);
        }
        found
    }
}

/// Whether Open MPI yields in the call that is heard because we had it do so.
static YIELDS_FOR_US: AtomicBool = AtomicBool::new(false);

/// Has Open MPI yield where it polls in vain, for the call that is heard, or no longer. By itself it does so
/// only where it knows of more ranks than cores. What comes of it is [`is_turn`]'s. `mpi` is an address in
/// its library.
fn set_polls_yield(mpi: usize, yields: bool) {
    type Set = unsafe extern "C" fn(bool) -> bool;
    static SET: Real = Real::called(c"opal_progress_set_yield_when_idle");
    if !yields && !YIELDS_FOR_US.swap(false, Ordering::Relaxed) {
        return;
    }
    // SAFETY: Open MPI's function has this type since 1.0; it writes a variable, and answers what that was.
    unsafe {
        if let Some(set) = SET.get::<Set>(mpi)
            && !set(yields)
            && yields
        {
            YIELDS_FOR_US.store(true, Ordering::Relaxed);
        }
    }
}

/// A thread yields. Whether that is a turn of MPI's which it would have polled through without us.
#[inline(always)]
pub fn is_turn() -> bool {
    mpi_rank::waits() && YIELDS_FOR_US.load(Ordering::Relaxed)
}

arch::with_caller! {
    // One turn of UCX's, by which MPICH polls; the number of things that it found done.
    ucp_worker_progress => turn_of_ucx, behind (*mut c_void);
}

unsafe extern "C" fn turn_of_ucx(worker: *mut c_void, caller: usize) -> c_uint {
    static REAL: Real = Real::called(c"ucp_worker_progress");
    // SAFETY: UCX's function takes a worker and returns a number; the worker is the caller's.
    unsafe {
        let Some(real) = REAL.get::<unsafe extern "C" fn(*mut c_void) -> c_uint>(caller) else {
            return 0;
        };
        let done = real(worker);
        if done == 0 {
            mpi_rank::waits();
        } else {
            mpi_rank::found();
        }
        done
    }
}

/// Defines calls by which programs wait: for C, and with one argument more for Fortran's two interfaces. The
/// entry point puts its return address aside, which tells whose call it is.
macro_rules! waits {
    ($($c:ident $fortran:ident $fortran_2008:ident ($($argument:ident)*);)*) => {
        $(
            waits!(@one $c (say_nothing) ($($argument)*));
            waits!(@one $fortran (say_no_mpi) ($($argument)* error));
            waits!(@one $fortran_2008 (say_no_mpi) ($($argument)* error));
        )*
    };
    (@one $name:ident ($fail:expr) ($($argument:ident)*)) => {
        const _: () = {
            arch::recorded_caller! { $name => heard, at MPI_AT }

            unsafe extern "C" fn heard($($argument: usize),*) -> c_int {
                type Call = unsafe extern "C" fn($(waits!(@word $argument)),*) -> c_int;
                static REAL: Real = Real::called(name_of!($name));
                let caller = caller();
                // SAFETY: MPI's function of that name takes so many words, and gets what its caller passed.
                unsafe {
                    let Some(real) = REAL.get::<Call>(caller) else {
                        let fail: fn(&[usize]) = $fail;
                        fail(&[$($argument),*]);
                        return NO_MPI;
                    };
                    let place = 0u8;
                    let is_heard = mpi_rank::begin((&raw const place).addr());
                    if is_heard {
                        set_polls_yield(real as usize, true);
                    }
                    let result = real($($argument),*);
                    if is_heard {
                        set_polls_yield(real as usize, false);
                        mpi_rank::end();
                    }
                    result
                }
            }
        };
    };
    (@word $argument:ident) => { usize };
}

fn say_nothing(_: &[usize]) {}

/// Fortran has the result in its last argument, unless that is left out.
fn say_no_mpi(arguments: &[usize]) {
    if let Some(error) = arguments.last()
        && *error != 0
    {
        // SAFETY: Fortran passes the address of an integer.
        unsafe { *core::ptr::with_exposed_provenance_mut::<c_int>(*error) = NO_MPI };
    }
}

/// The return address that the entry point has put aside.
struct ReturnAddress(Cell<usize>);

// SAFETY: an address may be 0; a `Cell` isn't `Sync`; the bytes are this port's.
unsafe impl Part for ReturnAddress {
    const AT: usize = MPI_AT;
    const END: usize = LINK_AT;
}

#[inline(always)]
fn caller() -> usize {
    thread_state::own::<ReturnAddress>().0.get()
}

waits! {
    MPI_Send mpi_send_ mpi_send_f08_ (a b c d e f);
    MPI_Ssend mpi_ssend_ mpi_ssend_f08_ (a b c d e f);
    MPI_Rsend mpi_rsend_ mpi_rsend_f08_ (a b c d e f);
    MPI_Recv mpi_recv_ mpi_recv_f08_ (a b c d e f g);
    MPI_Mrecv mpi_mrecv_ mpi_mrecv_f08_ (a b c d e);
    MPI_Sendrecv mpi_sendrecv_ mpi_sendrecv_f08_ (a b c d e f g h i j k l);
    MPI_Sendrecv_replace mpi_sendrecv_replace_ mpi_sendrecv_replace_f08_ (a b c d e f g h i);
    MPI_Probe mpi_probe_ mpi_probe_f08_ (a b c d);
    MPI_Mprobe mpi_mprobe_ mpi_mprobe_f08_ (a b c d e);
    MPI_Wait mpi_wait_ mpi_wait_f08_ (a b);
    MPI_Waitall mpi_waitall_ mpi_waitall_f08_ (a b c);
    MPI_Waitany mpi_waitany_ mpi_waitany_f08_ (a b c d);
    MPI_Waitsome mpi_waitsome_ mpi_waitsome_f08_ (a b c d e);
    MPI_Barrier mpi_barrier_ mpi_barrier_f08_ (a);
    MPI_Bcast mpi_bcast_ mpi_bcast_f08_ (a b c d e);
    MPI_Gather mpi_gather_ mpi_gather_f08_ (a b c d e f g h);
    MPI_Gatherv mpi_gatherv_ mpi_gatherv_f08_ (a b c d e f g h i);
    MPI_Scatter mpi_scatter_ mpi_scatter_f08_ (a b c d e f g h);
    MPI_Scatterv mpi_scatterv_ mpi_scatterv_f08_ (a b c d e f g h i);
    MPI_Allgather mpi_allgather_ mpi_allgather_f08_ (a b c d e f g);
    MPI_Allgatherv mpi_allgatherv_ mpi_allgatherv_f08_ (a b c d e f g h);
    MPI_Alltoall mpi_alltoall_ mpi_alltoall_f08_ (a b c d e f g);
    MPI_Alltoallv mpi_alltoallv_ mpi_alltoallv_f08_ (a b c d e f g h i);
    MPI_Alltoallw mpi_alltoallw_ mpi_alltoallw_f08_ (a b c d e f g h i);
    MPI_Reduce mpi_reduce_ mpi_reduce_f08_ (a b c d e f g);
    MPI_Allreduce mpi_allreduce_ mpi_allreduce_f08_ (a b c d e f);
    MPI_Reduce_scatter mpi_reduce_scatter_ mpi_reduce_scatter_f08_ (a b c d e f);
    MPI_Reduce_scatter_block mpi_reduce_scatter_block_ mpi_reduce_scatter_block_f08_ (a b c d e f);
    MPI_Scan mpi_scan_ mpi_scan_f08_ (a b c d e f);
    MPI_Exscan mpi_exscan_ mpi_exscan_f08_ (a b c d e f);
    MPI_Neighbor_allgather mpi_neighbor_allgather_ mpi_neighbor_allgather_f08_ (a b c d e f g);
    MPI_Neighbor_allgatherv mpi_neighbor_allgatherv_ mpi_neighbor_allgatherv_f08_ (a b c d e f g h);
    MPI_Neighbor_alltoall mpi_neighbor_alltoall_ mpi_neighbor_alltoall_f08_ (a b c d e f g);
    MPI_Neighbor_alltoallv mpi_neighbor_alltoallv_ mpi_neighbor_alltoallv_f08_ (a b c d e f g h i);
    MPI_Neighbor_alltoallw mpi_neighbor_alltoallw_ mpi_neighbor_alltoallw_f08_ (a b c d e f g h i);
    MPI_Win_fence mpi_win_fence_ mpi_win_fence_f08_ (a b);
    MPI_Win_start mpi_win_start_ mpi_win_start_f08_ (a b c);
    MPI_Win_complete mpi_win_complete_ mpi_win_complete_f08_ (a);
    MPI_Win_wait mpi_win_wait_ mpi_win_wait_f08_ (a);
    MPI_Win_lock mpi_win_lock_ mpi_win_lock_f08_ (a b c d);
    MPI_Win_unlock mpi_win_unlock_ mpi_win_unlock_f08_ (a b);
    MPI_Win_unlock_all mpi_win_unlock_all_ mpi_win_unlock_all_f08_ (a);
    MPI_Win_flush mpi_win_flush_ mpi_win_flush_f08_ (a b);
    MPI_Win_flush_all mpi_win_flush_all_ mpi_win_flush_all_f08_ (a);
    MPI_File_read_all mpi_file_read_all_ mpi_file_read_all_f08_ (a b c d e);
    MPI_File_write_all mpi_file_write_all_ mpi_file_write_all_f08_ (a b c d e);
    MPI_File_read_at_all mpi_file_read_at_all_ mpi_file_read_at_all_f08_ (a b c d e f);
    MPI_File_write_at_all mpi_file_write_at_all_ mpi_file_write_at_all_f08_ (a b c d e f);
}
