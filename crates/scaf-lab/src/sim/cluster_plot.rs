//! The picture of a simulated cluster: throughput, waiting and the unlucky tenth's slowdown by load, a line
//! for each way to share nodes.

use anyhow::Result;
use plotters::prelude::*;
use scaf_cli::picture::{self, Area, Drawn, GRID, HEADING, MARGIN, PALETTE, TEXT, WIDTH};
use scaf_sim::cluster::Figures;
use serde::Serialize;

const HEIGHT: u32 = 380;
const LEGEND_HEIGHT: u32 = 34;
const LEGEND_STEP: usize = 130;
/// Lines of the same place are told apart by their dots' sizes.
const LARGEST_DOT: i32 = 8;

/// One way to share nodes at one load.
#[derive(Serialize)]
pub(super) struct Row {
    pub load: f64,
    pub sharing: String,
    #[serde(flatten)]
    pub figures: Figures,
}

struct Panel {
    title: &'static str,
    of: fn(&Row) -> f64,
    /// Whether the axis is logarithmic, from 1 on.
    logarithmic: bool,
}

const PANELS: [Panel; 3] = [
    Panel { title: "jobs ended per hour", of: |row| row.figures.jobs_per_h, logarithmic: false },
    Panel { title: "mean wait + 1 (s)", of: |row| row.figures.wait_mean_s + 1.0, logarithmic: true },
    Panel {
        title: "slowdown of the worst tenth",
        of: |row| row.figures.slowdown_worst_tenth.max(1.0),
        logarithmic: true,
    },
];

pub fn draw(rows: &[Row]) -> Result<String> {
    picture::svg("the cluster", (WIDTH, HEIGHT), |root| paint(root, rows))
}

fn paint(root: &Area<'_>, rows: &[Row]) -> Drawn {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.sharing.as_str()) {
            names.push(&row.sharing);
        }
    }
    let (legend, charts) = root.split_vertically(LEGEND_HEIGHT);
    for ((name, colour), x) in
        names.iter().zip(PALETTE.iter().cycle()).zip((MARGIN as i32..).step_by(LEGEND_STEP))
    {
        legend.draw(&Rectangle::new([(x, 14), (x + 14, 26)], colour.filled()))?;
        legend.draw(&Text::new((*name).to_owned(), (x + 20, 13), TEXT))?;
    }
    for (area, panel) in charts.split_evenly((1, PANELS.len())).iter().zip(&PANELS) {
        lines(area, panel, rows, &names)?;
    }
    Ok(())
}

fn lines(area: &Area<'_>, panel: &Panel, rows: &[Row], names: &[&str]) -> Drawn {
    let loads = || rows.iter().map(|row| row.load);
    let (first, last) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    let margin = ((last - first) * 0.08).max(0.05);
    let value = |row: &Row| if panel.logarithmic { (panel.of)(row).log10() } else { (panel.of)(row) };
    let most = rows.iter().map(value).fold(0.0, f64::max).max(0.1) * 1.08;
    let label = |y: &f64| if panel.logarithmic { short(10f64.powf(*y)) } else { short(*y) };
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption(panel.title, HEADING)
        .x_label_area_size(42)
        .y_label_area_size(52)
        .build_cartesian_2d(first - margin..last + margin, 0.0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|load| format!("{load:.1}"))
        .y_label_formatter(&label)
        .x_desc("load (contexts asked for over contexts)")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    for ((name, colour), size) in
        names.iter().zip(PALETTE.iter().cycle()).zip((2..=LARGEST_DOT).rev().cycle())
    {
        let of = || rows.iter().filter(|row| row.sharing == *name).map(|row| (row.load, value(row)));
        chart.draw_series(LineSeries::new(of(), colour.stroke_width(2)))?;
        chart.draw_series(of().map(|at| Circle::new(at, size, colour.filled())))?;
    }
    Ok(())
}

fn short(value: f64) -> String {
    match value {
        value if value >= 9_999.5 => format!("{:.0}k", value / 1_000.0),
        value if value >= 9.95 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_sim::cluster::{Setting, figures};

    #[test]
    fn each_way_to_share_has_a_line_and_a_dot_for_each_load_in_three_panels() {
        let figures = figures(&Setting::default(), &[], &[]);
        let row = |load, sharing: &str| Row { load, sharing: sharing.into(), figures: figures.clone() };
        let picture = draw(&[row(0.1, "a"), row(0.9, "a"), row(0.1, "b"), row(0.9, "b")]).unwrap();
        assert_eq!(picture.matches("<circle").count(), 3 * 4);
        assert!(picture.contains("worst tenth") && picture.contains("mean wait"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 9.9, 10.0, 9_999.0, 120_000.0].map(short), ["0.0", "9.9", "10", "9999", "120k"]);
    }
}
