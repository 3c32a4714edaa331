//! A task's `depend` clauses, as compilers pass them to their runtime.
//!
//! gcc: an array that begins with the numbers of variables of each kind. In the newer form the first word is
//! 0, and the last words are addresses of pairs of a variable and its kind.
//!
//! LLVM: up to two arrays of records, each with a variable and bits for its kind.

use core::ptr::null;
use scaf_team::gather::task_table::Kind;

#[derive(Clone)]
pub enum DependList {
    Words(Words),
    Records(Records),
}

#[derive(Clone)]
pub struct Words {
    words: *const usize,
    next: usize,
    count: usize,
    /// Variables of `out` come first, then those of `in`, then the pairs.
    alone: usize,
    read: usize,
}

#[derive(Clone)]
pub struct Records {
    record: *const Record,
    count: usize,
    /// The second array.
    then: *const Record,
    then_count: usize,
}

#[repr(C)]
pub struct Record {
    variable: usize,
    bytes: usize,
    kind: u8,
}

impl DependList {
    pub const NONE: DependList =
        DependList::Words(Words { words: null(), next: 0, count: 0, alone: 0, read: 0 });

    /// # Safety
    /// `array` has gcc's form, and outlives the list.
    pub unsafe fn of(array: *const usize) -> DependList {
        // SAFETY: the caller passes an array of gcc's form, and its first words say how long it is.
        unsafe {
            let [first, second, third, fourth] =
                [0, 1, 2, 3].map(|word| if word < 3 || *array == 0 { *array.add(word) } else { 0 });
            DependList::Words(if first != 0 {
                Words {
                    words: array.add(2),
                    next: 0,
                    count: first,
                    alone: second,
                    read: first.wrapping_sub(second),
                }
            } else {
                let alone = third.wrapping_add(fourth);
                Words { words: array.add(5), next: 0, count: second, alone, read: *array.add(4) }
            })
        }
    }

    /// # Safety
    /// Both are arrays of so many records, and outlive the list.
    pub unsafe fn of_records(first: (*const Record, i32), second: (*const Record, i32)) -> DependList {
        let [count, then_count] = [first.1, second.1].map(|count| count.max(0) as usize);
        DependList::Records(Records { record: first.0, count, then: second.0, then_count })
    }

    pub fn are_none(&self) -> bool {
        match self {
            DependList::Words(words) => words.count == 0,
            DependList::Records(records) => records.count == 0 && records.then_count == 0,
        }
    }

    /// Whether the task depends on all memory (`omp_all_memory`).
    pub fn name_everything(&self) -> bool {
        self.clone().any(|need| need == (0, Kind::Out))
    }
}

impl Iterator for DependList {
    type Item = (usize, Kind);

    fn next(&mut self) -> Option<(usize, Kind)> {
        match self {
            DependList::Words(words) => words.next(),
            DependList::Records(records) => records.next(),
        }
    }
}

impl Words {
    fn next(&mut self) -> Option<(usize, Kind)> {
        const IN: usize = 1;
        const IN_OUT_SET: usize = 5;
        if self.next >= self.count {
            return None;
        }
        let at = self.next;
        self.next += 1;
        // SAFETY: `next` is below the array's length; words behind `in` and `out` are addresses of pairs.
        unsafe {
            let word = *self.words.add(at);
            if at < self.alone {
                return Some((word, Kind::Out));
            }
            if at.wrapping_sub(self.alone) < self.read {
                return Some((word, Kind::In));
            }
            let [variable, kind] = *core::ptr::with_exposed_provenance::<[usize; 2]>(word);
            Some((
                variable,
                match kind {
                    IN => Kind::In,
                    IN_OUT_SET => Kind::Set,
                    // `mutexinoutset` is treated as `out`.
                    _ => Kind::Out,
                },
            ))
        }
    }
}

impl Records {
    fn next(&mut self) -> Option<(usize, Kind)> {
        const IN: u8 = 1;
        const IN_OUT_SET: u8 = 8;
        const EVERYTHING: u8 = 0x80;
        loop {
            if self.count == 0 {
                if self.then_count == 0 {
                    return None;
                }
                (self.record, self.count) = (self.then, core::mem::take(&mut self.then_count));
            }
            // SAFETY: `count` records are left in the array.
            let record = unsafe { &*self.record };
            self.record = self.record.wrapping_add(1);
            self.count -= 1;
            let need = match record.kind {
                EVERYTHING => (0, Kind::Out),
                // The runtime ignores those.
                _ if record.variable == 0 => continue,
                IN => (record.variable, Kind::In),
                IN_OUT_SET => (record.variable, Kind::Set),
                _ => (record.variable, Kind::Out),
            };
            return Some(need);
        }
    }
}
