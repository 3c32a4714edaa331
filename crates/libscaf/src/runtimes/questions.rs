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

questions! {
    /// `omp_get_level`: parallel regions around, of several threads or one.
    ask_level: level;
    /// `omp_get_thread_num`
    ask_thread_num: thread_num;
    /// `omp_get_max_threads`
    ask_max_threads: max_threads;
    /// `omp_get_max_active_levels`
    ask_max_active_levels: max_active_levels;
    /// `omp_get_thread_limit`
    ask_thread_limit: thread_limit;
    /// `omp_get_dynamic`
    ask_dynamic: get_dynamic;
    /// `kmp_get_blocktime`: LLVM's only.
    ask_blocktime: get_blocktime;
}
