//! The entries that the tables are made of.

/// Functions of which the same is known.
pub(super) struct Group {
    /// What they do, as far as it matters here.
    #[allow(dead_code, reason = "tells readers why the traits are right")]
    pub why: &'static str,
    pub is: &'static [Trait],
    /// Sorted. `name/2` takes two integer or pointer arguments; without a number, nobody has counted them.
    pub names: &'static [&'static str],
}

/// What a function tells about the team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Returns the team size.
    TeamSize,
    /// Returns the thread number.
    ThreadNumber,
    /// Tells about the team in a way that is not followed further.
    Inquiry,
    /// Deals out sections, one of which may wait for what another one does.
    Sections,
    /// Anything else.
    Other,
}

/// What can be known of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trait {
    Tells(Role),
    /// Neither waits for what another thread of the team has yet to do nor keeps anything by thread that a
    /// program could see. Mutual exclusion is no such wait: whoever is inside comes out by itself.
    TiesNobody,
    /// The same under Fortran's name, which has an underscore at its end.
    TiesNobodyInFortran,
    NeverReturns,
    /// Sets or copies a stretch of memory. Its length, the third argument, may be a loop's share.
    FillsMemory,
    /// Exists for other widths as well: `sinf`, `sinl` and the vector form `_ZGVbN2v_sin`.
    OfAnyWidth,
}
