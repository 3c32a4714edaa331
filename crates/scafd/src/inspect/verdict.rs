//! What an inspection says of a program.

use scaf_inspect::{Objection, Origin, Reach};
use serde::{Deserialize, Serialize};

/// The result of a code analysis.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// Why teams may not be resized; empty if they may.
    pub objections: Vec<Objection>,
    /// Where its regions wait by spinning on memory, if they do.
    pub spins: Option<String>,
    /// Whether that is its executable's own code.
    pub spins_itself: bool,
    /// The marks of all such loops that don't yield by themselves, at their addresses in the process
    /// ([`scaf_team::arch::spin_marks`]); `None` if one has none.
    pub marks: Option<Vec<[u64; 2]>>,
    /// Whether teams may be gathered, as far as code says it.
    pub gathers: bool,
    /// Why not, after "it".
    pub reaches: String,
    /// Whether that is still looked at, and another verdict follows.
    pub is_first: bool,
    /// Which program it is, if known.
    pub origin: Option<Origin>,
}

impl Verdict {
    pub(super) fn with(self, reach: Option<Reach>) -> Verdict {
        let is_first = reach.is_none();
        let reaches = match reach {
            Some(Reach::Free) => String::new(),
            Some(Reach::No(why)) => why,
            None => "has code that is still looked at".into(),
        };
        Verdict { gathers: reaches.is_empty(), reaches, is_first, ..self }
    }

    pub(super) fn no(why: impl Into<String>) -> Verdict {
        let objection = Objection { why: why.into(), ..Objection::default() };
        let reaches = "has code that can't be analysed".into();
        Verdict { objections: vec![objection], reaches, ..Verdict::default() }
    }
}
