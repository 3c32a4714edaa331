//! What a runtime answers about the calling thread and its team.

use super::entries::Runtime;
use core::ffi::c_int;

macro_rules! questions {
    ($($(#[$about:meta])* $name:ident: $field:ident;)*) => {
        impl Runtime {
            $(
                $(#[$about])*
                #[inline(always)]
                pub fn $name(&self) -> Option<c_int> {
                    // SAFETY: these functions take nothing, and any thread may call them at any time.
                    self.$field.map(|question| unsafe { question() })
                }
            )*
        }
    };
}

impl Runtime {
    /// Bytes of workers' stacks; LLVM's only.
    #[inline(always)]
    pub fn ask_stack_size(&self) -> Option<usize> {
        // SAFETY: it takes nothing, and any thread may call it at any time.
        self.kmp_get_stacksize_s.map(|question| unsafe { question() })
    }
}

questions! {
    /// Parallel regions around, of several threads or one.
    ask_level: omp_get_level;
    ask_thread_num: omp_get_thread_num;
    ask_max_threads: omp_get_max_threads;
    ask_max_active_levels: omp_get_max_active_levels;
    ask_thread_limit: omp_get_thread_limit;
    ask_dynamic: omp_get_dynamic;
    /// LLVM's only.
    ask_blocktime: kmp_get_blocktime;
}
