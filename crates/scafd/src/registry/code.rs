//! What a program's code lets us do with its teams.

use crate::inspect::Verdict;
use scaf_inspect::Objection;
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
    /// Its user's result of `scaf check`: overrules the verdict about the executable's own code.
    checked: Option<Checked>,
    /// What is known of its executable and libraries besides ([`crate::verdicts`]).
    known: Vec<Checked>,
    /// Where its regions wait by spinning on memory, if they do.
    pub spins: Option<String>,
    /// Whether others of its executable were inspected, and nothing urgent was found.
    pub can_wait: bool,
    /// Why it needs all its contexts at once: its user says so,
    asked_rigid: Option<String>,
    /// or it was found out.
    found_rigid: Option<String>,
    /// Whether it may be stopped for others' turns, if its user says so.
    pub turns: Option<bool>,
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
            known: Vec::new(),
            spins: None,
            can_wait: false,
            asked_rigid: rigid,
            found_rigid: None,
            turns: None,
            exact,
            inspected: 0,
            modules,
        }
    }

    /// Of a program whose code isn't looked at: it has no teams that are known.
    pub fn unknown(turns: Option<bool>) -> Code {
        let teams = Teams::Fixed("its threads are no team of a known runtime".into());
        Code { teams, turns, ..Code::pending(0, false, None) }
    }

    /// How well its threads use their contexts can't be seen.
    pub fn cannot_be_seen(&mut self) {
        let why = "its threads are no team of a known runtime, and how well they use contexts can't be seen \
                   (kernel.perf_event_paranoid)";
        self.teams = Teams::Fixed(why.into());
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

    /// Takes the verdict of an inspection that was requested at so many `modules`, and what is known of the
    /// files that it met.
    pub fn inspected(&mut self, verdict: &Verdict, modules: u8, known: Vec<Checked>) {
        self.known = known;
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

    /// What is known of the executable's own code.
    fn own(&self) -> Option<&Checked> {
        let executable = &self.verdict.as_ref()?.origin.as_ref()?.executable;
        self.checked.iter().chain(&self.known).find(|known| known.executable == *executable)
    }

    /// What is known of the code that is objected to.
    fn about(&self, objection: &Objection) -> Option<&Checked> {
        match &objection.module {
            _ if objection.is_own => self.own(),
            Some(module) => self.known.iter().find(|known| known.executable == *module),
            None => None,
        }
    }

    fn conclude(&mut self) {
        let Some(verdict) = &self.verdict else { return };
        let left = |it: &&Objection| !self.about(it).is_some_and(|known| known.resizable);
        let why = match self.own().into_iter().chain(&self.known).find(|known| !known.resizable) {
            Some(Checked { date, name, .. }) => {
                format!("a check on {date} found that the results of {name} depend on it")
            }
            None => verdict.objections.iter().find(left).map_or_else(String::new, |it| it.why.clone()),
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
        let Some(verdict) = self.verdict.as_ref().filter(|_| self.teams == Teams::Resizable) else {
            return String::new();
        };
        verdict.objections.first().and_then(|it| self.about(it)).map_or_else(String::new, Checked::text)
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
