//! Exports: one for each row of the table of functions that has a handler (`crates/scaf-functions`).

use super::kmpc::members::MEMBER_AT;
use super::{gomp, kmpc, parallel_start};
use crate::region::mechanisms::gather::{self, constructs, doacross, explicit_tasks, gomp_loop_start, loops};
use crate::region::serving_runtime::place;
use crate::region::thread::thread;
use crate::runtimes::entries::{Runtime, name_of};
use crate::sys::arch;
use crate::sys::symbols;
use core::sync::atomic::{AtomicUsize, Ordering};

macro_rules! exports {
    ($(
        $symbol:ident $(($($argument:ty),*) $(-> $result:ty)?)? $(as $type:ty)?:
        $member:ident $([$($says:ident)*])? $(, $tells:ident $(($count:literal))?)?
        $(=> $kind:ident $($handler:path)?)? $(| $($ending:tt $(= $own:path)?),*)?;
    )*) => {
        $(export! { $symbol ($($($argument),*)?) [$($kind $($handler)?)?] [$($($ending [$($own)?])*)?] })*

        /// A copy of LLVM's runtime was found; whether it is the only one.
        pub fn found(runtime: &Runtime, only: bool) {
            $(found! { $symbol [$($kind)?] runtime, only })*
        }
    };
}

macro_rules! export {
    ($symbol:ident $arguments:tt [] $fortran:tt) => {};
    ($symbol:ident $arguments:tt [own] []) => {};
    ($symbol:ident $arguments:tt [loops] []) => {
        arch::with_caller! { $symbol => gomp::loops::$symbol, behind $arguments; }
    };
    ($symbol:ident $arguments:tt [caller $handler:path] [$($ending:tt $own:tt)*]) => {
        arch::with_caller! { $symbol => $handler, behind $arguments; }
        $(export! { @fortran $symbol $ending $arguments $own $handler })*
    };
    (@fortran $symbol:ident $ending:tt $arguments:tt [] $handler:path) => {
        arch::with_caller! { $symbol [$ending] => $handler, behind $arguments; }
    };
    (@fortran $symbol:ident $ending:tt $arguments:tt [$own:path] $handler:path) => {
        arch::with_caller! { $symbol [$ending] => $own, behind $arguments; }
    };
    ($symbol:ident $arguments:tt [find $handler:path] []) => {
        arch::pass_on! { $symbol => $handler; }
    };
    ($symbol:ident $arguments:tt [members $handler:path] []) => {
        const _: () = {
            unsafe extern "C" fn find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: `this` is the calling thread's. The answer is gone on at with the caller's own
                // arguments: the function of this name, in the runtime that the caller would have reached.
                unsafe {
                    if gather::current().is_some() {
                        return $handler as *const () as usize;
                    }
                    let real = place(this, caller).and_then(|(runtime, _)| runtime.$symbol);
                    let real = real.or_else(|| symbols::next(name_of!($symbol)));
                    real.map_or(nothing_left as *const () as usize, |real| real as *const () as usize)
                }
            }
            arch::pass_on! { $symbol => find; }
        };
    };
    ($symbol:ident $arguments:tt [divert $handler:path] []) => {
        #[allow(non_snake_case)]
        mod $symbol {
            use super::*;

            /// The function of the one LLVM runtime of this process; 0 where it isn't known, or isn't the
            /// only one.
            pub static REAL: AtomicUsize = AtomicUsize::new(0);

            pub unsafe extern "C" fn find(caller: usize) -> usize {
                // SAFETY: the thread is the calling one. The answer is gone on at with the caller's own
                // arguments: the function of this name, in the runtime that the caller would have reached.
                unsafe {
                    let real = kmpc::place::place(thread(), caller).and_then(|(runtime, _)| runtime.$symbol);
                    let real = real.or_else(|| symbols::next(name_of!($symbol)));
                    real.unwrap_or(kmpc::place::nothing) as usize
                }
            }
        }
        arch::diverted! { $symbol => $handler, if MEMBER_AT, or $symbol::REAL, or $symbol::find; }
    };
}

macro_rules! found {
    ($symbol:ident [divert] $runtime:ident, $only:ident) => {
        let real = $runtime.$symbol.filter(|_| $only).map_or(0, |real| real as usize);
        $symbol::REAL.store(real, Ordering::Relaxed);
    };
    ($symbol:ident [$($kind:ident)?] $runtime:ident, $only:ident) => {};
}

extern "C" fn nothing_left() -> bool {
    false
}

scaf_functions::runtime_functions!(exports);
