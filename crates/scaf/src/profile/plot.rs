//! The picture of a program's speedup: measured points with errors, the line through them, and the knee.

use super::curve::Curve;
use crate::picture::{self, Area, BLUE, Drawn, GRID, MARGIN, ORANGE, TEXT, TITLE};
use anyhow::Result;
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 480);

pub fn draw(name: &str, curve: &Curve) -> Result<String> {
    picture::svg(&format!("the speedup of {name}"), SIZE, |root| paint(root, name, curve))
}

fn paint(root: &Area<'_>, name: &str, curve: &Curve) -> Drawn {
    let last = curve.points.last().map_or(1.0, |point| f64::from(point.dop));
    let most = curve.points.iter().map(|point| point.speedup * (1.0 + point.error_ratio)).fold(1.0, f64::max);
    let most = (most * 1.1).min(last * 2.0);
    let mut chart = ChartBuilder::on(root)
        .margin(MARGIN)
        .caption(format!("{name}: speedup over one context"), TITLE)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.5..last + 0.5, 0.0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(curve.points.len().min(16))
        .x_label_formatter(&|dop| format!("{dop:.0}"))
        .y_label_formatter(&|speedup| format!("{speedup:.1}"))
        .x_desc("contexts")
        .y_desc("speedup")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .draw()?;
    let line = curve.points.iter().map(|point| (f64::from(point.dop), point.speedup));
    chart
        .draw_series(LineSeries::new(line, BLUE.stroke_width(2)))?
        .label("fit")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLUE.stroke_width(2)));
    for point in curve.points.iter().filter(|point| point.measured) {
        let x = f64::from(point.dop);
        let off = point.speedup * point.error_ratio;
        let ends = [(x, (point.speedup - off).max(0.0)), (x, (point.speedup + off).min(most))];
        chart.draw_series([PathElement::new(ends, BLACK)])?;
    }
    let measured = curve.points.iter().filter(|point| point.measured);
    let dots = measured.map(|point| Circle::new((f64::from(point.dop), point.speedup), 5, BLUE.filled()));
    chart
        .draw_series(dots)?
        .label("measured, and its error")
        .legend(|(x, y)| Circle::new((x + 9, y), 5, BLUE.filled()));
    let knee = f64::from(curve.knee);
    chart
        .draw_series(DashedLineSeries::new([(knee, 0.0), (knee, most)], 6, 4, ORANGE.stroke_width(2)))?
        .label(format!("knee: {} for 95% of {:.2}", curve.knee, curve.best))
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], ORANGE.stroke_width(2)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .label_font(TEXT)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::curve;
    use super::draw;

    #[test]
    fn points_fit_and_knee_are_in_the_picture() {
        let profile = curve::tests::profile(&[(1, 1.0), (4, 0.25), (8, 0.24)]);
        let picture = draw("p", &curve::of(&profile).unwrap()).unwrap();
        for part in ["p: speedup", "fit", "measured", "knee: 4"] {
            assert!(picture.contains(part), "{part}");
        }
        assert_eq!(picture.matches("<circle").count(), 3 + 1);
    }
}
