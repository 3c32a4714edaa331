//! Which programs are shown, and in which order.

use scafd::control::{Program, Snapshot};
use std::cmp::Ordering;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Column {
    Pid,
    User,
    Name,
    /// How it is carried out.
    Mechanism,
    Contexts,
    Efficiency,
    Speedup,
    Weight,
    /// When it came.
    Age,
}

impl Column {
    /// All, in the order in which they are offered.
    pub const ALL: [Column; 9] = [
        Column::Contexts,
        Column::Speedup,
        Column::Efficiency,
        Column::Age,
        Column::Name,
        Column::User,
        Column::Pid,
        Column::Mechanism,
        Column::Weight,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Column::Pid => "pid",
            Column::User => "user",
            Column::Name => "name",
            Column::Mechanism => "mechanism",
            Column::Contexts => "contexts",
            Column::Efficiency => "efficiency",
            Column::Speedup => "speedup",
            Column::Weight => "weight",
            Column::Age => "age",
        }
    }

    /// The column of that name.
    pub fn of(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The one so many places further on, around the end.
    #[must_use]
    pub fn next(self, by: usize) -> Column {
        let at = Column::ALL.iter().position(|column| *column == self).unwrap_or(0);
        Column::ALL[(at + by) % Column::ALL.len()]
    }

    /// Numbers fall, names rise.
    fn order(self, a: &Program, b: &Program, users: &dyn Fn(u32) -> String) -> Ordering {
        let number = |a: Option<f64>, b: Option<f64>| {
            b.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.unwrap_or(f64::NEG_INFINITY))
        };
        match self {
            Column::Pid => a.pid.cmp(&b.pid),
            Column::User => users(a.uid).cmp(&users(b.uid)),
            Column::Name => a.name.cmp(&b.name),
            Column::Mechanism => a.mechanism.name().cmp(b.mechanism.name()),
            Column::Contexts => b.dop.cmp(&a.dop),
            Column::Efficiency => number(a.efficiency, b.efficiency),
            Column::Speedup => number(a.speedup, b.speedup),
            Column::Weight => b.weight.total_cmp(&a.weight),
            Column::Age => a.attached_ns.cmp(&b.attached_ns),
        }
    }
}

/// What is wanted to be seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What rows are sorted by.
    pub sort: Column,
    /// Whether the other way round.
    pub reversed: bool,
    /// Only programs in whose name, number, job or user this is, in any case.
    pub filter: String,
    /// Only that user's.
    pub user: Option<u32>,
    /// Whether programs stand under their users.
    pub tree: bool,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { sort: Column::Contexts, reversed: false, filter: String::new(), user: None, tree: false }
    }
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Row<'a> {
    /// A user with so many programs, which have so many contexts and that speedup.
    User(u32, usize, u32, f64),
    /// A program.
    Program(&'a Program),
}

impl Row<'_> {
    /// The number of its program.
    pub fn id(&self) -> Option<u64> {
        match self {
            Row::Program(program) => Some(program.id),
            Row::User(..) => None,
        }
    }
}

impl Choice {
    /// The programs that are to be seen, in order.
    pub fn programs<'a>(&self, of: &'a Snapshot, users: &dyn Fn(u32) -> String) -> Vec<&'a Program> {
        let wanted = self.filter.to_lowercase();
        let fits = |program: &&Program| {
            self.user.is_none_or(|uid| program.uid == uid)
                && (wanted.is_empty()
                    || program.name.to_lowercase().contains(&wanted)
                    || program.pid.to_string().contains(&wanted)
                    || program.job.as_ref().is_some_and(|job| job.contains(&wanted))
                    || users(program.uid).to_lowercase().contains(&wanted))
        };
        let mut programs: Vec<&Program> = of.programs.iter().filter(fits).collect();
        programs.sort_by(|a, b| {
            let order = self.sort.order(a, b, users);
            let order = if self.reversed { order.reverse() } else { order };
            order.then(a.id.cmp(&b.id))
        });
        programs
    }

    /// The lines of the table.
    pub fn rows<'a>(&self, of: &'a Snapshot, users: &dyn Fn(u32) -> String) -> Vec<Row<'a>> {
        let programs = self.programs(of, users);
        if !self.tree {
            return programs.into_iter().map(Row::Program).collect();
        }
        let mut uids: Vec<u32> = programs.iter().map(|program| program.uid).collect();
        uids.sort_unstable();
        uids.dedup();
        let mut rows = Vec::new();
        for uid in uids {
            let own = || programs.iter().copied().filter(|program| program.uid == uid);
            let contexts = own().filter_map(|program| program.dop).fold(0, u32::saturating_add);
            rows.push(Row::User(uid, own().count(), contexts, own().filter_map(|it| it.speedup).sum()));
            rows.extend(own().map(Row::Program));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};

    fn user(uid: u32) -> String {
        if uid == 0 { "root".into() } else { format!("u{uid}") }
    }

    fn three() -> Snapshot {
        let made = |id: u64, uid, name: &str, dop| Program {
            id,
            uid,
            pid: 100 + id as u32,
            name: name.into(),
            dop: Some(dop),
            ..program()
        };
        snapshot(vec![made(1, 7, "Cg", 2), made(2, 0, "ep", 4), made(3, 7, "lu", 4)])
    }

    fn ids(choice: &Choice) -> Vec<u64> {
        choice.programs(&three(), &user).iter().map(|program| program.id).collect()
    }

    #[test]
    fn rows_are_sorted_by_any_column_and_either_way() {
        assert_eq!(ids(&Choice::default()), [2, 3, 1]);
        assert_eq!(ids(&Choice { reversed: true, ..Choice::default() }), [1, 2, 3]);
        assert_eq!(ids(&Choice { sort: Column::Name, ..Choice::default() }), [1, 2, 3]);
        assert_eq!(ids(&Choice { sort: Column::User, ..Choice::default() }), [2, 1, 3]);
        assert!(Column::ALL.iter().all(|column| Column::of(column.name()) == Some(*column)));
    }

    #[test]
    fn a_filter_fits_names_numbers_and_users() {
        let filtered = |text: &str| ids(&Choice { filter: text.into(), ..Choice::default() });
        assert_eq!(filtered("cG"), [1]);
        assert_eq!(filtered("103"), [3]);
        assert_eq!(filtered("root"), [2]);
        assert_eq!(ids(&Choice { user: Some(7), ..Choice::default() }), [3, 1]);
    }

    #[test]
    fn in_a_tree_programs_stand_under_their_users() {
        let all = three();
        let rows = Choice { tree: true, ..Choice::default() }.rows(&all, &user);
        let ids: Vec<Option<u64>> = rows.iter().map(Row::id).collect();
        assert_eq!(ids, [None, Some(2), None, Some(3), Some(1)]);
        assert!(matches!(rows[2], Row::User(7, 2, 6, _)));
    }
}
