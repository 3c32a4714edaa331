//! `scaf ps`: the daemon's snapshot as a table, once or again and again. Scripts may rely on the names and
//! the order of the table's columns, and on docs/guide/ps.schema.json.

use crate::output::{align_right, plain_table, printable, trimmed};
use crate::top::rows::{Choice, Column};
use crate::{cli, daemon, details, users, why};
use anyhow::{Context, Result};
use scafd::control::field::{Field, Kind, Value};
use scafd::control::{Others, Program, Request, Snapshot, Turns};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Clears a terminal and begins at its top.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Carries out `scaf ps`.
/// # Errors
/// No daemon, or one that can't be understood.
pub fn run(flags: &cli::Ps) -> Result<ExitCode> {
    let socket = daemon::require()?;
    if let Some(other) = daemon::other_version(&socket) {
        eprintln!("scaf: programs that start now run unmanaged: {other}");
    }
    let users = users::names();
    let uid = flags.user.as_deref().map(|user| users::id(&users, user)).transpose()?;
    let sort = flags.sort.as_deref().map(column).transpose()?;
    let look = || -> Result<String> {
        let snapshot = chosen(daemon::snapshot(&socket)?, uid, sort, &|uid| users::name(&users, uid));
        text(&socket, &snapshot, flags)
    };
    let Some(period) = flags.watch else {
        crate::output::print(&look()?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let clears = std::io::stdout().is_terminal() && !flags.json;
    loop {
        let text = look()?;
        if crate::output::print_or_end(&if clears { format!("{CLEAR}{text}") } else { text })? {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_secs_f64(period));
    }
}

fn text(socket: &Path, snapshot: &Snapshot, flags: &cli::Ps) -> Result<String> {
    // One line a time for whoever watches, to be read line by line.
    match (flags.json, flags.watch) {
        (true, None) => return Ok(serde_json::to_string_pretty(snapshot)? + "\n"),
        (true, Some(_)) => return Ok(serde_json::to_string(snapshot)? + "\n"),
        _ => {}
    }
    let mut text = render(snapshot, flags.verbose || flags.why);
    if flags.why
        && let [entry] = &daemon::decisions(socket, &Request::Decision(None))?.entries[..]
    {
        text.push('\n');
        text.push_str(&why::text::text(entry, None));
    }
    Ok(text)
}

fn column(name: &str) -> Result<Column> {
    let names = || Column::ALL.map(Column::name).join(", ");
    Column::of(name).with_context(|| format!("there is no column '{name}' to sort by; there are {}", names()))
}

/// Only that user's programs, in that order, else as they arrived.
fn chosen(
    snapshot: Snapshot,
    uid: Option<u32>,
    sort: Option<Column>,
    users: &dyn Fn(u32) -> String,
) -> Snapshot {
    let choice = Choice { sort: sort.unwrap_or(Column::Age), user: uid, ..Choice::default() };
    let programs = match (uid, sort) {
        (None, None) => return snapshot,
        _ => choice.programs(&snapshot, users).into_iter().cloned().collect(),
    };
    Snapshot { programs, ..snapshot }
}

/// The header line and the table; `verbose` adds the reasons.
pub fn render(snapshot: &Snapshot, verbose: bool) -> String {
    let mut text = header(snapshot);
    if snapshot.programs.is_empty() {
        text.push_str("no managed programs; start one with: scaf run PROGRAM\n");
        text.push_str(&unmanaged(snapshot));
        return text;
    }
    let columns: Vec<&Field> = Program::TABLE.fields.iter().filter(|it| !it.shown.ps.is_empty()).collect();
    let mut table = plain_table(&columns.iter().map(|it| it.shown.ps).collect::<Vec<_>>());
    for program in &snapshot.programs {
        table.add_row(row(program));
    }
    let is_number = |field: &Field| !matches!(field.kind, Kind::Text | Kind::Word(_));
    let numbers = (0..columns.len()).filter(|at| is_number(columns[*at])).collect::<Vec<_>>();
    align_right(&mut table, &numbers);
    let _ = writeln!(text, "{}", trimmed(&table));
    text.push_str(&unmanaged(snapshot));
    if let Some(turns) = &snapshot.turns {
        text.push_str(&round(turns, &snapshot.programs));
    }
    if verbose {
        for program in &snapshot.programs {
            text.push_str(&reasons(program));
        }
    }
    text
}

/// Programs that can't be managed, and those of which the daemon tells no more.
fn unmanaged(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for program in &snapshot.other_versions {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", program.pid)).unwrap_or_default();
        let _ = writeln!(
            text,
            "{} ({}) runs unmanaged: it speaks version {} of the protocol, and the daemon another one; start \
             it again",
            printable(name.trim()),
            program.pid,
            program.protocol
        );
    }
    text + &others(snapshot)
}

fn others(snapshot: &Snapshot) -> String {
    let Others { programs, contexts } = snapshot.others;
    let of = |number: u32, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match programs {
        0 => String::new(),
        _ => format!("and {} of other users, with {}\n", of(programs, "program"), of(contexts, "context")),
    }
}

fn header(snapshot: &Snapshot) -> String {
    let quota = snapshot.quota.map_or_else(|| "none".to_owned(), |quota| format!("{quota:.2}"));
    format!(
        "{} daemon {}, pid {}: policy {}, capacity {} of PUs {}, unmanaged load {:.2}, quota {quota}\n",
        snapshot.scope,
        snapshot.version,
        snapshot.pid,
        snapshot.policy,
        snapshot.capacity,
        snapshot.pus,
        snapshot.unmanaged_load,
    )
}

fn round(turns: &Turns, programs: &[Program]) -> String {
    let name = |id: &scaf_policy::ProgramId| {
        let program = programs.iter().find(|program| program.id == id.0);
        program.map_or_else(
            || "another user's".to_owned(),
            |program| format!("{} ({})", printable(&program.name), program.pid),
        )
    };
    let turn = |turn: &scaf_policy::Turn| {
        let members: Vec<String> = turn.members.iter().map(name).collect();
        let members = if members.is_empty() { "other users'".to_owned() } else { members.join(" + ") };
        format!("{members} for {} ms", u64::from(turn.slices) * turns.slice_ms)
    };
    let round: Vec<String> = turns.round.iter().map(turn).collect();
    format!("\nturns, by {}: {}\n", turns.by.name(), round.join(", "))
}

fn row(program: &Program) -> Vec<String> {
    let shown = program.values().filter(|(field, _)| !field.shown.ps.is_empty());
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { printable(&text) };
    let cell = |(field, value): (&Field, &dyn Value)| match field.key {
        "dop" => format!("{}/{}", or_dash(value.text()), program.natural),
        _ => or_dash(value.text()),
    };
    shown.map(cell).collect()
}

fn reasons(program: &Program) -> String {
    let mut text = format!("\n{} ({})\n", printable(&program.name), program.pid);
    for (what, said) in details::of(program) {
        let _ = writeln!(text, "  {what:<12} {}", printable(&said));
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use scafd::control::{OtherVersion, Runtime};

    pub(crate) fn snapshot(programs: Vec<Program>) -> Snapshot {
        Snapshot {
            version: "1.2.3".into(),
            pid: 7,
            scope: "session".into(),
            now_ns: 5,
            policy: "scaf".into(),
            pus: "0-3".parse().unwrap(),
            capacity: 3,
            unmanaged_load: 1.04,
            counters: scafd::control::CountersAre::Absent,
            decisions: 2,
            decision_ns: 400_000,
            programs,
            ..Snapshot::default()
        }
    }

    #[test]
    fn of_other_users_it_says_how_many_programs_there_are() {
        let seen = |programs| Snapshot { others: Others { programs, contexts: 3 }, ..snapshot(Vec::new()) };
        assert!(render(&seen(1), false).ends_with("and 1 program of other users, with 3 contexts\n"));
        assert!(!render(&seen(0), false).contains("other users"));
    }

    pub(crate) fn program() -> Program {
        Program {
            id: 1,
            pid: 4711,
            uid: 1000,
            name: "cg\u{1b}[2J".into(),
            job: Some("17.0".into()),
            mechanism: scafd::control::Mechanism::Fold,
            mechanism_reason: "it asks for the team size".into(),
            permission: "scaf check: 10 runs".into(),
            dop: Some(2),
            pus: "0-1".parse().unwrap(),
            team: 4,
            in_region: true,
            natural: 4,
            min: 1,
            weight: 1.0,
            quota: Some(1.5),
            efficiency: Some(0.875),
            earlier_runs: 3,
            exact: true,
            runtimes: vec![Runtime {
                name: "OpenBLAS".into(),
                file: "/lib/libopenblas.so.0".into(),
                threads: 1,
                most: 4,
                promise: "calls follow the grant".into(),
            }],
            regions: 12,
            promised_regions: 3,
            reason: "half of the machine".into(),
            ..Program::default()
        }
    }

    #[test]
    fn programs_of_another_version_are_listed() {
        let other = OtherVersion { pid: std::process::id(), uid: 1, protocol: 8 };
        for programs in [vec![], vec![program()]] {
            let seen = Snapshot { other_versions: vec![other], ..snapshot(programs) };
            assert!(render(&seen, false).contains("runs unmanaged: it speaks version 8 of the protocol"));
        }
    }

    #[test]
    fn the_header_says_what_there_is_to_share() {
        let text = render(&snapshot(vec![]), false);
        assert!(text.starts_with(
            "session daemon 1.2.3, pid 7: policy scaf, capacity 3 of PUs 0-3, unmanaged load 1.04, quota \
             none\n"
        ));
        assert!(text.contains("scaf run"));
    }

    #[test]
    fn a_program_is_a_row_and_unknown_values_are_dashes() {
        let text = render(&snapshot(vec![program()]), false);
        let row: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(row, ["cg?[2J", "4711", "fold", "2/4", "0-1", "0.88", "-", "4"]);
        assert!(!text.contains("half of the machine"));
    }

    #[test]
    fn programs_are_sorted_and_one_users_are_shown_alone() {
        let made = |id, uid, dop| Program { id, uid, dop: Some(dop), ..program() };
        let all = snapshot(vec![made(1, 7, 2), made(2, 8, 4), made(3, 7, 8)]);
        let ids = |uid, sort| -> Vec<u64> {
            chosen(all.clone(), uid, sort, &|uid| uid.to_string()).programs.iter().map(|it| it.id).collect()
        };
        assert_eq!(ids(None, None), [1, 2, 3]);
        assert_eq!(ids(Some(7), Some(Column::Contexts)), [3, 1]);
        assert!(column("height").unwrap_err().to_string().contains("contexts, speedup"));
    }

    #[test]
    fn columns_stay_as_scripts_know_them() {
        let text = render(&snapshot(vec![program()]), false);
        let header: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        let columns = ["NAME", "PID", "MECHANISM", "DOP", "PUS", "EFFICIENCY", "SPEEDUP", "TEAM"];
        assert_eq!(header, columns);
    }

    #[test]
    fn two_copies_of_llvms_runtime_are_warned_of() {
        let runtime = |name: &str| Runtime { name: name.into(), ..program().runtimes[0].clone() };
        let warned = |names: &[&str]| {
            let runtimes = names.iter().map(|name| runtime(name)).collect();
            reasons(&Program { runtimes, ..program() }).contains("two copies")
        };
        assert!(warned(&["OpenMP (LLVM)", "OpenMP (Intel)"]) && warned(&["OpenMP (LLVM)"; 2]));
        assert!(!warned(&["OpenMP (LLVM)", "OpenMP (GCC)", "OpenMP (GCC)"]));
    }

    #[test]
    fn turns_are_shown_by_names() {
        let other = Program { id: 2, name: "lu".into(), ..program() };
        let turn = |slices, id| scaf_policy::Turn { slices, members: vec![scaf_policy::ProgramId(id)] };
        let turns = Turns {
            by: scafd::apply::gang::stop::Way::FreezeV2,
            slice_ms: 50,
            round: vec![turn(1, 1), turn(2, 2)],
        };
        let text = render(&Snapshot { turns: Some(turns), ..snapshot(vec![program(), other]) }, false);
        assert!(text.contains("cg?[2J (4711) for 50 ms, lu (4711) for 100 ms"), "{text}");
    }

    #[test]
    fn reasons_come_with_verbose() {
        let text = render(&snapshot(vec![program()]), true);
        for part in [
            "half of the machine",
            "it asks for the team size",
            "job          17.0 of user 1000",
            "permission   scaf check: 10 runs",
            "1 to no limit",
            "3 fix",
            "earlier runs 3;",
            "outstanding",
            "weight 1, exact",
            "runtime      OpenBLAS, 1 of 4 threads, calls follow the grant: /lib/libopenblas.so.0",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[cfg(test)]
#[path = "ps_schema_tests.rs"]
mod schema_tests;
