//! Obstacles to gathering: number on the report page, and sentence for people.

/// What keeps a team from being gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It has more members than we support.
    Size = 1,
    /// Members can't be answered in the way its region is entered.
    Entry = 2,
    /// Several threads of the program start regions.
    Masters = 3,
    /// Members of the region blocked in the kernel, or waited by spinning.
    Sleeps = 4,
    /// No `wrfsbase`, or a shadow stack.
    Machine = 5,
    /// LLVM's or Intel's runtime in a form that isn't known.
    Llvms = 6,
    /// The user has set how threads wait.
    Waits = 7,
    /// The user has set the size of stacks.
    Stacks = 8,
    /// The user binds threads.
    Bound = 9,
    /// The program calls a function that members aren't answered.
    Calls = 10,
    /// Nested regions have teams.
    Nested = 11,
    /// The runtime's threads weren't found in its idle barrier, or there was no memory.
    Workers = 12,
    /// Members changed their signal masks or handler stacks for good, or the program has handlers of signals
    /// that come by a clock, a descriptor or a child's end.
    Handlers = 13,
    /// The program has cancellation, and loops with shared memory.
    Cancels = 14,
    /// The code of its regions can reach what belongs to the kernel thread, or hasn't been inspected.
    Code = 15,
}

impl Obstacle {
    const ALL: [(Obstacle, &str); 15] = [
        (Obstacle::Size, "its team has more than 64 threads"),
        (Obstacle::Entry, "its region begins in one call and ends in another"),
        (Obstacle::Masters, "several of its threads start parallel regions"),
        (Obstacle::Sleeps, "its threads wait for each other in the kernel or by spinning"),
        (Obstacle::Machine, "the processor or kernel doesn't let programs set the TLS base"),
        (Obstacle::Llvms, "its runtime is LLVM's in an unsupported version or with unsupported settings"),
        (Obstacle::Waits, "OMP_WAIT_POLICY or GOMP_SPINCOUNT is set"),
        (Obstacle::Stacks, "OMP_STACKSIZE is set"),
        (Obstacle::Bound, "its threads are bound by the user"),
        (Obstacle::Calls, "it calls"),
        (Obstacle::Nested, "its nested regions have teams of their own"),
        (Obstacle::Workers, "the runtime's threads weren't found in its idle barrier"),
        (
            Obstacle::Handlers,
            "it handles timers' signals, or its threads have signal masks or signal stacks of their own",
        ),
        (Obstacle::Code, "its code is being inspected"),
        (Obstacle::Cancels, "it uses cancellation, and loops with scans or conditional lastprivate"),
    ];

    /// The obstacle of that number, if there is one.
    pub fn from_number(number: u32) -> Option<Obstacle> {
        Obstacle::ALL.into_iter().map(|(obstacle, _)| obstacle).find(|obstacle| *obstacle as u32 == number)
    }

    /// For people, after "not gathered: ". The function's name follows [`Obstacle::Calls`].
    pub fn text(self) -> &'static str {
        Obstacle::ALL.iter().find(|(obstacle, _)| *obstacle == self).map_or("", |(_, text)| text)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_obstacles() {
        for (obstacle, text) in Obstacle::ALL {
            assert_eq!(Obstacle::from_number(obstacle as u32), Some(obstacle));
            assert!(!text.is_empty() && obstacle.text() == text);
        }
        assert_eq!(Obstacle::from_number(0), None);
        assert_eq!(Obstacle::from_number(16), None);
    }
}
