//! The papers' figures: groups of bars, and contexts over time. What the papers have is grey.

use crate::picture::{self, Area, Drawn, GREYS, GRID, HEADING, MARGIN, PALETTE, TEXT, WIDTH};
use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scaf_sim::paper::{Figure, Kind};

/// Pixels.
const HEIGHT: u32 = 400;
const LEGEND_WIDTH: u32 = 170;
const LABELS_HEIGHT: u32 = 66;
const LINE_HEIGHT: i32 = 16;
const CHARACTER: f64 = 7.5;
const SMALL: picture::Letters = (TEXT.0, 13);

type Bars = (String, Vec<Option<f64>>);
type Line = (String, Vec<(f64, f64)>);

/// The picture as SVG.
///
/// # Errors
/// The drawing library's.
pub fn draw(figure: &Figure) -> Result<String> {
    picture::svg(&figure.file, (WIDTH, HEIGHT), |root| paint(root, figure))
}

fn paint(root: &Area<'_>, figure: &Figure) -> Drawn {
    let (area, side) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
    match &figure.kind {
        Kind::Bars { groups, series } => bars(&area, figure, groups, series)?,
        Kind::Steps { series } => steps(&area, figure, series)?,
    }
    let names: Vec<&str> = match &figure.kind {
        Kind::Bars { series, .. } => series.iter().map(|(name, _)| name.as_str()).collect(),
        Kind::Steps { series } => series.iter().map(|(name, _)| name.as_str()).collect(),
    };
    for ((name, colour), y) in names.iter().zip(colours(&names)).zip((48..).step_by(20)) {
        side.draw(&Rectangle::new([(4, y - 6), (18, y + 6)], colour.filled()))?;
        side.draw(&Text::new((*name).to_owned(), (24, y - 7), TEXT))?;
    }
    Ok(())
}

/// A colour for each name.
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

/// Lines of at most so many characters, if words permit.
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

/// From changes to a line: each value lasts until the next.
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
}
