//! What a module does with the size of its teams.

use serde::{Deserialize, Serialize};

/// What a module does with the size of its teams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SizeUse {
    /// It never asks for it.
    None,
    /// It asks in the loops that gcc itself distributes, or in ways that are as harmless.
    OwnLoops {
        /// Calls that ask for the team size or the thread number.
        sites: usize,
    },
    /// What it computes, or where it stores it, depends on the team size.
    Depends {
        /// The function, the offset in it, and what it does there.
        why: String,
    },
    /// It asks, and it could not be made out what for. To be treated as [`SizeUse::Depends`].
    Unknown {
        /// What stood in the way.
        why: String,
    },
}

impl SizeUse {
    /// Whether a changed team size is known to be harmless for this module.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::None | Self::OwnLoops { .. })
    }

    pub(super) fn depends(why: impl Into<String>) -> Self {
        Self::Depends { why: why.into() }
    }

    pub(super) fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown { why: why.into() }
    }
}
