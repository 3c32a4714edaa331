//! The table of programs, with each one's contexts over time.

use super::terminal_style::{Pen, TerminalStyle};
use crate::top::rows::{Column, Row};
use crate::top::state::State;
use crate::top::timeline::Series;
use ratatui::style::Style;
use scafd::control::{Program, Snapshot};

/// Columns in front of the name.
const FRONT: u16 = 2 + 8 + 9;
/// Those between the name and the history.
const NUMBERS: u16 = 8 + 10 + 9 + 6;
const LEAST_NAME: u16 = 12;
const MOST_NAME: u16 = 32;

/// The title and a page of rows.
pub fn draw(pen: &mut Pen<'_>, state: &State, view: &Snapshot, page: usize) {
    let width = pen.area.width;
    let left = width.saturating_sub(FRONT + NUMBERS);
    let name = (left / 2).clamp(LEAST_NAME, MOST_NAME);
    let history = left.saturating_sub(name + 1);
    title(pen, state, name, history);
    let rows = state.rows();
    let selected = state.selected_program().map(|program| program.id);
    let at = selected.and_then(|id| rows.iter().position(|row| row.id() == Some(id))).unwrap_or(0);
    let first = at / page.max(1) * page.max(1);
    let most = view.programs.iter().filter_map(|program| program.dop).max().unwrap_or(1).max(1);
    for (y, row) in (1..).zip(rows.iter().skip(first).take(page)) {
        match row {
            Row::User(uid, programs, contexts, speedup) => {
                let text = format!(
                    "  {}: {programs} programs, {contexts} contexts, speedups {speedup:.2}",
                    state.user(*uid)
                );
                pen.text(0, y, &text, TerminalStyle::strong());
            }
            Row::Program(program) => {
                let slot = state.timeline.slot(program.id);
                numbers(pen, y, state, program, (slot, name));
                let series = state.timeline.series(program.id);
                let text = series.map(|it| spark(it, view.now_ns, state.column_s, history, most, pen.look));
                let style = pen.look.program(slot);
                pen.text(FRONT + name + NUMBERS + 1, y, &text.unwrap_or_default(), style);
                if selected == Some(program.id) {
                    pen.line(y, TerminalStyle::reversed());
                }
            }
        }
    }
    if view.programs.is_empty() {
        pen.text(2, 1, "no managed programs; start one with: scaf run PROGRAM", Style::new());
    } else if rows.is_empty() {
        pen.text(2, 1, "no program fits; Esc shows all", Style::new());
    }
}

fn title(pen: &mut Pen<'_>, state: &State, name: u16, history: u16) {
    pen.line(0, TerminalStyle::reversed());
    let mark = |column: Column, text: &str| {
        let sorted = state.choice.sort == column;
        let arrow = if state.choice.reversed { "^" } else { "v" };
        if sorted { format!("{text}{arrow}") } else { text.to_owned() }
    };
    let history = usize::from(history);
    let seconds = u64::from(state.column_s) * history as u64;
    let line = format!(
        "  {:>7} {:<8} {:<name$} {:<7}{:>10}{:>9}{:>6} {:<.history$}",
        mark(Column::Pid, "PID"),
        mark(Column::User, "USER"),
        mark(Column::Name, "NAME"),
        mark(Column::Mechanism, "HOW"),
        mark(Column::Contexts, "CONTEXTS"),
        mark(Column::Speedup, "SPEEDUP"),
        mark(Column::Efficiency, "EFF"),
        format!("LAST {seconds} S"),
        name = usize::from(name),
    );
    pen.text(0, 0, &line, TerminalStyle::reversed());
}

fn numbers(pen: &mut Pen<'_>, y: u16, state: &State, program: &Program, (slot, name): (usize, u16)) {
    let style = pen.look.program(slot);
    pen.dot(0, y, TerminalStyle::symbol(slot), style.patch(TerminalStyle::strong()));
    let plain = Style::new();
    pen.text(1, y, &format!(" {:>7}", program.pid), plain);
    pen.on(10, y, 8, 1).text(0, 0, &state.user(program.uid), plain);
    pen.on(FRONT, y, name, 1).text(0, 0, &program.name, style);
    let known = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"));
    let dop = program.dop.map_or_else(|| "-".to_owned(), |dop| dop.to_string());
    let text = format!(
        " {:<7}{:>10}{:>9}{:>6}",
        program.mechanism.name().chars().take(7).collect::<String>(),
        format!("{dop}/{}", program.natural),
        known(program.speedup),
        known(program.efficiency),
    );
    pen.on(FRONT + name, y, NUMBERS + 1, 1).text(0, 0, &text, plain);
}

/// A series until then, a column for so many seconds, the latest at the right.
fn spark(
    series: &Series,
    now_ns: u64,
    column_s: u32,
    columns: u16,
    most: u32,
    look: TerminalStyle,
) -> String {
    let column_ns = u64::from(column_s) * 1_000_000_000;
    let bar = |column: u16| {
        let ago_ns = u64::from(columns - 1 - column) * column_ns;
        let then = now_ns.checked_sub(ago_ns).map_or(0, |ns| series.at(ns));
        look.bar(f64::from(then.min(most)) / f64::from(most))
    };
    (0..columns).map(bar).collect()
}
