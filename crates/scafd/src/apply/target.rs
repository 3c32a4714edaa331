//! Whose affinity is meant.

use scaf_policy::PuSet;

/// A program's threads, and the masks that are known to be the program's own or ours.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// Process id.
    pub pid: u32,
    /// When the process started; a later one with the same id is not touched.
    pub starttime: u64,
    /// The affinity that it has without us.
    pub own: &'a PuSet,
    /// The affinities that we have set, as far as they are remembered; some threads may have any of them.
    pub masks: &'a [PuSet],
}
