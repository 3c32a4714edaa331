//! What a program's code lets us do with its teams.

use crate::inspect::Verdict;
use scaf_memory::Checked;

/// Whether a program's teams may be resized, as far as its code is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Teams {
    /// Being inspected.
    Pending,
    Resizable,
    /// None may be, for this reason.
    Fixed(String),
}

/// What is known of a program's code.
#[derive(Clone, Debug)]
pub struct Code {
    pub teams: Teams,
    verdict: Option<Verdict>,
    /// The result of `scaf check`, or an admin's verdict: overrules the verdict about the executable's own
    /// code.
    checked: Option<Checked>,
    /// Where its regions wait by spinning on memory, if they do.
    pub spins: Option<String>,
    /// Whether others of its executable were inspected, and nothing urgent was found.
    pub can_wait: bool,
    /// Why it needs all its contexts at once: its user says so,
    asked_rigid: Option<String>,
    /// or it was found out.
    found_rigid: Option<String>,
    /// Whether its results have to be bitwise reproducible, so that its teams are never resized.
    pub exact: bool,
    /// Modules that had been loaded when its code was inspected.
    pub inspected: u8,
    /// Modules with parallel regions that it has loaded.
    modules: u32,
}

impl Code {
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

    /// Whether its code permits its teams to be gathered.
    pub fn gathers(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.gathers)
    }

    /// What its regions can reach that forbids it, if that is known.
    pub fn reaches(&self) -> Option<&str> {
        let verdict = self.verdict.as_ref()?;
        (!verdict.reaches.is_empty()).then_some(verdict.reaches.as_str())
    }

    /// Whether it spins in loops that can't be made to yield.
    pub fn only_spins(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.spins.is_some() && verdict.marks.is_none())
    }

    pub fn spins_itself(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.spins_itself)
    }

    /// Why it needs all its contexts at once whenever it runs, if it does.
    pub fn rigid(&self) -> Option<&String> {
        self.asked_rigid.as_ref().or(self.found_rigid.as_ref())
    }

    pub fn find_rigid(&mut self, why: String) {
        self.found_rigid = Some(why);
    }

    pub fn is_found_rigid(&self) -> bool {
        self.found_rigid.is_some()
    }

    /// It doesn't any more, unless its user says so. Gives the former reason.
    pub fn yields(&mut self) -> Option<String> {
        self.found_rigid.take()
    }

    pub fn modules(&self) -> u32 {
        self.modules
    }

    /// Whether it is to be inspected as soon as it has a region.
    pub fn is_urgent(&self) -> bool {
        let is_word = self.checked.as_ref().is_some_and(|checked| checked.resizable);
        u32::from(self.inspected) < self.modules.min(u8::MAX.into()) && (is_word || !self.can_wait)
    }

    /// Sets the number of modules loaded. True if there are more than before, up to 255, the grant's limit.
    pub fn meets(&mut self, modules: u32) -> bool {
        let more = self.modules < modules.min(u8::MAX.into());
        self.modules = if more { modules } else { self.modules };
        more
    }

    /// Takes the verdict of an inspection that was requested at so many `modules`.
    pub fn inspected(&mut self, verdict: &Verdict, modules: u8) {
        self.spins.clone_from(&verdict.spins);
        self.inspected = modules;
        let mut verdict = verdict.clone();
        // Only the profile's key needs these, and there may be many.
        verdict.origin.iter_mut().for_each(|origin| origin.modules = Vec::new());
        self.verdict = Some(verdict);
        self.conclude();
    }

    /// Takes the result of a check. Without effect unless it is of this executable.
    pub fn checked(&mut self, checked: Checked) {
        self.checked = Some(checked);
        self.conclude();
    }

    /// What overrules the verdict about the executable's own code, if anything does.
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

    /// Who permits its teams to be resized, if not the code analysis; else empty.
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
