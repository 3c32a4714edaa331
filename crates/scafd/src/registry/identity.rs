//! Who a program is, what it asked for, and which PUs it may use.

use crate::paths::Scope;
use scaf_policy::{ProgramId, PuSet};
use std::path::PathBuf;

/// Which program it is.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Number; also that of its connection.
    pub id: ProgramId,
    /// Process id.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine did.
    pub starttime: u64,
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// What people call it.
    pub name: String,
    /// The path of its executable; empty if unknown.
    pub executable: PathBuf,
    /// When it attached, in nanoseconds of CLOCK_MONOTONIC.
    pub attached_ns: u64,
}

/// What a client asked for when it attached.
#[derive(Clone, PartialEq, Debug)]
pub struct Wishes {
    /// Team size without us.
    pub natural: u32,
    /// Fewest contexts.
    pub min: u32,
    /// Most contexts; 0 for no limit.
    pub max: u32,
    /// 1 is normal.
    pub weight: f64,
}

impl Wishes {
    /// What the user may wish: a daemon for all users lets nobody but root put a program before those of
    /// others.
    #[must_use]
    pub fn permitted(self, scope: Scope, uid: u32) -> Wishes {
        match scope {
            Scope::System if uid != 0 => {
                Wishes { min: self.min.min(1), weight: self.weight.min(1.0), ..self }
            }
            _ => self,
        }
    }
}

/// Where a program may run, and whether it is managed at all.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Its own affinity.
    pub own: PuSet,
    /// PUs that it can be granted.
    pub usable: PuSet,
    /// Why it is left alone.
    pub alone: Option<String>,
    /// Whether that is only because none of its PUs can be given away now, and so may change.
    pub stranded: bool,
}

impl Reach {
    /// Takes in which PUs can be given away now; `bound` says why a stranded program stays alone.
    pub fn follow(&mut self, pus: &PuSet, pretended: bool, bound: impl FnOnce(&PuSet) -> Option<String>) {
        self.usable = if pretended { pus.clone() } else { self.own.intersection(pus) };
        if self.usable.is_empty() && self.alone.is_none() {
            self.alone = Some(no_pus(&self.own, pus));
            self.stranded = true;
        } else if self.stranded && !self.usable.is_empty() {
            self.stranded = false;
            self.alone = bound(&self.own);
        }
    }
}

/// Why a program with the affinity `own` can't be given any of `pus`.
pub fn no_pus(own: &PuSet, pus: &PuSet) -> String {
    format!("its affinity {own} has none of the PUs {pus} that can be given away")
}
