//! Names of events, as `perf list` shows them, and what they are in numbers.
//!
//! Names that the kernel translates (`instructions`, `LLC-loads`), raw codes (`r01c2`), and what a unit says
//! of itself in sysfs: `cpu/event=0xa3,umask=0x5/` by its fields, `msr/tsc/` by an event that it names.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where units describe themselves, below the root.
const UNITS: &str = "sys/bus/event_source/devices";
const MOST_BYTES: u64 = 4096;

/// An event in the kernel's numbers: `type` and `config` of `perf_event_attr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// Which unit counts it.
    pub kind: u32,
    /// Which event of it, and two words more that some have.
    pub config: [u64; 3],
}

impl Code {
    const HARDWARE: u32 = 0;
    const SOFTWARE: u32 = 1;
    const CACHE: u32 = 3;
    const RAW: u32 = 4;

    const fn new(kind: u32, config: u64) -> Code {
        Code { kind, config: [config, 0, 0] }
    }

    /// Whether the kernel counts it by itself, without any hardware.
    pub fn is_software(self) -> bool {
        self.kind == Code::SOFTWARE
    }
}

/// The name of an event, well-formed; whether this machine has it is another question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    text: String,
    meaning: Meaning,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Meaning {
    Code(Code),
    Sysfs { unit: String, terms: Vec<Term> },
}

/// `key=value`; a lone key has the value 1, or is an event that the unit names.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Term {
    key: String,
    value: Option<u64>,
}

/// A text that names no event.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{0}' names no event; names are those of `perf list`: instructions, LLC-loads, r01c2, \
     cpu/event=0xa3,umask=0x5/"
)]
pub struct NotAName(String);

/// Why a name means nothing on this machine.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// There is no such unit.
    #[error("{name}: this machine has no unit '{unit}'; it has {}", list(there))]
    Unit { name: String, unit: String, there: Vec<String> },
    /// The unit counts for a whole package, not for a thread.
    #[error("{name}: '{unit}' counts for all programs together, not for one; name an event of the cores")]
    Shared { name: String, unit: String },
    /// The unit has neither such an event nor such a field.
    #[error("{name}: '{key}' is neither an event nor a field of this unit; see {} beside it",
        folder.display())]
    Term { name: String, key: String, folder: PathBuf },
    /// A value that its field doesn't hold.
    #[error("{name}: {key}={value:#x} is more than this field holds")]
    Value { name: String, key: String, value: u64 },
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

/// Names that the kernel translates, with its numbers for them (`linux/perf_event.h`).
const PLAIN: &[(&str, Code)] = &[
    ("cycles", Code::new(Code::HARDWARE, 0)),
    ("cpu-cycles", Code::new(Code::HARDWARE, 0)),
    ("instructions", Code::new(Code::HARDWARE, 1)),
    ("cache-references", Code::new(Code::HARDWARE, 2)),
    ("cache-misses", Code::new(Code::HARDWARE, 3)),
    ("branches", Code::new(Code::HARDWARE, 4)),
    ("branch-instructions", Code::new(Code::HARDWARE, 4)),
    ("branch-misses", Code::new(Code::HARDWARE, 5)),
    ("bus-cycles", Code::new(Code::HARDWARE, 6)),
    ("stalled-cycles-frontend", Code::new(Code::HARDWARE, 7)),
    ("stalled-cycles-backend", Code::new(Code::HARDWARE, 8)),
    ("ref-cycles", Code::new(Code::HARDWARE, 9)),
    ("cpu-clock", Code::new(Code::SOFTWARE, 0)),
    ("task-clock", Code::new(Code::SOFTWARE, 1)),
    ("page-faults", Code::new(Code::SOFTWARE, 2)),
    ("faults", Code::new(Code::SOFTWARE, 2)),
    ("context-switches", Code::new(Code::SOFTWARE, 3)),
    ("cs", Code::new(Code::SOFTWARE, 3)),
    ("cpu-migrations", Code::new(Code::SOFTWARE, 4)),
    ("migrations", Code::new(Code::SOFTWARE, 4)),
    ("minor-faults", Code::new(Code::SOFTWARE, 5)),
    ("major-faults", Code::new(Code::SOFTWARE, 6)),
    ("alignment-faults", Code::new(Code::SOFTWARE, 7)),
    ("emulation-faults", Code::new(Code::SOFTWARE, 8)),
];

const CACHES: [(&str, u64); 7] =
    [("L1-dcache", 0), ("L1-icache", 1), ("LLC", 2), ("dTLB", 3), ("iTLB", 4), ("branch", 5), ("node", 6)];
const DONE: [(&str, u64); 6] = [
    ("-loads", 0),
    ("-load-misses", 0x1_0000),
    ("-stores", 0x100),
    ("-store-misses", 0x1_0100),
    ("-prefetches", 0x200),
    ("-prefetch-misses", 0x1_0200),
];

