//! What is known of the functions that programs call: a table of OpenMP runtimes' functions
//! (`runtime_table.rs`), one of libraries' functions (`library.rs`), a list of functions of the C library
//! that do nothing to their kernel thread (`c_library.rs`), and one of such system calls
//! (`system_calls.rs`). And of libraries' names ([`files`]).
//!
//! **A function in no row is unknown, and unknown means "no":**
//! - a program isn't gathered if it calls a function with a runtime's prefix ([`runtime::is_runtimes`]) and
//!   without a row ([`calls`], which libscaf and `scaf doctor` use);
//! - the code analysis (`crates/scaf-inspect/src/functions.rs`) takes an unlisted `omp_get_*` or `omp_in_*`
//!   for a question about the team, and all six argument registers for arguments of an unlisted function;
//! - libscaf exports nothing for it: the call reaches the runtime;
//! - a program isn't gathered if a member comes to a function that is in no table, and whose code isn't there
//!   to be followed ([`calls::member`], which `crates/scaf-inspect/src/reach` uses).
//!
//! For resizing, libraries' functions aren't that far: an unlisted one forbids nothing yet, nor does a row
//! with `later` ([`library::find_today`]).
//!
//! # A row of `runtime_table.rs`
//!
//! ```text
//! symbol(arguments) -> result: member [says], tells(count) => kind handler | ending = handler, ending;
//! omp_set_dynamic(c_int): ours => caller gomp::team::set_dynamic | _ = gomp::team::set_dynamic_fortran;
//! GOMP_loop_runtime_start as Whatever: ours [CHOSEN] => members loops::start_runtime;
//! omp_get_wtime: neutral, Nothing(0) | _;
//! ```
//!
//! Only `symbol: member` is required. Rows are sorted by symbol, in ASCII's order.
//!
//! | column | what it says | values | who uses it |
//! |---|---|---|---|
//! | `(arguments) -> result` | the signature; makes a field of `Runtime`, by which libscaf calls the function | types of `crates/libscaf/src/runtimes/entries.rs`; a handler of several functions may have an argument or result more than some of them | libscaf |
//! | `as` type | the same by a type's name; `Whatever` if the call is only passed on | | libscaf |
//! | `member` | what a member of a gathered team gets | `ours`: the handler's answer; `neutral`: the runtime's, which doesn't depend on the thread; `forbidden`: nothing, so programs that call it aren't gathered | [`calls`] |
//! | `[says]` | what a call says of the program | constants of [`runtime::says`] | [`calls`] |
//! | `tells` | what it tells of the team; without it [`runtime::Tells::Unknown`] | variants of [`runtime::Tells`] | scaf-inspect |
//! | `(count)` | how many integer or pointer arguments it has; without it, six | a number | scaf-inspect |
//! | `=> kind handler` | libscaf exports it | below | `crates/libscaf/src/entry/exports.rs` |
//! | `\| ending` | Fortran's names: the symbol and `_` or `_8_`; `= handler` where it needs one of its own | | all |
//!
//! Kinds of handlers. Paths start in `exports.rs`, at `crates/libscaf/src/entry/` or, for `members`, at
//! `crates/libscaf/src/region/mechanisms/gather/`:
//! - `caller`: the handler gets the arguments, and the return address behind them. It answers members
//!   (`gather::current`) and calls the field of `Runtime` for everybody else;
//! - `loops`: the same, for the function of the symbol's name in `gomp/loops.rs`;
//! - `members`: members go on at the handler with all arguments, others at the runtime's function;
//! - `divert`: the same for code of LLVM's compilers, by a load, a comparison and a jump;
//! - `find`: the handler gets the return address, and answers the function to go on at with all arguments;
//! - `own`: the export is written by hand: a `#[no_mangle]` function of the symbol's name.
//!
//! Functions that are alike and have no column but `member` share a line of [`runtime::FAMILIES`].
//!
//! # To add an entry point
//!
//! 1. Add its row, at its place in the order. It counts before a family that it belongs to. Without a handler
//!    that is all.
//! 2. With a handler: give the row a signature or a type, `ours`, and a kind. If no handler fits, write one
//!    in `crates/libscaf/src/entry/gomp/` or `kmpc/`: `gomp/team.rs` has short ones; for `members`, in
//!    `crates/libscaf/src/region/mechanisms/gather/`.
//! 3. `cargo test -p scaf-functions` checks the order, and that every function of the runtimes in
//!    `fixtures/runtime-symbols.txt` (`scripts/runtime-symbols.sh`) has a row;
//!    `exports_are_the_rows_with_handlers` in `tests/e2e/entry_points.rs` compares the built library with the
//!    rows.
//!
//! # To add a library's function
//!
//! Add its name to `library.rs`, in ASCII's order: `names: class(count) [traits], later;`. Neighbours with
//! equal columns share a row. [`library::Class`] and [`library::traits`] have the values; `count` is as
//! above.

#![no_std]

#[macro_use]
mod runtime_table;
pub mod c_library;
pub mod calls;
pub mod files;
pub mod library;
pub mod runtime;
mod symbol;
pub mod system_calls;
