//! How entry points of LLVM's runtime answer members.

/// Defines answers; each is called by a member only.
macro_rules! answers {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty, or $missing:expr,
        |$me:ident| $answer:expr;)*) => {
        $(
            $(#[$about])*
            pub unsafe extern "C" fn $name(_: Place, _: c_int $(, $argument: $type)*) -> $result {
                // SAFETY: the calling member runs; the program's own arguments.
                unsafe {
                    match around(thread()) {
                        Some($me) => $answer,
                        None => $missing,
                    }
                }
            }
        )*
    };
}
pub(super) use answers;