fn plain(text: &str) -> Option<Code> {
    let known = PLAIN.iter().find(|(name, _)| *name == text).map(|(_, code)| *code);
    let cache = || {
        let (rest, cache) =
            CACHES.iter().find_map(|(name, number)| Some((text.strip_prefix(name)?, number)))?;
        let (_, done) = DONE.iter().find(|(name, _)| *name == rest)?;
        Some(Code::new(Code::CACHE, cache | done))
    };
    let raw = || {
        let digits = text.strip_prefix('r')?;
        let all_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Code::new(Code::RAW, u64::from_str_radix(digits, 16).ok().filter(|_| all_hex)?))
    };
    known.or_else(cache).or_else(raw)
}

/// Letters of a file's name, so that no name leads out of its folder.
fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    text.len() <= 100 && text.bytes().all(fits) && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

fn terms(text: &str) -> Option<Vec<Term>> {
    let term = |text: &str| {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(number(value)?)),
            None => (text, None),
        };
        is_word(key).then(|| Term { key: key.to_owned(), value })
    };
    text.split(',').map(|text| term(text.trim())).collect()
}

impl FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Name, NotAName> {
        let sysfs = || {
            let (unit, rest) = text.split_once('/')?;
            let terms = terms(rest.strip_suffix('/')?)?;
            is_word(unit).then(|| Meaning::Sysfs { unit: unit.to_owned(), terms })
        };
        match plain(text).map(Meaning::Code).or_else(sysfs) {
            Some(meaning) => Ok(Name { text: text.to_owned(), meaning }),
            None => Err(NotAName(text.chars().take(100).collect())),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Name {
    /// The event's numbers on the machine below `root`.
    pub fn resolve(&self, root: &Path) -> Result<Code, Unresolved> {
        let (unit, terms) = match &self.meaning {
            Meaning::Code(code) => return Ok(*code),
            Meaning::Sysfs { unit, terms } => (unit, terms),
        };
        let (units, name) = (root.join(UNITS), || self.text.clone());
        let folder = units.join(unit);
        let Some(kind) = line(&folder.join("type")).and_then(|kind| kind.parse().ok()) else {
            return Err(Unresolved::Unit { name: name(), unit: unit.clone(), there: names_in(&units) });
        };
        // Units outside the cores say here on which PU to ask for them.
        if folder.join("cpumask").exists() {
            return Err(Unresolved::Shared { name: name(), unit: unit.clone() });
        }
        let mut code = Code { kind, config: [0; 3] };
        for term in terms {
            self.add(&mut code, &folder, term, true)?;
        }
        Ok(code)
    }

    fn add(&self, code: &mut Code, folder: &Path, term: &Term, may_be_event: bool) -> Result<(), Unresolved> {
        let unknown = || Unresolved::Term {
            name: self.text.clone(),
            key: term.key.clone(),
            folder: folder.join("events"),
        };
        if may_be_event
            && term.value.is_none()
            && let Some(text) = line(&folder.join("events").join(&term.key))
        {
            for inner in terms(&text).ok_or_else(unknown)? {
                self.add(code, folder, &inner, false)?;
            }
            return Ok(());
        }
        let whole = ["config", "config1", "config2"].iter().position(|word| *word == term.key);
        let field = match whole {
            Some(word) => Field { word, bits: vec![(0, 63)] },
            None => line(&folder.join("format").join(&term.key))
                .and_then(|text| Field::parse(&text))
                .ok_or_else(unknown)?,
        };
        let value = term.value.unwrap_or(1);
        let placed = field.place(value).ok_or_else(|| Unresolved::Value {
            name: self.text.clone(),
            key: term.key.clone(),
            value,
        })?;
        code.config[field.word] |= placed;
        Ok(())
    }
}

/// Where a field's bits go, such as `config:0-7,32-35`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Field {
    word: usize,
    /// First and last bit of each part, the lowest part first.
    bits: Vec<(u32, u32)>,
}

impl Field {
    fn parse(text: &str) -> Option<Field> {
        let (word, parts) = text.split_once(':')?;
        let word = ["config", "config1", "config2"].iter().position(|known| *known == word)?;
        let part = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (low.parse::<u32>().ok()?, high.parse::<u32>().ok()?);
            (low <= high && high < 64).then_some((low, high))
        };
        Some(Field { word, bits: parts.split(',').map(part).collect::<Option<_>>()? })
    }

    /// The value with its bits where they belong; `None` if there are more bits than places.
    fn place(&self, value: u64) -> Option<u64> {
        let (mut rest, mut placed) = (u128::from(value), 0u128);
        for (low, high) in &self.bits {
            let width = high - low + 1;
            placed |= (rest & ((1 << width) - 1)) << low;
            rest >>= width;
        }
        u64::try_from(placed).ok().filter(|_| rest == 0)
    }
}

