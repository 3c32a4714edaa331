//! What is below the table: the selected program, or what happened.

use super::look::{Look, Pen};
use super::plot;
use crate::top::past::What;
use crate::top::state::State;
use crate::{details, worth};
use ratatui::style::{Color, Style};
use scafd::control::{Program, Snapshot};

/// Why the selected program has what it has, and its curve.
pub fn program(pen: &mut Pen<'_>, state: &State, view: &Snapshot) {
    let Some(program) = state.selected_program() else { return };
    let (width, height) = (pen.area.width, pen.area.height);
    let wide = width >= 60;
    let text_width = if wide { width / 2 } else { width };
    let equal = worth::equal_parts(view).get(&program.id).copied();
    reasons(&mut pen.on(0, 0, text_width.saturating_sub(1), height), state, program, equal);
    if wide {
        plot::draw(&mut pen.on(text_width, 0, width - text_width, height), program, equal);
    }
}

fn reasons(pen: &mut Pen<'_>, state: &State, program: &Program, equal: Option<u32>) {
    let title = format!("{} ({}, {})", program.name, program.pid, state.user(program.uid));
    pen.text(0, 0, &title, Look::strong());
    let mut y = 1;
    for (at, (what, said)) in details::of(program).into_iter().enumerate() {
        y = pen.wrapped(y, 2, &format!("{what}: {said}"), Style::new());
        if at == 0
            && let Some(line) = compared(program, equal)
        {
            y = pen.wrapped(y, 2, &line, Style::new());
        }
    }
}

/// What it would have with equal parts.
fn compared(program: &Program, equal: Option<u32>) -> Option<String> {
    let (dop, equal) = (program.dop?, equal?);
    let speedup = |dop| worth::speedup(program, dop).map_or_else(|| "?".into(), |it| format!("{it:.2}"));
    Some(match dop == equal {
        true => format!("equal parts: the same {dop}"),
        false => format!("equal parts: {equal} (S {}) instead of {dop} (S {})", speedup(equal), speedup(dop)),
    })
}

/// What happened, the latest first.
pub fn events(pen: &mut Pen<'_>, state: &State, view: &Snapshot) {
    let events = state.past.events();
    for (y, event) in events.iter().rev().take(usize::from(pen.area.height)).enumerate() {
        let y = u16::try_from(y).unwrap_or(u16::MAX);
        let ago_s = view.now_ns.saturating_sub(event.at_ns) as f64 * 1e-9;
        let x = pen.text(0, y, &format!("{ago_s:>7.1} s ago  "), Style::new());
        let look = pen.look;
        let (text, style) = match &event.what {
            What::Arrival(_, name) => (format!("{name} came"), look.fg(Color::Green)),
            What::Departure(_, name) => (format!("{name} left"), look.fg(Color::Red)),
            What::Policy(name) => (format!("policy {name} from now on"), look.fg(Color::Yellow)),
            What::Warnings(1) => ("the daemon logged a warning".into(), look.fg(Color::Red)),
            What::Warnings(n) => (format!("the daemon logged {n} warnings"), look.fg(Color::Red)),
        };
        pen.text(x, y, &text, style);
    }
    if events.is_empty() {
        pen.text(0, 0, "nothing has happened since the first moment that is known", Style::new());
    }
}
