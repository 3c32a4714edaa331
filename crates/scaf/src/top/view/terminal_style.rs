//! Styles (UTF-8 or ASCII, 16 colours or none), and a pen that clips to its part of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Whether it shows UTF-8.
    pub utf8: bool,
    /// Whether it is to show colours.
    pub colour: bool,
}

/// Programs' colours; all 16-colour terminals have them.
const COLOURS: [Color; 12] = [
    Color::Green,
    Color::Cyan,
    Color::Yellow,
    Color::Magenta,
    Color::Blue,
    Color::Red,
    Color::LightGreen,
    Color::LightCyan,
    Color::LightYellow,
    Color::LightMagenta,
    Color::LightBlue,
    Color::LightRed,
];
const SYMBOLS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_BARS: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '%', '@'];

impl TerminalStyle {
    /// By the environment that `variable` looks up: the locale, and NO_COLOR, which counts if it isn't empty.
    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> TerminalStyle {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let utf8 = locale.contains("utf-8") || locale.contains("utf8");
        let dumb = variable("TERM").is_some_and(|term| term == "dumb" || term.starts_with("vt"));
        TerminalStyle { utf8, colour: set(&"NO_COLOR").is_none() && !dumb }
    }

    /// The letter that stands for a program.
    pub fn symbol(slot: usize) -> char {
        SYMBOLS.get(slot % SYMBOLS.len()).map_or('?', |byte| char::from(*byte))
    }

    /// The style of a program.
    pub fn program(self, slot: usize) -> Style {
        self.fg(COLOURS.get(slot % COLOURS.len()).copied().unwrap_or(Color::Reset))
    }

    /// A colour, if there are any.
    pub fn fg(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Emphasis.
    pub fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The selection, and titles.
    pub fn reversed() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A bar of height `part` of a cell, 0 to 1; more than 0 is visible.
    pub fn bar(self, part: f64) -> char {
        let step = if part > 0.0 { (part * 8.0).round().clamp(1.0, 8.0) as usize } else { 0 };
        (if self.utf8 { BARS } else { ASCII_BARS })[step]
    }

    /// One of two, by what can be shown.
    pub fn either(self, utf8: &'static str, ascii: &'static str) -> &'static str {
        if self.utf8 { utf8 } else { ascii }
    }
}

/// Writes onto a part of the screen, and cuts what doesn't fit.
pub struct Pen<'a> {
    /// The screen.
    pub buffer: &'a mut Buffer,
    /// The part.
    pub area: Rect,
    /// How.
    pub look: TerminalStyle,
}

impl Pen<'_> {
    /// The same pen on a part of its area; coordinates count from there.
    pub fn on(&mut self, x: u16, y: u16, width: u16, height: u16) -> Pen<'_> {
        let part = Rect { x: self.area.x.saturating_add(x), y: self.area.y.saturating_add(y), width, height };
        let area = part.intersection(self.area);
        Pen { area, look: self.look, buffer: self.buffer }
    }

    /// Writes a line at a place; gives the place behind it. Control characters, which could control a
    /// terminal, and what it can't show become question marks.
    pub fn text(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        if x >= self.area.width || y >= self.area.height {
            return x;
        }
        let utf8 = self.look.utf8;
        let shown = |c: char| if c.is_control() || !(utf8 || c.is_ascii()) { '?' } else { c };
        let text: String = text.chars().map(shown).collect();
        let (at, line) = (self.area.x + x, self.area.y + y);
        let (end, _) = self.buffer.set_stringn(at, line, text, usize::from(self.area.width - x), style);
        end - self.area.x
    }

    /// One character.
    pub fn dot(&mut self, x: u16, y: u16, dot: char, style: Style) {
        self.text(x, y, dot.encode_utf8(&mut [0; 4]), style);
    }

    /// A whole line in that style.
    pub fn line(&mut self, y: u16, style: Style) {
        if y < self.area.height {
            self.buffer.set_style(Rect { y: self.area.y + y, height: 1, ..self.area }, style);
        }
    }

    /// Lines of at most this area's width, broken at blanks; gives the line below the last.
    pub fn wrapped(&mut self, y: u16, indent: u16, text: &str, style: Style) -> u16 {
        let (mut x, mut y) = (0u16, y);
        for word in text.split(' ') {
            let width = u16::try_from(word.chars().count()).unwrap_or(u16::MAX);
            if x > 0 && x.saturating_add(width) > self.area.width {
                (x, y) = (indent, y.saturating_add(1));
            }
            x = self.text(x, y, word, style).saturating_add(1);
        }
        y.saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(set: &'static [(&'static str, &'static str)]) -> TerminalStyle {
        TerminalStyle::of(&move |name| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()))
    }

    #[test]
    fn the_locale_and_no_color_say_what_a_terminal_is_shown() {
        assert_eq!(look(&[("LANG", "en_US.UTF-8")]), TerminalStyle { utf8: true, colour: true });
        assert!(!look(&[("LANG", "C")]).utf8 && !look(&[]).utf8);
        assert!(!look(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]).utf8);
        assert!(look(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]).utf8);
        assert!(!look(&[("NO_COLOR", "1")]).colour && look(&[("NO_COLOR", "")]).colour);
    }

    #[test]
    fn what_does_not_fit_or_cannot_be_shown_harms_nothing() {
        let area = Rect::new(0, 0, 4, 2);
        let mut buffer = Buffer::empty(area);
        let mut pen = Pen { buffer: &mut buffer, area, look: TerminalStyle { utf8: false, colour: true } };
        assert_eq!(pen.text(2, 0, "aé\u{1b}", Style::new()), 4);
        pen.text(9, 0, "x", Style::new());
        pen.text(0, 9, "x", Style::new());
        pen.on(3, 1, 9, 9).wrapped(0, 0, "long words", Style::new());
        assert_eq!(buffer, Buffer::with_lines(["  a?", "   l"]));
    }
}
