//! What the view shows, and how keys change it. Pure: no terminal, clock or daemon.

use super::rows::{Choice, Column, Row};
use super::timeline::Timeline;
use scaf_policy::{POLICIES, Topology};
use scafd::control::{LimitValues, Program, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// A key, as it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as on the keyboard
pub enum Key {
    Char(char),
    F(u8),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Esc,
    Backspace,
    Tab,
}

/// A key's effect outside the view.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// End.
    Quit,
    /// Decide by that policy from now on.
    SetPolicy(String),
    /// The program of that number is to have these limits.
    Limit(u64, LimitValues),
}

/// What keys go to.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Mode {
    Table,
    Help,
    /// What is typed goes to the filter.
    Filter,
    /// A list to choose from, and the place in it.
    Menu(Menu, usize),
    /// A number of a program is typed.
    Limit(Limit, String),
}

/// What is chosen from a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Menu {
    Sort,
    User,
    Policy,
}

/// What of a program can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Limit {
    Min,
    Max,
    Weight,
}

impl Limit {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Min => "fewest contexts",
            Limit::Max => "most contexts (0: no limit)",
            Limit::Weight => "weight (1 is normal)",
        }
    }

    fn values(self, typed: &str) -> Option<LimitValues> {
        let none = LimitValues::default();
        match self {
            Limit::Min => Some(LimitValues { min: Some(typed.parse().ok()?), ..none }),
            Limit::Max => Some(LimitValues { max: Some(typed.parse().ok()?), ..none }),
            Limit::Weight => Some(LimitValues { weight: Some(typed.parse().ok()?), ..none }),
        }
    }
}

/// What is below the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Why the selected program has what it has, and its curve.
    Program,
    /// What happened.
    Events,
    /// Nothing: more rows.
    Nothing,
}

/// Where all this comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A daemon that answers.
    Daemon,
    /// A daemon that doesn't, and why.
    Lost(String),
    /// A recording of that name.
    Recording(String),
}

/// All that the view shows.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct State {
    pub timeline: Timeline,
    pub source: Source,
    /// Which programs are shown, and how.
    pub choice: Choice,
    /// Number of the selected program.
    pub selected: Option<u64>,
    pub mode: Mode,
    pub pane: Pane,
    /// A message, until the next key.
    pub message: String,
    /// The machine; empty if unknown.
    pub machine: Topology,
    pub users: BTreeMap<u32, String>,
    /// Seconds in a column of a history.
    pub column_s: u32,
    /// Rows on a page.
    pub page: usize,
    /// Whether a recording is playing.
    pub plays: bool,
    /// Until when it has been played, in nanoseconds of its own clock.
    pub played_ns: u64,
}

const MOST_COLUMN_S: u32 = 60;
const LONG_NS: i64 = 10_000_000_000;

impl State {
    /// Of what is known so far.
    pub fn new(timeline: Timeline, source: Source) -> State {
        State {
            plays: matches!(source, Source::Recording(_)),
            timeline,
            source,
            choice: Choice::default(),
            selected: None,
            mode: Mode::Table,
            pane: Pane::Program,
            message: String::new(),
            machine: Topology::default(),
            users: BTreeMap::new(),
            column_s: 4,
            page: 10,
            played_ns: 0,
        }
    }

    /// A user's name, or number.
    pub fn user(&self, uid: u32) -> String {
        crate::users::name(&self.users, uid)
    }

    /// The moment that is looked at.
    pub fn view(&self) -> Option<&Snapshot> {
        self.timeline.view()
    }

