//! What a task depends on, as the compiler hands it to the runtime: an array whose first words say how many
//! variables of each kind come behind them. In the newer form the first word is 0, and the last ones are
//! the addresses of pairs of a variable and its kind.

use core::ptr::null;
use scaf_team::gather::tasks::Kind;

/// A task's dependences that are left to look at.
#[derive(Clone)]
pub struct Needs {
    words: *const usize,
    next: usize,
    count: usize,
    /// Variables that it changes alone come first, then those that it reads, then the pairs.
    alone: usize,
    read: usize,
}

impl Needs {
    pub const NONE: Needs = Needs { words: null(), next: 0, count: 0, alone: 0, read: 0 };

    /// # Safety
    /// `array` is of the compiler's form, and lives as long as this.
    pub unsafe fn of(array: *const usize) -> Needs {
        // SAFETY: the caller's word.
        unsafe {
            let [first, second, third, fourth] =
                [0, 1, 2, 3].map(|word| if word < 3 || *array == 0 { *array.add(word) } else { 0 });
            if first != 0 {
                Needs {
                    words: array.add(2),
                    next: 0,
                    count: first,
                    alone: second,
                    read: first.wrapping_sub(second),
                }
            } else {
                let alone = third.wrapping_add(fourth);
                Needs { words: array.add(5), next: 0, count: second, alone, read: *array.add(4) }
            }
        }
    }

    pub fn are_none(&self) -> bool {
        self.count == 0
    }

    /// Whether the task is alone with all variables.
    pub fn name_everything(&self) -> bool {
        self.clone().any(|need| need == (0, Kind::Out))
    }
}

impl Iterator for Needs {
    type Item = (usize, Kind);

    fn next(&mut self) -> Option<(usize, Kind)> {
        const IN: usize = 1;
        const IN_OUT_SET: usize = 5;
        if self.next >= self.count {
            return None;
        }
        let at = self.next;
        self.next += 1;
        // SAFETY: the array has so many words, and its last ones are addresses of pairs.
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
                    // What may change it beside others that may, but not at once, does so alone.
                    _ => Kind::Out,
                },
            ))
        }
    }
}
