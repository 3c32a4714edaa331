//! A mix's picture: a bar of STP for each configuration, and each managed program's DoP over time.

use super::super::clock;
use super::file::MixFile;
use super::report::ConfigReport;
use super::sampler::Sample;
use crate::picture::{self, Area, BLUE, Drawn, GREYS, GRID, HEADING, MARGIN, PALETTE, TEXT, TITLE, WIDTH};
use anyhow::Result;
use plotters::prelude::*;

const BARS_HEIGHT: u32 = 340;
const TRACE_HEIGHT: u32 = 260;
const LEGEND_WIDTH: u32 = 150;

pub struct Trace {
    pub config: String,
    pub start_ns: u64,
    pub samples: Vec<Sample>,
}

pub fn draw(mix: &MixFile, configs: &[ConfigReport], traces: &[Trace], pus: u32) -> Result<String> {
    let size = (WIDTH, BARS_HEIGHT + TRACE_HEIGHT * traces.len() as u32);
    picture::svg(&mix.name, size, |root| paint(root, mix, configs, traces, pus))
}

fn paint(root: &Area<'_>, mix: &MixFile, configs: &[ConfigReport], traces: &[Trace], pus: u32) -> Drawn {
    let (top, rest) = root.split_vertically(BARS_HEIGHT);
    bars(&top, mix, configs)?;
    let end = traces.iter().map(length).fold(0.1, f64::max);
    for (area, trace) in rest.split_evenly((traces.len().max(1), 1)).iter().zip(traces) {
        lines(area, mix, trace, end, pus)?;
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

fn lines(area: &Area<'_>, mix: &MixFile, trace: &Trace, end: f64, pus: u32) -> Drawn {
    let most = f64::from(pus) + 0.5;
    let (area, legend) = area.split_horizontally(WIDTH - LEGEND_WIDTH);
    let mut chart = ChartBuilder::on(&area)
        .margin(MARGIN)
        .caption(format!("{}: degree of parallelism over time", trace.config), HEADING)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..end, 0.0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .y_labels(pus.min(8) as usize + 1)
        .y_label_formatter(&|dop| format!("{dop:.0}"))
        .x_label_formatter(&|time| format!("{time:.1}"))
        .x_desc("time (s)")
        .y_desc("threads")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    for (index, program) in mix.programs.iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let apart = (index as f64 - (mix.programs.len() as f64 - 1.0) / 2.0) * most * 0.015;
        for steps in steps(trace, &program.name, apart) {
            chart.draw_series(LineSeries::new(steps, colour.stroke_width(2)))?;
        }
        let y = 48 + 20 * index as i32;
        legend.draw(&PathElement::new([(4, y), (26, y)], colour.stroke_width(3)))?;
        legend.draw(&Text::new(program.name.clone(), (32, y - 7), TEXT))?;
    }
    Ok(())
}

fn length(trace: &Trace) -> f64 {
    trace.samples.last().map_or(0.0, |sample| clock::seconds(trace.start_ns, sample.now_ns))
}

/// One line for each run of a program, with a step where a DoP was granted.
fn steps(trace: &Trace, name: &str, apart: f64) -> Vec<Vec<(f64, f64)>> {
    let mut lines: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut run = None;
    for sample in &trace.samples {
        let Some((point, dop)) = sample.program(name).and_then(|point| Some((point, point.dop?))) else {
            run = None;
            continue;
        };
        let dop = f64::from(dop) + apart;
        let now = clock::seconds(trace.start_ns, sample.now_ns);
        match lines.last_mut() {
            Some(line) if run == Some(point.id) => {
                if let Some(&(_, before)) = line.last()
                    && before != dop
                {
                    let granted = clock::seconds(trace.start_ns, point.granted_ns).min(now);
                    line.push((granted, before));
                    line.push((granted, dop));
                }
                line.push((now, dop));
            }
            _ => {
                let granted = clock::seconds(trace.start_ns, point.granted_ns).min(now);
                lines.push(vec![(granted, dop), (now, dop)]);
            }
        }
        run = Some(point.id);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::sampler::{Point, Sample};
    use super::*;

    fn sample(now_s: f64, id: u64, dop: Option<u32>, granted_s: f64) -> Sample {
        let ns = |s: f64| (s * 1e9) as u64;
        let point = Point {
            id,
            name: "a".into(),
            dop,
            attached_ns: 0,
            granted_ns: ns(granted_s),
            effective_ns: None,
        };
        Sample { now_ns: ns(now_s), programs: vec![point] }
    }

    #[test]
    fn a_line_steps_where_the_grant_changed_and_breaks_between_runs() {
        let samples = vec![
            sample(1.0, 1, Some(4), 0.5),
            sample(2.0, 1, Some(2), 1.5),
            sample(3.0, 1, None, 1.5),
            sample(4.0, 2, Some(2), 3.5),
        ];
        let trace = Trace { config: "equi".into(), start_ns: 0, samples };
        let lines = steps(&trace, "a", 0.0);
        assert_eq!(lines[0], [(0.5, 4.0), (1.0, 4.0), (1.5, 4.0), (1.5, 2.0), (2.0, 2.0)]);
        assert_eq!(lines[1], [(3.5, 2.0), (4.0, 2.0)]);
        assert!(steps(&trace, "b", 0.0).is_empty());
    }
}
