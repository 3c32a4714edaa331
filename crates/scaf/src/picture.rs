//! Colours, fonts and sizes of the plots. The colours are Okabe and Ito's, distinct for all colour vision.

#![allow(missing_docs)] // for scaf-lab only

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub const PALETTE: [RGBColor; 8] = [
    BLUE,
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    ORANGE,
    RGBColor(240, 228, 66),
    RGBColor(60, 60, 60),
];
/// For others' measurements and unmanaged programs.
pub const GREYS: [RGBColor; 3] = [RGBColor(110, 110, 110), RGBColor(160, 160, 160), RGBColor(205, 205, 205)];
pub const GRID: RGBAColor = RGBAColor(0, 0, 0, 0.12);
/// Width of a picture, in pixels.
pub const WIDTH: u32 = 960;
pub const MARGIN: u32 = 14;
pub const TEXT: Letters = (FONT, 14);
pub const HEADING: Letters = (FONT, 17);
pub const TITLE: Letters = (FONT, 19);
const FONT: &str = "sans-serif";
pub type Letters = (&'static str, i32);
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A picture of that size on white, as SVG; errors mention `name`.
pub fn svg(name: &str, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        let painted = || -> Drawn {
            root.fill(&WHITE)?;
            paint(&root)?;
            Ok(root.present()?)
        };
        painted().map_err(|error| anyhow!("can't draw {name}: {error}"))?;
    }
    Ok(one_line_texts(&picture))
}

/// A text element on one line: plotters writes three, and the same picture is drawn.
fn one_line_texts(picture: &str) -> String {
    let end = |line: &str| if line.starts_with("<text ") { "" } else { "\n" };
    let lines: String = picture.lines().flat_map(|line| [line, end(line)]).collect();
    lines.replace("\n</text>", "</text>")
}
