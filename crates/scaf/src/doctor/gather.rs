//! Whether a program's own code forbids its teams to be gathered, by the table of functions and by what its
//! regions can reach.

use object::{Object as _, ObjectSymbol as _};
use scaf_functions::calls;
use scaf_inspect::{Reach, reach_of};
use std::path::Path;

/// What the program does that forbids gathering, after "it"; `None` also if it starts no libgomp regions.
pub fn forbidden_by(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let called: Vec<&str> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    let starts = called.iter().any(|name| name.starts_with("GOMP_parallel"));
    let forbids = |name: &&&str| calls::forbid(name.as_bytes());
    if !starts {
        return None;
    }
    called.iter().find(forbids).map(|name| format!("calls {name}")).or_else(|| match reach_of(path) {
        Ok(Reach::No(what)) => Some(what),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_no_regions_forbids_nothing() {
        assert_eq!(forbidden_by(Path::new("/bin/true")), None);
        assert_eq!(forbidden_by(Path::new("/nowhere")), None);
    }
}
