//! What is on the screen, from the state alone.

mod details_pane;
mod help_and_menus;
mod machine_map;
mod program_table;
mod speedup_plot;
pub mod terminal_style;

use super::state::{Mode, Pane, Source, State};
use crate::worth;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use scafd::control::Snapshot;
use terminal_style::{Pen, TerminalStyle};

/// How the lines of the screen are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    map: u16,
    rows: u16,
    pane: u16,
}

const HEAD: u16 = 3;

impl Layout {
    /// For that state on a screen of that size.
    pub fn of(state: &State, width: u16, height: u16) -> Layout {
        // Head, the table's title and the last line.
        let left = height.saturating_sub(HEAD + 2);
        let most_map = (left / 5).min(16);
        let map = state.view().map_or(0, |view| machine_map::lines(state, view, width, most_map));
        let left = left - map;
        let pane = match state.pane {
            Pane::Nothing => 0,
            _ if left < 9 => 0,
            _ => (left / 2).min(12),
        };
        Layout { map, rows: left - pane, pane }
    }

    /// Rows on a page.
    pub fn page(&self) -> usize {
        usize::from(self.rows.max(1))
    }
}

/// Draws it all.
pub fn draw(buffer: &mut Buffer, area: Rect, state: &State, look: TerminalStyle) {
    let mut pen = Pen { buffer, area, look };
    let (width, height) = (area.width, area.height);
    let layout = Layout::of(state, width, height);
    let below = |y: u16| height.saturating_sub(1).saturating_sub(y);
    if matches!(state.mode, Mode::Help) {
        help_and_menus::help(&mut pen.on(0, 0, width, below(0)));
    } else if let Some(view) = state.view() {
        head(&mut pen.on(0, 0, width, HEAD), state, view);
        machine_map::draw(&mut pen.on(0, HEAD, width, layout.map), state, view);
        let mut y = HEAD + layout.map;
        let mut table = pen.on(0, y, width, (1 + layout.rows).min(below(y)));
        if let Mode::Menu(menu, at) = state.mode {
            help_and_menus::menu(&mut table.on(0, 0, 22, height), state, menu, at);
            program_table::draw(&mut table.on(22, 0, width, height), state, view, layout.page());
        } else {
            program_table::draw(&mut table, state, view, layout.page());
        }
        y += 1 + layout.rows;
        let mut pane = pen.on(0, y, width, layout.pane.min(below(y)));
        match state.pane {
            Pane::Program => details_pane::program(&mut pane, state, view),
            Pane::Events => details_pane::events(&mut pane, state, view),
            Pane::Nothing => {}
        }
    } else {
        pen.text(0, 0, "scaf top: waiting for the daemon's first words", Style::new());
    }
    foot(&mut pen.on(0, height.saturating_sub(1), width, 1), state);
}

fn head(pen: &mut Pen<'_>, state: &State, view: &Snapshot) {
    let what = match &state.source {
        Source::Recording(name) => format!("scaf top: {name}, policy {}", view.policy),
        _ => format!("scaf top: {} daemon {}, policy {}", view.scope, view.version, view.policy),
    };
    pen.line(0, TerminalStyle::reversed());
    pen.text(0, 0, &what, TerminalStyle::reversed().patch(TerminalStyle::strong()));
    let when = format!(" {}", when(state, view));
    let length = u16::try_from(when.chars().count()).unwrap_or(u16::MAX);
    pen.text(pen.area.width.saturating_sub(length), 0, &when, TerminalStyle::reversed());

    let granted: u32 = view.programs.iter().filter_map(|it| it.dop).fold(0, u32::saturating_add);
    let others = match view.others.programs {
        0 => String::new(),
        n => format!(" + {n} of others"),
    };
    let took = match view.decision_ns {
        0 => String::new(),
        ns => format!(" in {:.2} ms", ns as f64 * 1e-6),
    };
    let warnings = match view.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let line = format!(
        "{} program{}{others}, {} of {} contexts, load of others {:.2}; decision {}{took}{warnings}",
        view.programs.len(),
        if view.programs.len() == 1 { "" } else { "s" },
        u64::from(granted) + u64::from(view.others.contexts),
        view.capacity,
        view.unmanaged_load,
        view.decisions,
    );
    pen.text(0, 1, &line, Style::new());
    let worth = worth::of(view);
    let mut x = pen.text(0, 2, "STP ", Style::new());
    if let Some(gain) = worth.gain() {
        x = pen.text(x, 2, &format!("{:.2}", worth.stp), TerminalStyle::strong());
        x = pen.text(x, 2, &format!(", with equal parts {:.2}: ", worth.equal), Style::new());
        let colour = if gain >= 0.0 { Color::Green } else { Color::Red };
        let style = pen.look.fg(colour).patch(TerminalStyle::strong());
        x = pen.text(x, 2, &format!("{:+.1}%", gain * 100.0), style);
        if worth.known < worth.programs {
            pen.text(x, 2, &format!(" (of {} known)", worth.known), Style::new());
        }
    } else {
        pen.text(x, 2, "unknown so far", Style::new());
    }
}

fn when(state: &State, view: &Snapshot) -> String {
    let (first_ns, last_ns) = state.timeline.span_ns();
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let (ago, since) =
        (seconds(last_ns.saturating_sub(view.now_ns)), seconds(view.now_ns.saturating_sub(first_ns)));
    match &state.source {
        Source::Recording(_) if state.plays => format!("at {since:.1} s, playing "),
        Source::Recording(_) => format!("at {since:.1} s, paused "),
        Source::Lost(_) => "no daemon ".into(),
        Source::Daemon if state.timeline.follows() => "live ".into(),
        Source::Daemon => format!("{ago:.1} s ago, of {:.0} s ", seconds(last_ns.saturating_sub(first_ns))),
    }
}

const KEYS: [(&str, &str); 8] = [
    ("F1", "Help"),
    ("F2", "Policy"),
    ("F4", "Filter"),
    ("F5", "Tree"),
    ("F6", "Sort"),
    ("F7", "Weight/2"),
    ("F8", "Weight*2"),
    ("F10", "Quit"),
];

fn foot(pen: &mut Pen<'_>, state: &State) {
    let said = match (&state.mode, &state.source) {
        (Mode::Filter, _) => Some(format!("filter: {}_", state.choice.filter)),
        (Mode::Limit(limit, typed), _) => {
            let name = state.selected_program().map_or("", |program| &program.name);
            Some(format!("{name}, {}: {typed}_", limit.name()))
        }
        (_, Source::Lost(why)) if state.message.is_empty() => Some(why.clone()),
        _ if !state.message.is_empty() => Some(state.message.clone()),
        _ => None,
    };
    if let Some(said) = said {
        pen.text(0, 0, &said, TerminalStyle::strong());
        return;
    }
    let mut x = 0;
    for (key, what) in KEYS {
        x = pen.text(x, 0, key, Style::new());
        x = pen.text(x, 0, what, TerminalStyle::reversed()).saturating_add(1);
    }
}

#[cfg(test)]
#[path = "../view_tests.rs"]
mod tests;
