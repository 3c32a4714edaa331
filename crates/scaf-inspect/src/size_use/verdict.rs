use serde::{Deserialize, Serialize};

/// What a module does with the size of its teams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SizeUse {
    /// The module never queries the size.
    None,
    /// Queries in gcc's own loops, or as harmless ones.
    OwnLoops {
        /// Calls of team-size and thread-number queries.
        sites: usize,
    },
    /// Something that it computes or stores depends on the size.
    Depends {
        /// The function, the offset in it, and what it does there.
        why: String,
    },
    /// The analysis didn't understand the use. To be treated as [`SizeUse::Depends`].
    Unknown {
        /// What wasn't understood, and where.
        why: String,
    },
}

impl SizeUse {
    /// Whether a changed team size is known to be harmless for this module.
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
