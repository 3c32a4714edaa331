//! A program's speedup over its contexts: what is known with its errors, and where it stands.

use super::terminal_style::{Pen, TerminalStyle};
use crate::worth;
use ratatui::style::{Color, Style};
use scafd::control::Program;

/// Columns of the numbers at the left.
const LEFT: u16 = 6;

/// Draws it; `equal` is what the program would have with equal parts.
pub fn draw(pen: &mut Pen<'_>, program: &Program, equal: Option<u32>) {
    let (width, height) = (pen.area.width, pen.area.height);
    if width < LEFT + 10 || height < 4 {
        return;
    }
    let known = program.curve.iter().map(|point| point.dop).chain(program.dop).max().unwrap_or(1);
    let most_dop = known.max(program.natural).max(2);
    let sane = |value: f64| if value.is_finite() { value.clamp(0.0, 1e6) } else { 0.0 };
    let error = |ratio: f64| if ratio.is_finite() { ratio.clamp(0.0, 1.0) } else { 1.0 };
    let tops = program.curve.iter().map(|point| sane(point.speedup) * (1.0 + error(point.error_ratio)));
    let top = tops.chain(program.speedup.map(sane)).fold(1.0, f64::max);
    let (columns, rows) = (width - LEFT, height - 1);
    let column = |dop: u32| {
        let part = f64::from(dop.clamp(1, most_dop) - 1) / f64::from(most_dop - 1);
        LEFT + (part * f64::from(columns - 1)).round() as u16
    };
    let row = |value: f64| {
        let part = (sane(value) / top).clamp(0.0, 1.0);
        (rows - 1) - (part * f64::from(rows - 1)).round() as u16
    };
    let (plain, look) = (Style::new(), pen.look);
    for y in 0..rows {
        pen.text(LEFT - 1, y, look.either("│", "|"), plain);
    }
    pen.text(0, 0, &format!("{top:>4.1}"), plain);
    pen.text(0, rows - 1, &format!("{:>4}", "S 0"), plain);
    let between = look.either("·", ".");
    for x in 0..columns {
        let part = f64::from(x) / f64::from((columns - 1).max(1));
        let dop = 1 + (part * f64::from(most_dop - 1)).round() as u32;
        if let Some(speedup) = worth::speedup(program, dop) {
            pen.text(LEFT + x, row(speedup), between, plain);
        }
    }
    for point in &program.curve {
        let (x, value, error) = (column(point.dop), sane(point.speedup), error(point.error_ratio));
        for y in row(value * (1.0 + error))..=row(value * (1.0 - error)) {
            pen.text(x, y, look.either("│", "|"), look.fg(Color::Cyan));
        }
    }
    for point in &program.curve {
        pen.text(column(point.dop), row(point.speedup), look.either("●", "o"), look.fg(Color::Cyan));
    }
    let last = most_dop.to_string();
    pen.text(LEFT, rows, "1", plain);
    pen.text(width.saturating_sub(last.len() as u16), rows, &last, plain);
    if let Some(equal) = equal {
        pen.text(column(equal), rows, "=", look.fg(Color::Yellow).patch(TerminalStyle::strong()));
    }
    if let Some(dop) = program.dop {
        let speedup = worth::speedup(program, dop).or(program.speedup).unwrap_or(0.0);
        pen.text(column(dop), row(speedup), "@", TerminalStyle::reversed());
    }
}