    /// The lines of the table.
    pub fn rows(&self) -> Vec<Row<'_>> {
        self.view().map_or_else(Vec::new, |view| self.choice.rows(view, &|uid| self.user(uid)))
    }

    /// The selected program, else the first one.
    pub fn selected_program(&self) -> Option<&Program> {
        let view = self.view()?;
        let chosen = self.selected.and_then(|id| view.programs.iter().find(|it| it.id == id));
        chosen.or_else(|| {
            self.rows()
                .iter()
                .find_map(Row::id)
                .and_then(|id| view.programs.iter().find(|program| program.id == id))
        })
    }

    /// What a list offers.
    pub fn offers(&self, menu: Menu) -> Vec<String> {
        match menu {
            Menu::Sort => Column::ALL.map(|column| column.name().to_owned()).to_vec(),
            Menu::Policy => POLICIES.iter().map(|policy| policy.name.to_owned()).collect(),
            Menu::User => {
                let all = std::iter::once("all users".to_owned());
                all.chain(self.uids().into_iter().map(|uid| self.user(uid))).collect()
            }
        }
    }

    fn uids(&self) -> Vec<u32> {
        let programs = self.view().map_or(&[][..], |view| &view.programs);
        programs.iter().map(|it| it.uid).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Takes a key.
    pub fn key(&mut self, key: Key) -> Option<Action> {
        self.message.clear();
        match std::mem::replace(&mut self.mode, Mode::Table) {
            Mode::Table => self.table_key(key),
            Mode::Help => None,
            Mode::Filter => {
                self.filter_key(key);
                None
            }
            Mode::Menu(menu, at) => self.menu_key(menu, at, key),
            Mode::Limit(limit, typed) => self.limit_key(limit, typed, key),
        }
    }

    fn table_key(&mut self, key: Key) -> Option<Action> {
        match key {
            Key::Char('q') | Key::F(10) => return Some(Action::Quit),
            Key::Char('?' | 'h') | Key::F(1) => self.mode = Mode::Help,
            Key::Char('p') | Key::F(2) => self.mode = Mode::Menu(Menu::Policy, self.policy_in_force()),
            Key::Char('/' | '\\') | Key::F(3 | 4) => self.mode = Mode::Filter,
            Key::Char('t') | Key::F(5) => self.choice.tree = !self.choice.tree,
            Key::F(6) | Key::Char('s') => self.mode = Mode::Menu(Menu::Sort, self.sorted_by()),
            Key::Char('>' | '.') => self.choice.sort = self.choice.sort.next(1),
            Key::Char('<' | ',') => self.choice.sort = self.choice.sort.next(Column::ALL.len() - 1),
            Key::Char('r' | 'I') => self.choice.reversed = !self.choice.reversed,
            Key::Char('u') => self.mode = Mode::Menu(Menu::User, 0),
            Key::Char('m') => self.ask(Limit::Min),
            Key::Char('M') => self.ask(Limit::Max),
            Key::Char('w') => self.ask(Limit::Weight),
            Key::F(7) => return self.weigh(0.5),
            Key::F(8) => return self.weigh(2.0),
            Key::Char(' ') => self.pause(),
            Key::Left => self.travel(|timeline| timeline.step(-1)),
            Key::Right => self.travel(|timeline| timeline.step(1)),
            Key::Char('[') => self.travel(|timeline| timeline.travel(-LONG_NS)),
            Key::Char(']') => self.travel(|timeline| timeline.travel(LONG_NS)),
            Key::Char('{') => self.travel(|timeline| timeline.go_to_time(0)),
            Key::Char('}' | 'l') => self.travel(Timeline::follow),
            Key::Char('+') => self.column_s = (self.column_s / 2).max(1),
            Key::Char('-') => self.column_s = (self.column_s * 2).min(MOST_COLUMN_S),
            Key::Up | Key::Char('k') => self.select(|at, _| at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(|at, _| at.saturating_add(1)),
            Key::PageUp => self.select(|at, page| at.saturating_sub(page)),
            Key::PageDown => self.select(|at, page| at.saturating_add(page)),
            Key::Home => self.select(|_, _| 0),
            Key::End => self.select(|_, _| usize::MAX),
            Key::Tab | Key::Enter => {
                self.pane = match self.pane {
                    Pane::Program => Pane::Events,
                    Pane::Events => Pane::Nothing,
                    Pane::Nothing => Pane::Program,
                }
            }
            Key::Esc => {
                self.choice.filter.clear();
                self.choice.user = None;
            }
            Key::Char(_) | Key::F(_) | Key::Backspace => {}
        }
        None
    }

    fn filter_key(&mut self, key: Key) {
        match key {
            Key::Enter | Key::Up | Key::Down => return,
            Key::Esc => return self.choice.filter.clear(),
            Key::Backspace => _ = self.choice.filter.pop(),
            Key::Char(c) if self.choice.filter.len() < 64 && !c.is_control() => self.choice.filter.push(c),
            _ => {}
        }
        self.mode = Mode::Filter;
    }

    fn menu_key(&mut self, menu: Menu, at: usize, key: Key) -> Option<Action> {
        let offers = self.offers(menu);
        let last = offers.len().saturating_sub(1);
        let at = at.min(last);
        let at = match key {
            Key::Esc | Key::Char('q') => return None,
            Key::Up | Key::Left | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Right | Key::Char('j') => (at + 1).min(last),
            Key::Home | Key::PageUp => 0,
            Key::End | Key::PageDown => last,
            Key::Enter => return self.chosen(menu, at, offers),
            _ => at,
        };
        self.mode = Mode::Menu(menu, at);
        None
    }

    fn chosen(&mut self, menu: Menu, at: usize, mut offers: Vec<String>) -> Option<Action> {
        match menu {
            Menu::Sort => self.choice.sort = Column::ALL[at.min(Column::ALL.len() - 1)],
            Menu::User => self.choice.user = at.checked_sub(1).and_then(|at| self.uids().get(at).copied()),
            Menu::Policy if self.may_change() && at < offers.len() => {
                return Some(Action::SetPolicy(offers.swap_remove(at)));
            }
            Menu::Policy => {}
        }
        None
    }

    fn limit_key(&mut self, limit: Limit, mut typed: String, key: Key) -> Option<Action> {
        match key {
            Key::Esc => return None,
            Key::Enter => {
                let program = self.selected_program().map(|program| program.id);
                match (program, limit.values(&typed)) {
                    (Some(program), Some(values)) => return Some(Action::Limit(program, values)),
                    (None, _) => self.message = "no program is selected".into(),
                    (_, None) => self.message = format!("'{typed}' is no number for that"),
                }
                return None;
            }
            Key::Backspace => _ = typed.pop(),
            Key::Char(c) if (c.is_ascii_digit() || c == '.') && typed.len() < 8 => typed.push(c),
            _ => {}
        }
        self.mode = Mode::Limit(limit, typed);
        None
    }

    fn policy_in_force(&self) -> usize {
        let name = self.view().map_or("", |view| view.policy.as_str());
        POLICIES.iter().position(|policy| policy.name == name).unwrap_or(0)
    }

    fn sorted_by(&self) -> usize {
        Column::ALL.iter().position(|column| *column == self.choice.sort).unwrap_or(0)
    }

    fn may_change(&mut self) -> bool {
        let recorded = matches!(self.source, Source::Recording(_));
        if recorded {
            self.message = "a recording can't be changed".into();
        }
        !recorded
    }

    fn ask(&mut self, limit: Limit) {
        if self.may_change() {
            self.mode = Mode::Limit(limit, String::new());
        }
    }

    fn weigh(&mut self, by: f64) -> Option<Action> {
        if !self.may_change() {
            return None;
        }
        let program = self.selected_program()?;
        let weight = (program.weight * by).clamp(0.001, 1000.0);
        Some(Action::Limit(program.id, LimitValues { weight: Some(weight), ..LimitValues::default() }))
    }

    fn pause(&mut self) {
        match self.source {
            Source::Recording(_) => {
                self.plays = !self.plays;
                self.played_ns = 0;
            }
            _ if self.timeline.follows() => self.timeline.stay(),
            _ => self.timeline.follow(),
        }
    }

    fn travel(&mut self, go: impl FnOnce(&mut Timeline)) {
        self.plays = false;
        go(&mut self.timeline);
    }

    /// Selects the program at the row that `to` says, given the present one and the rows on a page. Users'
    /// rows are passed over.
    fn select(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let ids: Vec<u64> = self.rows().iter().filter_map(Row::id).collect();
        let at = self.selected.and_then(|id| ids.iter().position(|it| *it == id)).unwrap_or(0);
        let to = to(at, self.page.max(1)).min(ids.len().saturating_sub(1));
        self.selected = ids.get(to).copied().or(self.selected);
    }

    /// A recording has been played until then. True if that is another moment.
    pub fn play(&mut self, until_ns: u64) -> bool {
        let moment = |state: &State| state.view().map_or(0, |view| view.moment);
        let before = moment(self);
        self.timeline.go_to_time(until_ns);
        if moment(self) == self.timeline.latest() {
            self.plays = false;
        }
        moment(self) != before || !self.plays
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
