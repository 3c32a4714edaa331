pub(super) struct Group {
    #[allow(dead_code, reason = "tells readers why the traits are right")]
    pub why: &'static str,
    pub is: &'static [Trait],
    /// Sorted. `name/2` takes two integer or pointer arguments; without a number, the count is unknown.
    pub names: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    TeamSize,
    ThreadNumber,
    /// Tells about the team in another way, which is not followed further.
    Inquiry,
    /// Deals out sections, which may wait for each other.
    Sections,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trait {
    Tells(Role),
    /// Tells about the team, but the client answers it so that nobody learns the size. That doesn't hold for
    /// what is looked up by its name.
    Answered,
    NeverReturns,
    /// The thread goes on where an exception is caught.
    Throws,
    /// The thread goes on elsewhere, or ends.
    Leaves,
    /// Sets or copies memory; the length, its third argument, may be a loop's share.
    FillsMemory,
}
