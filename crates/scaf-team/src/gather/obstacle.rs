//! Why a team is not gathered, from the client's test to the sentence that people read.

/// What keeps a team from being gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It has more members than there is room for.
    Size = 1,
    /// Its region is entered in a way that isn't answered for members.
    Entry = 2,
    /// Several threads of the program start regions.
    Masters = 3,
    /// Members of the region slept in the kernel, or waited by themselves.
    Sleeps = 4,
    /// No `wrfsbase`, or a second stack of return addresses.
    Machine = 5,
    /// LLVM's or Intel's runtime, of which something isn't as we know it.
    Llvms = 6,
    /// The user says how threads wait.
    Waits = 7,
    /// The user says how large threads' stacks are.
    Stacks = 8,
    /// The user binds threads.
    Bound = 9,
    /// The program calls a function that isn't answered for members.
    Calls = 10,
    /// Regions within regions have teams.
    Nested = 11,
    /// The runtime's threads weren't found asleep, or there was no memory.
    Workers = 12,
    /// Members changed for good which signals they block, or where their handlers run.
    Handlers = 13,
    /// Constructs may be cancelled, and loops come with memory that members share.
    Cancels = 14,
}

impl Obstacle {
    const ALL: [Obstacle; 14] = [
        Obstacle::Size,
        Obstacle::Entry,
        Obstacle::Masters,
        Obstacle::Sleeps,
        Obstacle::Machine,
        Obstacle::Llvms,
        Obstacle::Waits,
        Obstacle::Stacks,
        Obstacle::Bound,
        Obstacle::Calls,
        Obstacle::Nested,
        Obstacle::Workers,
        Obstacle::Handlers,
        Obstacle::Cancels,
    ];

    /// The one of that number, if there is one.
    pub fn from_number(number: u32) -> Option<Obstacle> {
        Obstacle::ALL.into_iter().find(|obstacle| *obstacle as u32 == number)
    }

    /// For people, after "not gathered: ". The function's name follows [`Obstacle::Calls`].
    pub fn text(self) -> &'static str {
        match self {
            Obstacle::Size => "its team has more than 64 threads",
            Obstacle::Entry => "its region is begun by one call and ended by another",
            Obstacle::Masters => "several of its threads start regions",
            Obstacle::Sleeps => "its threads wait for each other in the kernel, or by spinning",
            Obstacle::Machine => "processor or kernel don't let it change thread-local storage",
            Obstacle::Llvms => "its runtime is LLVM's, with settings or in a version that isn't known",
            Obstacle::Waits => "OMP_WAIT_POLICY or GOMP_SPINCOUNT says how its threads wait",
            Obstacle::Stacks => "OMP_STACKSIZE says how large its stacks are",
            Obstacle::Bound => "its threads are bound by hand",
            Obstacle::Calls => "it calls",
            Obstacle::Nested => "regions within its regions have teams of their own",
            Obstacle::Workers => "the runtime's threads weren't found asleep",
            Obstacle::Handlers => "its threads keep masks of signals, or stacks for handlers, of their own",
            Obstacle::Cancels => "it cancels constructs, and has loops with scans or the like",
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_obstacles() {
        for obstacle in Obstacle::ALL {
            assert_eq!(Obstacle::from_number(obstacle as u32), Some(obstacle));
            assert!(!obstacle.text().is_empty());
        }
        assert_eq!(Obstacle::from_number(0), None);
        assert_eq!(Obstacle::from_number(15), None);
    }
}
