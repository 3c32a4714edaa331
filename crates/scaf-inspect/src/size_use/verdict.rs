use serde::{Deserialize, Serialize};

/// What a module does with the size of its teams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SizeUse {
    /// The module never asks for the size.
    None,
    /// It asks in gcc's own loops, or in ways that are as harmless.
    OwnLoops {
        /// Calls that ask for the team size or the thread number.
        sites: usize,
    },
    /// Something that it computes or stores depends on the size.
    Depends {
        /// The function, the offset in it, and what it does there.
        why: String,
    },
    /// It asks for a purpose that was not understood. To be treated as [`SizeUse::Depends`].
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
