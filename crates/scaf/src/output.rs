//! Standard output, where a closed pipe (`scaf ps` into `head`) is no error; and tables on it.

use comfy_table::{Cell, CellAlignment, Table, presets};
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints to standard output; a closed pipe is no error.
/// # Errors
/// A full disk and the like.
pub fn print(text: &str) -> std::io::Result<()> {
    print_or_end(text).map(drop)
}

/// The same for what is printed again and again. True if nobody reads it any more.
/// # Errors
/// A full disk and the like.
pub fn print_or_end(text: &str) -> std::io::Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        other => other.map(|()| false),
    }
}

/// Prints a line to standard error, whether or not anybody can read it.
pub fn complain(line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// Whether standard error is a terminal, so that a progress bar is of use.
pub fn watched() -> bool {
    std::io::stderr().is_terminal()
}

/// A number of things.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Replaces control characters: names come from other users' programs, and could control a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A table without lines, for terminals and pipes alike.
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header.iter().map(Cell::new));
    table
}

/// Aligns columns of numbers.
pub fn align_right(table: &mut Table, columns: &[usize]) {
    for &index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The table without blanks at line ends.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
