//! What lies over the table: the page about the keys, and lists to choose from.

use super::terminal_style::{Pen, TerminalStyle};
use crate::top::state::{Menu, State};
use ratatui::style::Style;

const HELP: [(&str, &str); 17] = [
    ("? h F1", "this page; any key goes back"),
    ("q F10", "end"),
    ("Up Down PgUp PgDn", "select a program (Home, End: the first, the last)"),
    ("/ F4", "show only programs with that in name, pid or user"),
    ("u", "show only one user's programs"),
    ("t F5", "programs under their users"),
    ("s F6, < >", "sort by another column; r: the other way round"),
    ("Tab", "below: the selected program, what happened, nothing"),
    ("Space", "stay with this moment, or go on"),
    ("Left Right", "the moment before, the next one; [ ]: 10 s"),
    ("{ } l", "the first moment that is known; the latest"),
    ("+ -", "histories of a shorter or longer time"),
    ("p F2", "decide by another policy (the daemon's user and root)"),
    ("m M w", "fewest and most contexts, weight of the selected program"),
    ("F7 F8", "half, twice its weight"),
    ("Esc", "forget filter and user; leave a list"),
    ("", ""),
];

/// The page about the keys.
pub fn help(pen: &mut Pen<'_>) {
    pen.text(0, 0, "scaf top: keys", TerminalStyle::strong());
    for (y, (keys, what)) in (1..).zip(HELP) {
        pen.text(1, y, keys, TerminalStyle::strong());
        pen.text(20, y, what, Style::new());
    }
    let y = HELP.len() as u16;
    pen.text(
        1,
        y,
        "In the map a letter is a PU of that program, . is free, - isn't to be given",
        Style::new(),
    );
    pen.text(
        1,
        y + 1,
        "away, * is several programs'. In the curve @ is where the program stands,",
        Style::new(),
    );
    pen.text(1, y + 2, "= on the axis what it would have with equal parts.", Style::new());
}

/// A list to choose from.
pub fn menu(pen: &mut Pen<'_>, state: &State, menu: Menu, at: usize) {
    let title = match menu {
        Menu::Sort => "Sort by",
        Menu::User => "Show",
        Menu::Policy => "Policy",
    };
    let offers = state.offers(menu);
    let widest = offers.iter().map(|offer| offer.chars().count()).chain([title.len()]).max().unwrap_or(0);
    let width = u16::try_from(widest).unwrap_or(u16::MAX).saturating_add(2).min(pen.area.width);
    let height = pen.area.height;
    pen.text(0, 0, &pad(title, width), TerminalStyle::reversed().patch(TerminalStyle::strong()));
    let rows = usize::from(height.saturating_sub(1)).max(1);
    let first = at / rows * rows;
    for (y, (place, offer)) in (1..).zip(offers.iter().enumerate().skip(first).take(rows)) {
        let style = if place == at { TerminalStyle::reversed() } else { Style::new() };
        pen.text(0, y, &pad(offer, width), style);
    }
}

fn pad(text: &str, width: u16) -> String {
    format!(" {text:<width$}", width = usize::from(width).saturating_sub(1))
}
