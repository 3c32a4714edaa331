//! Dependences between the children of one task.

/// The number of a record; [`NONE`] for none.
pub type Number = u32;
/// No record.
pub const NONE: Number = 0;

/// The kind of a dependence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `in`: beside others of this kind.
    In,
    /// `out`, `inout`: alone.
    Out,
    /// `inoutset`: beside others of this kind.
    Set,
}

impl Kind {
    fn goes_beside(self, other: Kind) -> bool {
        self == other && self != Kind::Out
    }
}

/// A dependence of an incomplete task.
#[derive(Debug)]
struct Entry {
    address: usize,
    kind: Kind,
    parent: Number,
    task: Number,
    /// The next older entry in its bucket.
    older: u32,
    /// The next entry of its task, or the next free entry.
    next: u32,
}

const NO_ENTRY: Entry = Entry { address: 0, kind: Kind::In, parent: NONE, task: NONE, older: 0, next: 0 };

/// A task waits for another.
#[derive(Debug)]
struct Edge {
    waits: Number,
    next: u32,
}

const BUCKETS: usize = 1024;

/// For up to `TASKS` tasks, with up to `ENTRIES` - 1 dependences and as many edges. All zero when new.
#[derive(Debug)]
pub struct Depends<const TASKS: usize, const ENTRIES: usize> {
    buckets: [u32; BUCKETS],
    entries: [Entry; ENTRIES],
    edges: [Edge; ENTRIES],
    /// Of each task, its first entry and the first edge of those that wait for it.
    firsts: [(u32, u32); TASKS],
    used: (u32, u32),
    free: (u32, u32),
    /// Entries and edges in use.
    taken: (usize, usize),
}

