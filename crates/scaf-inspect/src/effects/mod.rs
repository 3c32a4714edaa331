//! Are all effects of a module's regions the same at any size of their teams?
//!
//! A region is *proved* if whatever it leaves behind is done within iterations of loops that are shared out,
//! within sections, a `single`, tasks or code for the first thread, or by the end of a reduction. What each
//! thread repeats outside of these may compute and look, and change nothing but the thread's own stack frame.
//! Nothing that a thread carries from one iteration to the next, other than the index and a reduction's
//! value, may have an effect. docs/internals/inspection.md has the rule.
//!
//! `prover.rs` finds the regions' functions and follows their calls. Each function is looked at by itself:
//! its blocks (`graph.rs`), the places in its frame (`frames.rs`, `addresses.rs`), its values (`ssa.rs`),
//! its loops (`loops.rs`) and their first iterations (`peeled.rs`), what values have to do with the team
//! (`values.rs`), what branches tell (`forks.rs`), what code is within (`contexts.rs`), what goes round
//! (`cycles.rs`), what depends on it (`taints.rs`), and last each effect (`check.rs`, `calls.rs`).

mod addresses;
mod ahead;
mod beside;
mod calls;
mod check;
mod components;
mod contended;
mod contexts;
mod cycles;
mod extremes;
mod finding;
mod first_choice;
mod flat_index;

mod forks;
mod frame_calls;
mod frames;
mod function;
mod graph;
mod handed;
mod hands_back;
mod invariants;
mod kept;
mod left_to_loop;
mod linear;
mod loops;
mod meetings;
mod peeled;
mod places;
mod prover;
mod reductions;
mod rounds;
mod runtime;
mod shares;
mod ssa;
mod strides;
mod tables;
mod taints;
mod terms;
mod values;
mod waits;
mod ways;
mod widths;

pub(crate) use prover::prove;
