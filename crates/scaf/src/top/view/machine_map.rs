//! The machine's PUs along its topology, each with the letter and colour of the program that has it.
//!
//! A NUMA node begins a line where there is room, last-level caches are set apart by a blank. A cell stands
//! for several PUs where the machine is larger than its part of the screen.

use super::terminal_style::{Pen, TerminalStyle};
use crate::top::state::State;
use scaf_policy::{Pu, Topology};
use scafd::control::Snapshot;
use std::collections::BTreeMap;

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// No program's.
    Free,
    /// Not to be given away.
    Away,
    /// The program with that slot.
    Of(usize),
    /// Several programs'.
    Mixed,
}

/// Lines that the map takes of at most `most`, at that width.
pub fn lines(state: &State, view: &Snapshot, width: u16, most: u16) -> u16 {
    u16::try_from(laid_out(state, view, width, most).len()).unwrap_or(most).min(most)
}

/// Draws it.
pub fn draw(pen: &mut Pen<'_>, state: &State, view: &Snapshot) {
    let lines = laid_out(state, view, pen.area.width, pen.area.height);
    for (y, line) in lines.iter().enumerate() {
        let y = u16::try_from(y).unwrap_or(u16::MAX);
        let mut x = pen.text(0, y, &line.label, TerminalStyle::strong());
        for cell in &line.cells {
            let look = pen.look;
            let (dot, style) = match cell {
                None => (' ', ratatui::style::Style::new()),
                Some(Cell::Free) => ('.', ratatui::style::Style::new()),
                Some(Cell::Away) => ('-', ratatui::style::Style::new()),
                Some(Cell::Mixed) => ('*', ratatui::style::Style::new()),
                Some(Cell::Of(slot)) => (TerminalStyle::symbol(*slot), look.program(*slot)),
            };
            pen.dot(x, y, dot, style);
            x = x.saturating_add(1);
        }
    }
}

struct Line {
    label: String,
    /// `None` sets caches apart.
    cells: Vec<Option<Cell>>,
}

fn laid_out(state: &State, view: &Snapshot, width: u16, most: u16) -> Vec<Line> {
    let (width, most) = (usize::from(width), usize::from(most));
    if width < 10 || most == 0 {
        return Vec::new();
    }
    let slot = |id: u64| state.timeline.slot(id);
    let nodes = match &state.machine {
        machine if machine.pus.is_empty() => unplaced(view, &slot),
        machine => placed(view, machine, &slot),
    };
    let longest = nodes.iter().map(|(_, caches)| caches.iter().map(Vec::len).sum()).max().unwrap_or(0);
    let mut each = 1;
    loop {
        let lines = lines_of(&nodes, width, each);
        if lines.len() <= most || each > longest {
            return lines;
        }
        each *= 2;
    }
}

type Nodes = Vec<(String, Vec<Vec<Cell>>)>;

/// All lines if each cell stands for so many PUs.
fn lines_of(nodes: &Nodes, width: usize, each: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let label_width = nodes.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let room = width.saturating_sub(label_width).max(1);
    // With many small nodes, several stand in a line.
    let whole = |caches: &[Vec<Cell>]| -> usize { caches.iter().map(|it| it.len().div_ceil(each) + 1).sum() };
    for (label, caches) in nodes {
        let joins = lines.last().is_some_and(|line: &Line| {
            each > 1 && line.label.len() + line.cells.len() + whole(caches) + label.len() < width
        });
        let mut cells: Vec<Option<Cell>> = Vec::new();
        for cache in caches {
            if !cells.is_empty() {
                cells.push(None);
            }
            cells.extend(cache.chunks(each).map(|part| Some(together(part))));
        }
        if joins && let Some(line) = lines.last_mut() {
            line.cells.extend([None, None]);
            line.cells.extend(cells);
            continue;
        }
        let mut label = format!("{label:<label_width$}");
        while cells.len() > room {
            let rest = cells.split_off(room);
            lines.push(Line { label, cells });
            (label, cells) = (" ".repeat(label_width), rest);
        }
        lines.push(Line { label, cells });
    }
    lines
}

fn together(cells: &[Cell]) -> Cell {
    let first = cells.first().copied().unwrap_or(Cell::Free);
    if cells.iter().all(|cell| *cell == first) { first } else { Cell::Mixed }
}

fn placed(view: &Snapshot, machine: &Topology, slot: &dyn Fn(u64) -> usize) -> Nodes {
    let mut owners: BTreeMap<u32, Cell> = BTreeMap::new();
    for program in view.programs.iter().filter(|it| it.dop.is_some()) {
        for pu in program.pus.iter() {
            owners.entry(pu).and_modify(|cell| *cell = Cell::Mixed).or_insert(Cell::Of(slot(program.id)));
        }
    }
    let free = |pu: u32| if view.pus.contains(pu) { Cell::Free } else { Cell::Away };
    let packages = distinct(machine, |pu| pu.package);
    let numas = distinct(machine, |pu| pu.numa);
    let mut nodes: Nodes = Vec::new();
    let mut last: Option<Pu> = None;
    for pu in &machine.pus {
        let node = |pu: &Pu| (pu.package, pu.numa);
        if last.is_none_or(|last| node(&last) != node(pu)) {
            let label = match (packages > 1, numas > packages) {
                (_, true) => format!("P{}N{} ", pu.package, pu.numa),
                (true, false) => format!("P{} ", pu.package),
                (false, false) => "PUs ".into(),
            };
            nodes.push((label, Vec::new()));
        }
        if let Some((_, caches)) = nodes.last_mut() {
            if caches.is_empty() || last.is_none_or(|last| last.l3 != pu.l3) {
                caches.push(Vec::new());
            }
            if let Some(cache) = caches.last_mut() {
                cache.push(owners.get(&pu.os).copied().unwrap_or_else(|| free(pu.os)));
            }
        }
        last = Some(*pu);
    }
    nodes
}

fn distinct(machine: &Topology, of: impl Fn(&Pu) -> u32) -> usize {
    machine.pus.iter().map(of).collect::<std::collections::BTreeSet<u32>>().len()
}

/// How many PUs at most are drawn of a machine that isn't known.
const MOST_UNPLACED: usize = 4096;

/// Where it isn't known which PUs programs have: how many.
fn unplaced(view: &Snapshot, slot: &dyn Fn(u64) -> usize) -> Nodes {
    let mut cells = Vec::new();
    for program in &view.programs {
        let dop = usize::try_from(program.dop.unwrap_or(0)).unwrap_or(MOST_UNPLACED);
        let room = MOST_UNPLACED.saturating_sub(cells.len());
        cells.extend(std::iter::repeat_n(Cell::Of(slot(program.id)), dop.min(room)));
    }
    let capacity = usize::try_from(view.capacity).unwrap_or(MOST_UNPLACED).min(MOST_UNPLACED);
    if cells.len() < capacity {
        cells.resize(capacity, Cell::Free);
    }
    vec![("contexts ".into(), vec![cells])]
}
