//! A mix's picture: a bar of STP for each configuration, and who had which contexts over time: a colour a
//! program, one upon the other, with the idle ones below the line of all that there are.

use super::file::MixFile;
use super::report::ConfigReport;
use super::stack::{Mark, Stack, Trace};
use crate::picture::{self, Area, BLUE, Drawn, GREYS, GRID, HEADING, MARGIN, PALETTE, TEXT, TITLE, WIDTH};
use anyhow::Result;
use plotters::prelude::*;

const BARS_HEIGHT: u32 = 340;
const TRACE_HEIGHT: u32 = 260;
const LEGEND_WIDTH: u32 = 150;
/// For contexts that nobody has.
const IDLE: RGBColor = RGBColor(232, 232, 232);

pub fn draw(mix: &MixFile, configs: &[ConfigReport], traces: &[Trace], pus: u32) -> Result<String> {
    let size = (WIDTH, BARS_HEIGHT + TRACE_HEIGHT * traces.len() as u32);
    picture::svg(&mix.name, size, |root| paint(root, mix, configs, traces, pus))
}

fn paint(root: &Area<'_>, mix: &MixFile, configs: &[ConfigReport], traces: &[Trace], pus: u32) -> Drawn {
    let (top, rest) = root.split_vertically(BARS_HEIGHT);
    bars(&top, mix, configs)?;
    let end = traces.iter().map(Trace::length).fold(0.1, f64::max);
    for (area, trace) in rest.split_evenly((traces.len().max(1), 1)).iter().zip(traces) {
        areas(area, mix, trace, end, pus)?;
    }
    Ok(())
}

/// Bars of the medians, with whiskers from the smallest to the largest.
fn bars(area: &Area<'_>, mix: &MixFile, configs: &[ConfigReport]) -> Drawn {
    let most = configs.iter().map(|config| config.stp_max).fold(0.5, f64::max) * 1.15;
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption(format!("{}: system throughput", mix.name), TITLE)
        .x_label_area_size(34)
        .y_label_area_size(58)
        .build_cartesian_2d((0..configs.len().saturating_sub(1)).into_segmented(), 0.0..most)?;
    let name = |at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(index) => {
            configs.get(*index).map_or(String::new(), |config| config.name.clone())
        }
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(configs.len() + 1)
        .x_label_formatter(&name)
        .y_desc("STP (sum of speedups)")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    // Bars fill three fifths of their slots, but are at most 110 pixels wide.
    let slot = WIDTH as usize / configs.len().max(1);
    let margin = ((slot - (slot * 3 / 5).min(110)) / 2) as u32;
    for (index, config) in configs.iter().enumerate() {
        let colour = if config.managed { BLUE } else { GREYS[1] };
        let right =
            if index + 1 < configs.len() { SegmentValue::Exact(index + 1) } else { SegmentValue::Last };
        let corners = [(SegmentValue::Exact(index), 0.0), (right, config.stp)];
        let mut bar = Rectangle::new(corners, colour.filled());
        bar.set_margin(0, 0, margin, margin);
        chart.draw_series([bar])?;
        let at = |stp: f64| (SegmentValue::CenterOf(index), stp);
        chart.draw_series([PathElement::new([at(config.stp_min), at(config.stp_max)], BLACK)])?;
        for end in [config.stp_min, config.stp_max] {
            chart.draw_series([EmptyElement::at(at(end)) + PathElement::new([(-7, 0), (7, 0)], BLACK)])?;
        }
        let label = Text::new(format!("{:.2}", config.stp), (-14, -19), TEXT);
        chart.draw_series([EmptyElement::at(at(config.stp_max)) + label])?;
    }
    Ok(())
}

