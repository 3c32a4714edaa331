//! The page's files, which are in the binary; `/fields.js` says what each field of a program is.

use scafd::control::field::Kind;
use scafd::control::{Frame, Numbers, Program};
use std::sync::LazyLock;

const TEXT: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// By their paths: what they are, and what is in them.
const FILES: [(&str, &str, &str); 12] = [
    ("/", TEXT, include_str!("page/index.html")),
    ("/page.css", STYLE, include_str!("page/page.css")),
    ("/page.js", SCRIPT, include_str!("page/page.js")),
    ("/past.js", SCRIPT, include_str!("page/past.js")),
    ("/chart.js", SCRIPT, include_str!("page/chart.js")),
    ("/map.js", SCRIPT, include_str!("page/map.js")),
    ("/table.js", SCRIPT, include_str!("page/table.js")),
    ("/program.js", SCRIPT, include_str!("page/program.js")),
    ("/icon.svg", PICTURE, include_str!("page/icon.svg")),
    ("/uplot.js", SCRIPT, include_str!("page/uplot/uPlot.iife.min.js")),
    ("/uplot.css", STYLE, include_str!("page/uplot/uPlot.min.css")),
    ("/uplot-license.txt", "text/plain; charset=utf-8", include_str!("page/uplot/LICENSE")),
];

/// Fields of programs as tables and details show them, and those that frames of the history change.
static FIELDS: LazyLock<String> = LazyLock::new(|| {
    let is_number = |kind: &Kind| match kind {
        Kind::OrNull(kind) => matches!(kind, Kind::Integer | Kind::Number),
        kind => matches!(kind, Kind::Integer | Kind::Number),
    };
    let is_fraction = |kind: &Kind| matches!(kind, Kind::Number | Kind::OrNull(Kind::Number));
    let field = |field: &scafd::control::field::Field| {
        serde_json::json!({
            "key": field.key, "about": field.about.trim(), "unit": field.shown.unit,
            "column": field.shown.column, "detail": field.shown.detail,
            "number": is_number(&field.kind), "fraction": is_fraction(&field.kind),
        })
    };
    let program: Vec<_> = Program::TABLE.fields.iter().map(field).collect();
    let of = |name: &str, value: serde_json::Value| format!("export const {name} = {value};\n");
    of("program", program.into()) + &of("frame", Frame::KEYS.into()) + &of("numbers", Numbers::KEYS.into())
});

/// The file at that path.
pub fn find(path: &str) -> Option<(&'static str, &'static str)> {
    if path == "/fields.js" {
        return Some((SCRIPT, FIELDS.as_str()));
    }
    FILES.iter().find(|file| file.0 == path).map(|file| (file.1, file.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_has_no_code_or_style_in_it() {
        let page = find("/").unwrap().1;
        let after = |mark: &str| -> Vec<&str> {
            page.split(mark).skip(1).filter_map(|it| it.split('"').next()).collect()
        };
        let links = [after("src=\""), after("href=\"")].concat();
        assert!(links.len() >= 4);
        for link in links.into_iter().filter(|link| !link.starts_with('#') && *link != "/metrics") {
            assert!(find(link).is_some(), "{link}");
        }
        assert!(!page.contains("style=") && !page.contains("<style") && !page.contains(" onclick"));
        assert!(page.split("<script").skip(1).all(|it| it.contains("></script>") && it.starts_with(' ')));
    }

    #[test]
    fn scripts_import_only_what_is_here() {
        for (path, kind, content) in FILES {
            if kind == SCRIPT && !path.contains("uplot") {
                for import in content.split("from \"").skip(1).filter_map(|it| it.split('"').next()) {
                    assert!(find(import.trim_start_matches('.')).is_some(), "{path} imports {import}");
                }
            }
        }
    }
}
