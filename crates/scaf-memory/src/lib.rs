//! Profiles of programs' earlier runs, so that the next run starts informed: one SQLite file per user.
//!
//! A *program* is an executable (its build-id) with its arguments (a hash of them: they may hold secrets) on
//! a kind of machine. Its [`Profile`] says how long runs of its *regions* took at each DoP, and how often
//! they ran. A region is an outlined function: its module's build-id and its address in the file.
//!
//! Besides, it keeps what `scaf check` found out about executables ([`Checked`]).
//!
//! Losing it only costs the time to learn again, so nothing waits or fails for it. A damaged file, or one of
//! another version, can be replaced ([`Profiles::renewing`]). The user may edit the file, so every number
//! read from it is checked.

#![forbid(unsafe_code)]

mod checked;
mod error;
mod file;
mod profile;
mod profiles;

pub use checked::Checked;
pub use error::Error;
pub use profile::{Key, Point, Profile, ProfiledRegion, Recalled, RegionKey, Summary};
pub use profiles::Profiles;
