//! The protocol between a managed program (the *client*) and the daemon. `no_std`, and no dependency: the
//! client library lives in other people's processes. Each page has one writing process, so neither side can
//! harm the other. Sequence counters ([`seq`]) keep values consistent: a writer never waits.
//! - [`hello`]: the handshake, one fixed-size packet each way on a `SOCK_SEQPACKET` socket;
//! - [`grant`]: the *grant page*, written by the daemon, mapped read-only by the client: the DoP and PUs
//!   granted;
//! - [`report`]: the *report page*, written by the client, mapped read-only by the daemon, which takes every
//!   value in it for hostile: the program's regions, all together and each ([`rows`]), its [`runtimes`], and
//!   what it says as a [`rank`] of an MPI job;
//! - [`experiment`]: what both pages say about serial experiments;
//! - [`child_starts`]: what both say so that children are born with the program's own affinity.
#![cfg_attr(not(any(test, loom)), no_std)]

pub mod child_starts;
pub mod experiment;
pub mod grant;
pub mod hello;
pub mod rank;
pub mod report;
pub mod rows;
pub mod runtimes;
pub mod seq;
mod sync;

/// Version of everything in this crate. If the two sides' versions differ, the program runs unmanaged.
pub const VERSION: u32 = 11;
/// First word of every packet and page: "SCAF" in ASCII, read as a little-endian number.
pub const MAGIC: u32 = u32::from_le_bytes(*b"SCAF");
/// Bytes of each of the two shared pages: several pages of the system.
pub const PAGE_BYTES: usize = 5 * 4096;

/// Most hardware contexts (PUs) that a mask in a packet or page can name.
pub const MAX_PUS: usize = if cfg!(loom) { 64 } else { 1024 }; // one word keeps the model small

/// Words of 64 bits in such a mask.
pub const MASK_WORDS: usize = MAX_PUS / 64;