fn line(path: &Path) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// The kernel's name for the cores' unit, such as `skylake`, on the machine below `root`.
pub(super) fn core(root: &Path) -> Option<String> {
    line(&root.join(UNITS).join("cpu/caps/pmu_name"))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counters/server")
    }

    fn code(text: &str) -> Code {
        text.parse::<Name>().unwrap().resolve(&machine()).unwrap_or_else(|why| panic!("{why}"))
    }

    fn why_not(text: &str) -> String {
        text.parse::<Name>().unwrap().resolve(&machine()).unwrap_err().to_string()
    }

    #[test]
    fn names_that_the_kernel_translates_need_no_machine() {
        let nowhere = Path::new("/nonexistent");
        for (text, kind, config) in [
            ("instructions", 0, 1),
            ("stalled-cycles-backend", 0, 8),
            ("task-clock", 1, 1),
            ("LLC-loads", 3, 0x00002),
            ("LLC-load-misses", 3, 0x10002),
            ("L1-dcache-store-misses", 3, 0x10100),
            ("node-prefetches", 3, 0x00206),
            ("r01C2", 4, 0x1c2),
        ] {
            let name: Name = text.parse().unwrap();
            assert_eq!(name.resolve(nowhere).unwrap(), Code::new(kind, config), "{text}");
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn fields_are_put_where_the_unit_says() {
        assert_eq!(code("cpu/event=0xa3,umask=0x5,cmask=5/"), Code::new(4, 0x0500_05a3));
        assert_eq!(code("cpu/event=0x1ff/").config[0], 0x1_0000_00ff);
        assert_eq!(code("cpu/event=1,edge/").config[0], 0x4_0001);
        assert_eq!(code("cpu/ldat=3/").config, [0, 3, 0]);
        assert_eq!(code("cpu/config=0x3c,config2=7/").config, [0x3c, 0, 7]);
    }

    #[test]
    fn events_that_the_unit_names_can_be_refined() {
        assert_eq!(code("cpu/mem-stalls/"), code("cpu/event=0xa3,umask=0x14,cmask=20/"));
        assert_eq!(code("cpu/mem-stalls,edge/"), code("cpu/event=0xa3,umask=0x14,cmask=20,edge=1/"));
        assert_eq!(code("msr/tsc/"), Code::new(10, 0));
    }

    #[test]
    fn what_the_machine_has_not_is_told_with_what_it_has() {
        assert!(why_not("cpux/cycles/").contains("no unit 'cpux'; it has cpu, msr, uncore_imc_0"));
        assert!(why_not("cpu/mem-stools/").contains("'mem-stools' is neither an event nor a field"));
        assert!(why_not("cpu/umask=0x100/").contains("umask=0x100 is more than this field holds"));
        assert!(why_not("uncore_imc_0/cas_count_read/").contains("for all programs together"));
        assert!(why_not("cpu/circular/").contains("'circular'"));
        assert!(why_not("cpu/broken/").contains("'broken'"));
        assert!(why_not("cpu/far=1/").contains("'far'"));
    }

    #[test]
    fn what_is_no_name_is_told_with_examples() {
        #[rustfmt::skip]
        let no_names = [
            "", "r", "rx", "r-1", "r+1", "r11111111111111111", "instruction", "LLC-", "cpu", "cpu/", "/x/",
            "cpu/=1/", "cpu/a=/", "cpu/a=0x/", "cpu/a=-1/", "cpu/../../x/", "../x/", "cpu/../", "./tsc/",
            "cpu/a/u", "cpu/a b/", "cpu/a=1=2/", "a\0b/c/",
        ];
        for text in no_names {
            let error = text.parse::<Name>().map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|error| error.contains("perf list")), "{text:?}: {error:?}");
        }
    }

    proptest! {
        #[test]
        fn a_fields_bits_all_go_where_it_says(
            parts in proptest::collection::vec((0u32..64, 0u32..64), 1..4), value in any::<u64>(),
        ) {
            let bits: Vec<(u32, u32)> = parts.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
            let mask = bits.iter().fold(0, |all, (low, high)| all | (u64::MAX >> (63 - (high - low)) << low));
            let text: Vec<String> = bits.iter().map(|(low, high)| format!("{low}-{high}")).collect();
            let field = Field::parse(&format!("config1:{}", text.join(","))).unwrap();
            prop_assert_eq!(field.word, 1);
            if let Some(placed) = field.place(value) {
                prop_assert_eq!(placed & !mask, 0);
            }
            prop_assert_eq!(field.place(0), Some(0));
        }
    }
}
