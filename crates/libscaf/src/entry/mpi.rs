//! The calls by which programs wait in MPI (`program/rank.rs`), by the names that C and Fortran have for them
//! in Open MPI and MPICH. Each is passed on as it came, to whatever stands behind us, a profiler of MPI's
//! own interface, say. Handles are numbers in one MPI and addresses in the other, and no argument is a
//! floating-point number; so all are words.
//!
//! MPI polls. Its polling loops are noticed by a call that they make at each turn: Open MPI's yields, once it
//! is told to, and MPICH's asks UCX. Other MPIs are passed on, and nothing is lent.

use crate::program::rank;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::{Next, function};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::null;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// MPI_ERR_OTHER of Open MPI; MPICH's is one less. For a program that calls an MPI that isn't there.
const NO_MPI: c_int = 16;

/// A function of MPI's: the next one of that name, or, where MPI was loaded for its caller's eyes only
/// (Python's modules), that of the library itself.
struct Real(Next, &'static CStr, AtomicUsize);

impl Real {
    const fn called(name: &'static CStr) -> Real {
        Real(Next::called(name), name, AtomicUsize::new(0))
    }

    /// # Safety
    /// `F` is the type of a pointer to that function.
    #[inline]
    unsafe fn get<F: Copy>(&self, library: &CStr) -> Option<F> {
        let known = self.2.load(Ordering::Relaxed);
        // SAFETY: the caller's word.
        unsafe {
            if known != 0 {
                return function(known);
            }
            let next = self.0.get::<usize>();
            let found = next.or_else(|| keeping_errno(|| in_loaded(library, self.1)))?;
            self.2.store(found, Ordering::Relaxed);
            function(found)
        }
    }
}

/// The function of that name in the first loaded library whose path has `part` in it and that has one.
fn in_loaded(part: &CStr, name: &CStr) -> Option<usize> {
    struct Search<'a> {
        part: &'a CStr,
        /// MPI's libraries for C, C++ and Fortran are some six.
        files: [*const c_char; 16],
        count: usize,
    }
    unsafe extern "C" fn collect(about: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: glibc hands in a loaded library's name, and our own search.
        unsafe {
            let (file, search) = ((*about).dlpi_name, &mut *search.cast::<Search<'_>>());
            if !file.is_null()
                && !libc::strstr(file, search.part.as_ptr()).is_null()
                && let Some(place) = search.files.get_mut(search.count)
            {
                *place = file;
                search.count += 1;
            }
        }
        0
    }
    let mut search = Search { part, files: [null(); 16], count: 0 };
    // SAFETY: plain searches; a library that the program is calling into isn't unloaded meanwhile.
    unsafe {
        libc::dl_iterate_phdr(Some(collect), (&raw mut search).cast());
        search.files.iter().take(search.count).find_map(|file| {
            let library = libc::dlopen(*file, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() {
                return None;
            }
            let found = libc::dlsym(library, name.as_ptr()).addr();
            libc::dlclose(library);
            (found != 0).then_some(found)
        })
    }
}

/// Has Open MPI yield where it polls in vain, which it does by itself only where it knows of more ranks than
/// cores. What comes of it is [`is_turn`]'s.
fn have_polls_told() {
    static DONE: AtomicBool = AtomicBool::new(false);
    type Set = unsafe extern "C" fn(bool) -> bool;
    if DONE.load(Ordering::Relaxed) || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    static SET: Real = Real::called(c"opal_progress_set_yield_when_idle");
    // SAFETY: Open MPI's function has this type since 1.0; it writes a variable, and answers what that was.
    unsafe {
        if let Some(set) = SET.get::<Set>(c"/libopen-pal")
            && !set(true)
        {
            YIELDS_FOR_US.store(true, Ordering::Relaxed);
        }
    }
}

static YIELDS_FOR_US: AtomicBool = AtomicBool::new(false);

/// A thread yields. Whether that is a turn of MPI's which it would have polled through without us.
#[inline(always)]
pub fn is_turn() -> bool {
    rank::waits() && YIELDS_FOR_US.load(Ordering::Relaxed)
}

/// One turn of UCX's, by which MPICH polls; the number of things that it found done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_progress(worker: *mut c_void) -> c_uint {
    static REAL: Real = Real::called(c"ucp_worker_progress");
    // SAFETY: UCX's function has this type.
    unsafe {
        let Some(real) = REAL.get::<unsafe extern "C" fn(*mut c_void) -> c_uint>(c"/libucp") else {
            return 0;
        };
        let done = real(worker);
        if done == 0 {
            rank::waits();
        }
        done
    }
}

/// Defines calls by which programs wait: for C, and with one argument more for Fortran's two interfaces.
macro_rules! waits {
    ($($c:ident $fortran:ident $fortran_2008:ident ($($argument:ident)*);)*) => {
        $(
            waits!(@one $c ($($argument)*));
            waits!(@one $fortran ($($argument)* error));
            waits!(@one $fortran_2008 ($($argument)* error));
        )*
    };
    (@one $name:ident ($($argument:ident)*)) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: usize),*) -> c_int {
            type Call = unsafe extern "C" fn($(waits!(@word $argument)),*) -> c_int;
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            static REAL: Real = Real::called(NAME);
            let place = 0u8;
            // SAFETY: MPI's function of that name, with its caller's arguments.
            unsafe {
                let Some(real) = REAL.get::<Call>(c"/libmpi") else { return NO_MPI };
                let heard = rank::begin((&raw const place).addr());
                if heard {
                    have_polls_told();
                }
                let result = real($($argument),*);
                if heard {
                    rank::end();
                }
                result
            }
        }
    };
    (@word $argument:ident) => { usize };
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