fn areas(area: &Area<'_>, mix: &MixFile, trace: &Trace, end: f64, pus: u32) -> Drawn {
    let names: Vec<&str> = mix.programs.iter().map(|program| program.name.as_str()).collect();
    let stack = Stack::of(trace, &names);
    let most = stack.top().max(f64::from(pus)) * 1.12;
    let (area, legend) = area.split_horizontally(WIDTH - LEGEND_WIDTH);
    let mut chart = ChartBuilder::on(&area)
        .margin(MARGIN)
        .caption(format!("{}: who has which contexts", trace.config), HEADING)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..end, 0.0..most)?;
    let (from, to) = stack.span();
    chart.draw_series([Rectangle::new([(from, 0.0), (to, f64::from(pus))], IDLE.filled())])?;
    for index in 0..names.len() {
        let colour = PALETTE[index % PALETTE.len()];
        let band = stack.band(index);
        if !band.is_empty() {
            chart.draw_series([Polygon::new(band, colour.mix(0.85).filled())])?;
        }
    }
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .y_labels(pus.min(8) as usize + 1)
        .y_label_formatter(&|dop| format!("{dop:.0}"))
        .x_label_formatter(&|time| format!("{time:.1}"))
        .x_desc("time (s)")
        .y_desc("contexts")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    let all = f64::from(pus);
    chart.draw_series([PathElement::new([(from, all), (to, all)], BLACK.stroke_width(1))])?;
    for (at, mark) in stack.marks() {
        let ends = [(*at, 0.0), (*at, most)];
        // Faint, for programs that start again and again.
        let line = |colour: RGBColor| PathElement::new(ends, colour.mix(0.5).stroke_width(1));
        match mark {
            // Pointing into the picture, and out of it.
            Mark::Arrival(index) => {
                let colour = PALETTE[index % PALETTE.len()];
                chart.draw_series([line(colour)])?;
                chart.draw_series([TriangleMarker::new((*at, all * 1.06), 6, colour.filled())])?;
            }
            Mark::Departure(index) => {
                let colour = PALETTE[index % PALETTE.len()];
                chart.draw_series([line(colour)])?;
                chart.draw_series([Cross::new((*at, all * 1.06), 5, colour.stroke_width(2))])?;
            }
            Mark::Policy(name) => {
                chart.draw_series([line(BLACK)])?;
                let label = Text::new(name.clone(), (4, -14), TEXT);
                chart.draw_series([EmptyElement::at((*at, most * 0.99)) + label])?;
            }
        }
    }
    legend_of(&legend, &names)
}

fn legend_of(legend: &Area<'_>, names: &[&str]) -> Drawn {
    let box_at = |y: i32, colour: RGBAColor| Rectangle::new([(4, y - 6), (26, y + 6)], colour.filled());
    let mut y = 48;
    // In the order in which they lie on each other.
    for (index, name) in names.iter().enumerate().rev() {
        legend.draw(&box_at(y, PALETTE[index % PALETTE.len()].mix(0.85)))?;
        legend.draw(&Text::new((*name).to_owned(), (32, y - 7), TEXT))?;
        y += 20;
    }
    legend.draw(&box_at(y, IDLE.mix(1.0)))?;
    legend.draw(&Text::new("idle", (32, y - 7), TEXT))?;
    legend.draw(&TriangleMarker::new((15, y + 22), 6, BLACK.filled()))?;
    legend.draw(&Text::new("arrival", (32, y + 13), TEXT))?;
    legend.draw(&Cross::new((15, y + 40), 5, BLACK.stroke_width(2)))?;
    legend.draw(&Text::new("departure", (32, y + 33), TEXT))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sampler::{Point, Sample};
    use super::*;

    #[test]
    fn a_picture_has_a_colour_for_each_program_and_one_for_idle_contexts() {
        let one = |name: &str| format!("[[program]]\nname = '{name}'\ncommand = ['cg']\n");
        let text = format!("name = 'two'\n{}{}", one("a"), one("b"));
        let mix: MixFile = toml::from_str(&text).unwrap();
        let point = |id: u64, name: &str| Point {
            id,
            name: name.into(),
            dop: Some(2),
            attached_ns: 0,
            granted_ns: 0,
            effective_ns: None,
        };
        let sample = |now_ns: u64| Sample {
            now_ns,
            policy: "equi".into(),
            programs: vec![point(1, "a"), point(2, "b")],
        };
        let samples = vec![sample(1_000_000_000), sample(2_000_000_000)];
        let trace = Trace { config: "equi".into(), start_ns: 0, samples };
        let svg =
            picture::svg("two", (WIDTH, TRACE_HEIGHT), |root| areas(root, &mix, &trace, 2.0, 8)).unwrap();
        let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
        for colour in [PALETTE[0], PALETTE[1], IDLE] {
            assert!(svg.contains(&hex(colour)), "{colour:?}");
        }
        assert!(svg.contains("<polygon") && svg.contains("idle") && svg.contains("departure"));
    }
}
