//! What a program's code lets us do with its teams.

use crate::inspect::Verdict;
use scaf_memory::Checked;

/// Whether the program's teams may be resized, as far as its code is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Teams {
    /// Being inspected.
    Pending,
    /// Any may be.
    Resizable,
    /// None may be; why.
    Fixed(String),
}

/// What is known of a program's code.
#[derive(Clone, Debug)]
pub struct Code {
    /// Whether its teams may be resized.
    pub teams: Teams,
    /// The latest inspection's verdict.
    verdict: Option<Verdict>,
    /// What is known of its executable by trying, or by an admin's word: it counts in place of the verdict
    /// about the executable's own code.
    checked: Option<Checked>,
    /// Where its regions wait by spinning on memory, if they do.
    pub spins: Option<String>,
    /// Whether others of its executable were inspected, and nothing was found that can't wait.
    pub can_wait: bool,
    /// Why it needs all its contexts at once whenever it runs, if its user says so.
    asked_rigid: Option<String>,
    /// The same, if it was found out.
    found_rigid: Option<String>,
    /// Whether its results are to keep their bits, so that its teams are never resized.
    pub exact: bool,
    /// Modules that had been met when its code was inspected.
    pub inspected: u8,
    /// Modules with parallel regions that it had met when it was inspected last.
    modules: u32,
}

impl Code {
    /// Code that is yet to be inspected.
    pub fn pending(modules: u32, exact: bool, rigid: Option<String>) -> Code {
        Code {
            teams: Teams::Pending,
            verdict: None,
            checked: None,
            spins: None,
            can_wait: false,
            asked_rigid: rigid,
            found_rigid: None,
            exact,
            inspected: 0,
            modules,
        }
    }

    /// Whether its threads spin in loops that can't be made to yield.
    pub fn only_spins(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.spins.is_some() && verdict.marks.is_none())
    }

    /// Whether these are its executable's own.
    pub fn spins_itself(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.spins_itself)
    }

    /// Why it needs all its contexts at once whenever it runs, if it does.
    pub fn rigid(&self) -> Option<&String> {
        self.asked_rigid.as_ref().or(self.found_rigid.as_ref())
    }

    /// It was found out that it does.
    pub fn find_rigid(&mut self, why: String) {
        self.found_rigid = Some(why);
    }

    /// Whether it was found out that it does.
    pub fn is_found_rigid(&self) -> bool {
        self.found_rigid.is_some()
    }

    /// It doesn't any more, unless its user says so. Why it was thought to.
    pub fn yields(&mut self) -> Option<String> {
        self.found_rigid.take()
    }

    /// Modules with parallel regions that it has met.
    pub fn modules(&self) -> u32 {
        self.modules
    }

    /// Whether it is to be inspected as soon as it has a region.
    pub fn is_urgent(&self) -> bool {
        let is_word = self.checked.as_ref().is_some_and(|checked| checked.resizable);
        u32::from(self.inspected) < self.modules.min(u8::MAX.into()) && (is_word || !self.can_wait)
    }

    /// Takes note of the number of modules met. True if there are more than were inspected, up to 255, which
    /// is all that the grant has room for.
    pub fn meets(&mut self, modules: u32) -> bool {
        let more = self.modules < modules.min(u8::MAX.into());
        self.modules = if more { modules } else { self.modules };
        more
    }

    /// Takes in what an inspection found that was asked for at so many `modules`.
    pub fn inspected(&mut self, verdict: &Verdict, modules: u8) {
        self.spins.clone_from(&verdict.spins);
        self.inspected = modules;
        let mut verdict = verdict.clone();
        // Only its tie to other runs needs these, and there may be many.
        verdict.origin.iter_mut().for_each(|origin| origin.modules = Vec::new());
        self.verdict = Some(verdict);
        self.conclude();
    }

    /// Takes in what is known of an executable by trying. Without effect unless it is this program's.
    pub fn checked(&mut self, checked: Checked) {
        self.checked = Some(checked);
        self.conclude();
    }

    /// What counts in place of the verdict about the executable's own code, if anything does.
    pub fn overruling(&self) -> Option<&Checked> {
        let executable = &self.verdict.as_ref()?.origin.as_ref()?.executable;
        self.checked.as_ref().filter(|checked| checked.executable == *executable)
    }

    fn conclude(&mut self) {
        let Some(verdict) = &self.verdict else { return };
        let why = match self.overruling() {
            Some(checked) if checked.resizable => verdict.others.clone(),
            Some(checked) => format!("a check on {} found that its results depend on it", checked.date),
            None if verdict.resizable => String::new(),
            None => verdict.why.clone(),
        };
        self.teams = if !why.is_empty() {
            Teams::Fixed(why)
        } else if self.exact {
            Teams::Fixed("its results are to keep their bits (scaf run --exact)".into())
        } else {
            Teams::Resizable
        };
    }

    /// By what its teams may be resized, if that isn't the inspection of its code; else empty.
    pub fn permission(&self) -> String {
        let refused = self.verdict.as_ref().is_some_and(|verdict| !verdict.resizable);
        match self.overruling() {
            Some(Checked { runs, date, .. }) if refused && self.teams == Teams::Resizable => {
                format!("scaf check: {runs} runs on {date} with teams of other sizes came out the same")
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
