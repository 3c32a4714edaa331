//! What programs' earlier runs taught about their speedups, so that the next run starts informed: one SQLite
//! file a user.
//!
//! A *program* is an executable (its build-id) with its arguments (a hash of them: they may hold secrets) on
//! a kind of machine. Of each there is a [`Profile`]: how long runs of its *regions* took at each DoP, and
//! how often they ran. A region is an outlined function: its module's build-id and its place in the file.
//!
//! Losing a memory costs a program nothing but the time to be learned again. So nothing here is worth waiting
//! for or failing for: a file that is damaged or of another version can be set aside and begun anew
//! ([`Profiles::renewing`]), and every number that is read is brought into its range, for the file is its
//! user's to change.

#![forbid(unsafe_code)]

mod error;
mod file;
mod profile;
mod profiles;

pub use error::Error;
pub use profile::{Key, Point, Profile, ProfiledRegion, Recalled, RegionKey, Summary};
pub use profiles::Profiles;