impl<const TASKS: usize, const ENTRIES: usize> Depends<TASKS, ENTRIES> {
    /// None.
    pub const fn new() -> Self {
        Depends {
            buckets: [0; BUCKETS],
            entries: [NO_ENTRY; ENTRIES],
            edges: [const { Edge { waits: NONE, next: 0 } }; ENTRIES],
            firsts: [(0, 0); TASKS],
            used: (0, 0),
            free: (0, 0),
            taken: (0, 0),
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        self.firsts.fill((0, 0));
        (self.used, self.free, self.taken) = ((0, 0), (0, 0), (0, 0));
    }

    fn bucket(parent: Number, address: usize) -> usize {
        let mixed = (address as u64 ^ u64::from(parent) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 54) as usize % BUCKETS
    }

    fn newest(&self, parent: Number, address: usize) -> u32 {
        self.buckets.get(Self::bucket(parent, address)).copied().unwrap_or(0)
    }

    /// The next task, from `at` on, that a new task with this dependence has to wait for, and where to go on.
    /// All that is older than an `out` is waited for already.
    fn before(
        &self,
        parent: Number,
        (address, kind): (usize, Kind),
        but: Number,
        mut at: u32,
    ) -> Option<(Number, u32)> {
        while at != 0
            && let Some(entry) = self.entries.get(at as usize)
        {
            at = entry.older;
            if entry.address == address && entry.parent == parent && entry.task != but {
                if entry.kind == Kind::Out {
                    at = 0;
                }
                if !kind.goes_beside(entry.kind) {
                    return Some((entry.task, at));
                }
            }
        }
        None
    }

    /// Whether a task with these dependences would have to wait.
    pub fn would_wait(&self, parent: Number, mut needs: impl Iterator<Item = (usize, Kind)>) -> bool {
        needs.any(|need| self.before(parent, need, NONE, self.newest(parent, need.0)).is_some())
    }

    /// Adds a task; returns how many tasks it waits for. `None` if there is no room.
    pub fn add(
        &mut self,
        task: Number,
        parent: Number,
        needs: impl Iterator<Item = (usize, Kind)> + Clone,
    ) -> Option<u32> {
        let (mut entries, mut edges) = (0, 0);
        for need in needs.clone() {
            entries += 1;
            let mut at = self.newest(parent, need.0);
            while let Some((_, next)) = self.before(parent, need, task, at) {
                edges += 1;
                at = next;
            }
        }
        if self.taken.0 + entries >= ENTRIES || self.taken.1 + edges >= ENTRIES {
            return None;
        }
        let mut unmet = 0;
        for (address, kind) in needs {
            unmet += self.wait_behind(task, parent, (address, kind));
            self.enter(task, Entry { address, kind, parent, task, ..NO_ENTRY });
        }
        Some(unmet)
    }

    /// Adds the edges of one dependence; returns their number.
    fn wait_behind(&mut self, task: Number, parent: Number, need: (usize, Kind)) -> u32 {
        let mut count = 0;
        let mut cursor = self.newest(parent, need.0);
        while let Some((before, next)) = self.before(parent, need, task, cursor) {
            cursor = next;
            let at = if self.free.1 != 0 {
                let at = self.free.1;
                self.free.1 = self.edges.get(at as usize).map_or(0, |edge| edge.next);
                at
            } else {
                self.used.1 += 1;
                self.used.1
            };
            if let (Some(edge), Some(first)) =
                (self.edges.get_mut(at as usize), self.firsts.get_mut(before as usize))
            {
                *edge = Edge { waits: task, next: core::mem::replace(&mut first.1, at) };
                self.taken.1 += 1;
            }
            count += 1;
        }
        count
    }

    fn enter(&mut self, task: Number, entry: Entry) {
        let at = if self.free.0 != 0 {
            let at = self.free.0;
            self.free.0 = self.entries.get(at as usize).map_or(0, |entry| entry.next);
            at
        } else {
            self.used.0 += 1;
            self.used.0
        };
        let bucket = Self::bucket(entry.parent, entry.address);
        if let (Some(place), Some(newest), Some(first)) = (
            self.entries.get_mut(at as usize),
            self.buckets.get_mut(bucket),
            self.firsts.get_mut(task as usize),
        ) {
            let older = core::mem::replace(newest, at);
            let next = core::mem::replace(&mut first.0, at);
            *place = Entry { older, next, ..entry };
            self.taken.0 += 1;
        }
    }

    /// A task is complete: later ones needn't wait for it.
    pub fn forget(&mut self, task: Number) {
        let Some(first) = self.firsts.get_mut(task as usize) else { return };
        let mut at = core::mem::replace(&mut first.0, 0);
        while at != 0 {
            let Some(entry) = self.entries.get(at as usize) else { return };
            let (next, older) = (entry.next, entry.older);
            let bucket = Self::bucket(entry.parent, entry.address);
            let mut newer = 0;
            let mut here = self.buckets.get(bucket).copied().unwrap_or(0);
            while here != at && here != 0 {
                newer = here;
                here = self.entries.get(here as usize).map_or(0, |entry| entry.older);
            }
            if newer == 0 {
                if let Some(newest) = self.buckets.get_mut(bucket) {
                    *newest = older;
                }
            } else if let Some(newer) = self.entries.get_mut(newer as usize) {
                newer.older = older;
            }
            if let Some(entry) = self.entries.get_mut(at as usize) {
                entry.next = self.free.0;
                self.free.0 = at;
                self.taken.0 -= 1;
            }
            at = next;
        }
    }

    /// Removes one edge of a complete task; returns the task that waited. To be called until there is none.
    pub fn next_behind(&mut self, task: Number) -> Option<Number> {
        let first = self.firsts.get_mut(task as usize)?;
        let at = first.1;
        if at == 0 {
            return None;
        }
        let edge = self.edges.get_mut(at as usize)?;
        first.1 = edge.next;
        edge.next = self.free.1;
        self.free.1 = at;
        self.taken.1 -= 1;
        Some(edge.waits)
    }
}

impl<const TASKS: usize, const ENTRIES: usize> Default for Depends<TASKS, ENTRIES> {
    fn default() -> Self {
        Depends::new()
    }
}
