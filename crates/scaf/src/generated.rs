//! Files of the documentation that are made from the code: tests compare them, and write them on demand.

pub const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// That a file is as it would be made from what it is.
pub fn same(name: &str, make: impl FnOnce(&str) -> String) {
    let file = std::path::Path::new(DOCS).join(name);
    let old = std::fs::read_to_string(&file).unwrap();
    let new = make(&old);
    if old != new && std::env::var_os("SCAF_BLESS").is_some() {
        std::fs::write(&file, new).unwrap();
        return;
    }
    assert_eq!(old, new, "docs/{name} is out of date; SCAF_BLESS=1 cargo test -p scaf --lib writes it");
}

/// The text with another one between these two marks.
pub fn between(text: &str, start: &str, end: &str, new: &str) -> String {
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    format!("{before}{start}{new}{end}{after}")
}
