//! What is known of values that may be addresses in a function's own stack frame.

use crate::decode::abi::REGISTERS;
use std::collections::BTreeMap;

/// What is known of a register's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Nothing,
    /// Negative: an index that counts up to where something ends.
    Below,
    /// A place in the own frame. Aligning the stack pointer begins a new base, at an unknown distance, and so
    /// does what is allocated.
    Frame {
        base: u64,
        offset: i64,
    },
    /// Somewhere in the own frame, from this offset on; in any base if none is named. Unless it is `sure`, it
    /// may be an address elsewhere.
    SomeFrame {
        base: Option<u64>,
        from: i64,
        sure: bool,
    },
    /// What stands in a slot of the linker's.
    Slot(u64),
    /// An address in the module.
    Fixed(u64),
}

impl Known {
    /// Whether it is an address in the own frame, or may be one.
    pub fn is_frame(self) -> bool {
        matches!(self, Known::Frame { .. } | Known::SomeFrame { .. })
    }

    /// Whether it is an address in the own frame, and nothing else.
    pub fn is_surely_frame(self) -> bool {
        matches!(self, Known::Frame { .. } | Known::SomeFrame { sure: true, .. })
    }

    pub fn join(self, other: Known) -> Known {
        match (self.reach(), other.reach()) {
            _ if self == other => self,
            (Some((a, one)), Some((b, other))) if a == b => {
                Known::SomeFrame { base: a, from: one.0.min(other.0), sure: one.1 && other.1 }
            }
            (Some((_, one)), Some((_, other))) => {
                Known::SomeFrame { base: None, from: i64::MIN, sure: one.1 && other.1 }
            }
            (Some((base, (from, _))), None) | (None, Some((base, (from, _)))) => {
                Known::SomeFrame { base, from, sure: false }
            }
            (None, None) if self == Known::Below || other == Known::Below => Known::Below,
            (None, None) => Known::Nothing,
        }
    }

    /// Of an address in the own frame: its base, from where on, and whether it is sure.
    pub fn reach(self) -> Option<(Option<u64>, (i64, bool))> {
        match self {
            Known::Frame { base, offset } => Some((Some(base), (offset, true))),
            Known::SomeFrame { base, from, sure } => Some((base, (from, sure))),
            _ => None,
        }
    }

    /// Where an address that is surely in the own frame is, or begins.
    pub fn beginning(self) -> Option<(u64, i64)> {
        match self.reach() {
            Some((Some(base), (from, true))) => Some((base, from)),
            _ => None,
        }
    }

    /// Somewhere from there on.
    pub fn onward(self) -> Known {
        let reach = self.reach();
        reach.map_or(self, |(base, (from, sure))| Known::SomeFrame { base, from, sure })
    }

    /// Perhaps something else.
    pub fn doubted(self) -> Known {
        self.join(Known::Nothing)
    }

    /// Anywhere in its base.
    pub fn anywhere(self) -> Known {
        let reach = self.reach();
        reach.map_or(self, |(base, (_, sure))| Known::SomeFrame { base, from: i64::MIN, sure })
    }
}

/// Where a memory operand lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    None,
    Own { base: u64, offset: i64 },
    SomewhereOwn,
    Elsewhere,
}

/// What is known at one point of a function.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct State {
    pub registers: [Known; REGISTERS],
    pub places: BTreeMap<(u64, i64), Known>,
}

impl State {
    /// Whether that changes anything. Where an address goes back in each round, it may go back by any number.
    pub fn absorb(&mut self, other: &State, has_met_often: bool) -> bool {
        if self == other {
            return false;
        }
        let mut changes = false;
        let mut join = |mine: Known, theirs: Known| {
            let both = mine.join(theirs);
            let both = if has_met_often && both != mine { both.anywhere() } else { both };
            changes |= both != mine;
            both
        };
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = join(*mine, *theirs);
        }
        self.places.retain(|place, mine| {
            *mine = join(*mine, other.places.get(place).copied().unwrap_or(Known::Nothing));
            *mine != Known::Nothing
        });
        for (place, theirs) in &other.places {
            if !self.places.contains_key(place) {
                let both = join(Known::Nothing, *theirs);
                if both != Known::Nothing {
                    self.places.insert(*place, both);
                }
            }
        }
        changes
    }
}

/// An address with something added.
pub(super) fn indexed(address: Known, by: Known) -> Known {
    match by {
        _ if !address.is_frame() => Known::Nothing,
        Known::Below => address.anywhere(),
        by if by.is_frame() => address.join(by).anywhere().doubted(),
        _ => address.onward(),
    }
}

pub(super) fn moved(known: Known, by: i64) -> Known {
    match known {
        Known::Frame { base, offset } => Known::Frame { base, offset: offset.wrapping_add(by) },
        Known::SomeFrame { base, from, sure } => {
            Known::SomeFrame { base, from: from.saturating_add(by.min(0)), sure }
        }
        Known::Fixed(_) | Known::Slot(_) => Known::Nothing,
        known => known,
    }
}

pub(super) fn place_of(known: Known) -> Place {
    match known {
        Known::Frame { base, offset } => Place::Own { base, offset },
        Known::SomeFrame { .. } => Place::SomewhereOwn,
        _ => Place::Elsewhere,
    }
}
