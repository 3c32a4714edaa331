//! The papers' figures: bars, lines over time, and schedules. The papers' own values are grey.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scaf_cli::picture::{self, Area, Drawn, GREYS, GRID, HEADING, MARGIN, PALETTE, TEXT, WIDTH};
use scaf_sim::paper::{Figure, Kind, Schedule};

const HEIGHT: u32 = 400;
const LEGEND_WIDTH: u32 = 170;
const LABELS_HEIGHT: u32 = 66;
const LINE_HEIGHT: i32 = 16;
const CHARACTER: f64 = 7.5;
const SMALL: picture::Letters = (TEXT.0, 13);
type Bars = (String, Vec<Option<f64>>);
type Line = (String, Vec<(f64, f64)>);

pub fn draw(figure: &Figure) -> Result<String> {
    picture::svg(&figure.file, (WIDTH, HEIGHT), |root| paint(root, figure))
}

fn paint(root: &Area<'_>, figure: &Figure) -> Drawn {
    let (area, side) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
    match &figure.kind {
        Kind::Bars { groups, series } => bars(&area, figure, groups, series)?,
        Kind::Steps { series } => steps(&area, figure, series)?,
        Kind::Schedules { contexts, schedules } => self::schedules(&area, figure, *contexts, schedules)?,
    }
    let programs: Vec<String> = match &figure.kind {
        Kind::Schedules { schedules, .. } => {
            (1..=most_programs(schedules)).map(|i| format!("program {i}")).collect()
        }
        _ => Vec::new(),
    };
    let names: Vec<&str> = match &figure.kind {
        Kind::Bars { series, .. } => series.iter().map(|(name, _)| name.as_str()).collect(),
        Kind::Steps { series } => series.iter().map(|(name, _)| name.as_str()).collect(),
        Kind::Schedules { .. } => programs.iter().map(String::as_str).collect(),
    };
    for ((name, colour), y) in names.iter().zip(colours(&names)).zip((48..).step_by(20)) {
        side.draw(&Rectangle::new([(4, y - 6), (18, y + 6)], colour.filled()))?;
        side.draw(&Text::new((*name).to_owned(), (24, y - 7), TEXT))?;
    }
    Ok(())
}

fn colours(names: &[&str]) -> Vec<RGBColor> {
    let (mut ours, mut theirs) = (PALETTE.iter().cycle(), GREYS.iter().cycle());
    let next = |name: &&str| if name.contains("paper") { theirs.next() } else { ours.next() };
    names.iter().map(next).map(|colour| colour.copied().unwrap_or(BLACK)).collect()
}

fn bars(area: &Area<'_>, figure: &Figure, groups: &[String], series: &[Bars]) -> Drawn {
    let values = || series.iter().flat_map(|(_, values)| values).flatten().copied().filter(|v| v.is_finite());
    let (low, high) = (values().fold(0.0, f64::min) * 1.15, values().fold(0.0, f64::max).max(0.1) * 1.15);
    let slots = groups.len().max(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption(&figure.title, HEADING)
        .x_label_area_size(LABELS_HEIGHT)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..slots, low..high)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .y_desc(figure.axis)
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    let names: Vec<&str> = series.iter().map(|(name, _)| name.as_str()).collect();
    let width = 0.8 / series.len().max(1) as f64;
    for (at, ((_, values), colour)) in series.iter().zip(colours(&names)).enumerate() {
        let bar = |(group, value): (usize, &Option<f64>)| {
            let left = group as f64 + 0.1 + width * at as f64;
            let value = value.filter(|value| value.is_finite())?;
            Some(Rectangle::new([(left, 0.0), (left + width * 0.92, value)], colour.filled()))
        };
        chart.draw_series(values.iter().enumerate().filter_map(bar))?;
    }
    chart.draw_series([PathElement::new([(0.0, 0.0), (slots, 0.0)], BLACK)])?;
    let room = (f64::from(WIDTH - LEGEND_WIDTH - 90) / slots / CHARACTER) as usize;
    let font = SMALL.into_text_style(area).pos(Pos::new(HPos::Center, VPos::Top));
    for (group, name) in groups.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(group as f64 + 0.5, low));
        for (line, y) in wrapped(name, room).iter().zip((y + 8..).step_by(LINE_HEIGHT as usize)) {
            area.draw(&Text::new(line.clone(), (x, y), font.clone()))?;
        }
    }
    Ok(())
}

/// Lines of at most `room` characters, as far as words permit.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| *word != "+") {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < room => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn steps(area: &Area<'_>, figure: &Figure, series: &[Line]) -> Drawn {
    let points = || series.iter().flat_map(|(_, points)| points);
    let end = points().map(|point| point.0).fold(0.1, f64::max);
    let most = points().map(|point| point.1).fold(1.0, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption(&figure.title, HEADING)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..end, 0.0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .y_label_formatter(&|contexts| format!("{contexts:.0}"))
        .x_label_formatter(&|time| format!("{time:.0}"))
        .x_desc("time (s)")
        .y_desc(figure.axis)
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    let names: Vec<&str> = series.iter().map(|(name, _)| name.as_str()).collect();
    for ((_, points), colour) in series.iter().zip(colours(&names)) {
        chart.draw_series(LineSeries::new(stairs(points), colour.stroke_width(2)))?;
    }
    Ok(())
}

