//! All that a module does when functions of it are called through pointers: what those do whose addresses are
//! taken, and all that these call or load within the module. That is most of the code that is followed in a
//! process, and the same in each, so it is kept with what is known of the file.

use super::binary::Binary;
use super::body::{Bodies, Step};
use super::judge::{self, Arguments, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// Letters of a reason.
const MOST_LETTERS: usize = 256;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Closure {
    /// The functions, each as how far behind the one before it begins.
    functions: Vec<u64>,
    /// Calls of other modules' functions that a member may not make just so.
    imports: Vec<Import>,
    /// Functions of other modules to which it has pointers.
    pointers: Vec<String>,
    /// Whether it calls through pointers.
    indirect: bool,
    /// How it binds itself to its kernel thread, if it does.
    bound: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Import {
    pub name: String,
    pub known: Option<Arguments>,
    /// Where it is called.
    pub at: u64,
}

impl Closure {
    pub(super) fn of(bodies: &mut Bodies, binary: &Binary<'_>) -> Result<Closure, String> {
        let mut closure = Closure::default();
        let mut work: Vec<u64> = binary.taken().to_vec();
        let mut met: BTreeSet<u64> = work.iter().copied().collect();
        let mut imports = HashSet::new();
        while let Some(function) = work.pop() {
            for (address, step) in bodies.steps(binary, function)? {
                match step {
                    Step::Local(callee) | Step::Loads(callee) => {
                        if met.insert(callee) {
                            work.push(callee);
                        }
                    }
                    Step::Import(name, known) => {
                        let verdict = judge::import(binary.file(), name, binary.member(name), known);
                        let may = matches!(verdict, Verdict::May | Verdict::Hardly(_));
                        if !may && imports.insert((name, known)) {
                            closure.imports.push(Import { name: name.to_owned(), known, at: address });
                        }
                    }
                    Step::Indirect => closure.indirect = true,
                    Step::Bound(what) => {
                        closure.bound.get_or_insert_with(|| format!("{what} ({})", binary.place(address)));
                    }
                }
            }
        }
        let mut before = 0;
        closure.functions = met.iter().map(|at| at - std::mem::replace(&mut before, *at)).collect();
        closure.pointers = binary.taken_imports().iter().map(ToString::to_string).collect();
        Ok(closure)
    }

    /// The functions' addresses in the file.
    pub fn functions(&self) -> impl Iterator<Item = u64> {
        self.functions.iter().scan(0u64, |at, more| {
            *at = at.wrapping_add(*more);
            Some(*at)
        })
    }

    pub(super) fn imports(&self) -> &[Import] {
        &self.imports
    }

    pub fn pointers(&self) -> &[String] {
        &self.pointers
    }

    pub fn calls_by_pointer(&self) -> bool {
        self.indirect
    }

    pub fn bound(&self) -> Option<&String> {
        self.bound.as_ref()
    }

    /// Limits what an untrusted sender says to people. Names stay whole: a part of one names something else.
    pub fn cut(&mut self) {
        if let Some(what) = &mut self.bound {
            *what = what.chars().take(MOST_LETTERS).collect();
        }
    }
}