fn most_programs(schedules: &[Schedule]) -> u64 {
    schedules.iter().flat_map(|schedule| &schedule.blocks).map(|block| block.program).max().unwrap_or(0)
}

/// Schedules side by side, each as wide as a round: time to the right, a row for each context.
fn schedules(area: &Area<'_>, figure: &Figure, contexts: u32, schedules: &[Schedule]) -> Drawn {
    area.draw(&Text::new(figure.title.clone(), (72, 12), HEADING))?;
    let names: Vec<String> = (1..=most_programs(schedules)).map(|i| i.to_string()).collect();
    let palette = colours(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let (left, top, bottom) = (72.0, 60.0, f64::from(HEIGHT) - 70.0);
    let each = (f64::from(WIDTH - LEGEND_WIDTH) - left) / schedules.len().max(1) as f64;
    let row = (bottom - top) / f64::from(contexts.max(1));
    let y = |context: u32| (bottom - row * f64::from(context)) as i32;
    let centred = |size: u32| (TEXT.0, size).into_text_style(area).pos(Pos::new(HPos::Center, VPos::Center));
    for context in 0..contexts {
        let text = format!("{} {context}", figure.axis);
        area.draw(&Text::new(text, (40, y(context) - row as i32 / 2), centred(13)))?;
    }
    for (at, schedule) in schedules.iter().enumerate() {
        let slice = each * 0.86 / f64::from(schedule.slices.max(1));
        let x = |slices: u32| (left + each * at as f64 + slice * f64::from(slices)) as i32;
        for block in &schedule.blocks {
            let ((from, lasts), (first, wide)) = (block.slices, block.contexts);
            let corners = [(x(from), y(first + wide)), (x(from + lasts), y(first))];
            let colour = palette.get((block.program as usize).saturating_sub(1)).copied().unwrap_or(BLACK);
            area.draw(&Rectangle::new(corners, colour.mix(0.75).filled()))?;
            area.draw(&Rectangle::new(corners, WHITE.stroke_width(2)))?;
            let middle = ((corners[0].0 + corners[1].0) / 2, (corners[0].1 + corners[1].1) / 2);
            area.draw(&Text::new(block.program.to_string(), middle, centred(14)))?;
        }
        let middle = (x(0) + x(schedule.slices)) / 2;
        area.draw(&Text::new(
            format!("{} at once", schedule.name),
            (middle, bottom as i32 + 16),
            centred(13),
        ))?;
        let slices = format!("{} slice{}", schedule.slices, if schedule.slices == 1 { "" } else { "s" });
        area.draw(&Text::new(slices, (middle, bottom as i32 + 32), centred(13)))?;
    }
    Ok(())
}

fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (at, value) in points {
        if let Some((_, before)) = line.last().copied() {
            line.push((*at, before));
        }
        line.push((*at, *value));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_sim::paper::Block;

    #[test]
    fn a_value_lasts_until_the_next() {
        let line = stairs(&[(0.0, 8.0), (10.0, 4.0), (30.0, 0.0)]);
        assert_eq!(line, [(0.0, 8.0), (10.0, 8.0), (10.0, 4.0), (30.0, 4.0), (30.0, 0.0)]);
    }

    #[test]
    fn long_names_take_several_lines() {
        assert_eq!(wrapped("slu + mg", 5), ["slu", "mg"]);
        assert_eq!(wrapped("3 of all classes", 9), ["3 of all", "classes"]);
    }

    #[test]
    fn every_bar_and_its_legend_are_in_the_picture() {
        let series = vec![
            ("a (paper)".to_owned(), vec![Some(1.0), None]),
            ("b".to_owned(), vec![Some(2.0), Some(-1.0)]),
        ];
        let kind = Kind::Bars { groups: vec!["x".into(), "y".into()], series };
        let figure = Figure { file: "f".into(), title: "t".into(), axis: "v", kind };
        let picture = draw(&figure).unwrap();
        // Background, three bars, two squares of the legend.
        assert_eq!(picture.matches("<rect").count(), 1 + 3 + 2, "{picture}");
        assert!(picture.contains("a (paper)"));
    }

    #[test]
    fn a_schedule_has_a_block_for_each_program_and_turn() {
        let block = |program, slices, contexts| Block { program, slices, contexts };
        let blocks = vec![block(1, (0, 2), (0, 2)), block(2, (0, 2), (2, 2)), block(3, (2, 1), (0, 4))];
        let schedules = vec![Schedule { name: "3".into(), slices: 3, blocks }];
        let kind = Kind::Schedules { contexts: 4, schedules };
        let figure = Figure { file: "f".into(), title: "t".into(), axis: "core", kind };
        let picture = draw(&figure).unwrap();
        // Background, three blocks with their borders, three squares of the legend.
        assert_eq!(picture.matches("<rect").count(), 1 + 2 * 3 + 3, "{picture}");
        assert!(picture.contains("program 3") && picture.contains("3 slices"));
    }
}
