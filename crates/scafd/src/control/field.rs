//! What is known of a field that is shown, beside its value: a description, where it is shown, its metric.
//!
//! [`shown!`](crate::shown) declares structs whose fields say that themselves. The JSON schema, the metrics
//! and their table in the documentation, the columns of `scaf ps` and of the page, the details of a program
//! and the frames of the history are made from it.

use scaf_policy::fusion::Source;
use scaf_policy::{ProgramId, PuSet};
use scaf_team::choice::Mechanism;
use std::path::PathBuf;

/// A struct and its fields.
#[derive(Debug)]
pub struct Table {
    /// Its name in Rust.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its fields in the order of JSON.
    pub fields: &'static [Field],
}

/// A field.
#[derive(Debug)]
pub struct Field {
    /// Its name in Rust and in JSON.
    pub key: &'static str,
    /// What it is, its unit included.
    pub about: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Where it is shown.
    pub shown: Shown,
}

/// What values are in JSON.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Integer,
    Number,
    Boolean,
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    Struct(&'static Table),
    /// The fields of another struct as if they were this one's.
    Flat(&'static Table),
    List(&'static Kind),
    OrNull(&'static Kind),
}

/// A field's unit, and where it is shown beside JSON; empty where it isn't.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Its unit, such as `contexts`.
    pub unit: &'static str,
    /// Its heading in the page's table.
    pub column: &'static str,
    /// Its heading in the table of `scaf ps`, on which scripts rely.
    pub ps: &'static str,
    /// What stands before it among the details of a program: `scaf ps -v`, `scaf top`, the page.
    pub detail: &'static str,
    /// Its metric.
    pub metric: Option<Metric>,
}

/// A number for Prometheus.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, without the `_total` of counters.
    pub name: &'static str,
    /// What it is; empty if that is what the field is.
    pub help: &'static str,
    /// How it comes about.
    pub kind: MetricKind,
}

/// How a metric comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// The value.
    Gauge,
    /// The value, which only grows.
    Counter,
    /// The sum over programs of one name.
    Sum,
    /// The same of those of which it is known.
    SumOfKnown,
    /// The least of programs of one name.
    Least,
}

/// In JSON only. What follows adds to that.
pub const JSON: Shown = Shown { unit: "", column: "", ps: "", detail: "", metric: None };

#[allow(missing_docs)] // they set the fields of the same names
impl Shown {
    #[must_use]
    pub const fn unit(self, unit: &'static str) -> Shown {
        Shown { unit, ..self }
    }

    #[must_use]
    pub const fn column(self, column: &'static str) -> Shown {
        Shown { column, ..self }
    }

    #[must_use]
    pub const fn ps(self, ps: &'static str) -> Shown {
        Shown { ps, ..self }
    }

    #[must_use]
    pub const fn detail(self, detail: &'static str) -> Shown {
        Shown { detail, ..self }
    }

    /// A metric whose description is the field's.
    #[must_use]
    pub const fn metric(self, kind: MetricKind, name: &'static str) -> Shown {
        self.metric_of(kind, name, "")
    }

    /// A metric with a description of its own.
    #[must_use]
    pub const fn metric_of(self, kind: MetricKind, name: &'static str, help: &'static str) -> Shown {
        Shown { metric: Some(Metric { name, help, kind }), ..self }
    }
}

/// What values of a type are.
pub trait Typed {
    /// In JSON.
    const KIND: Kind;
}

/// A value that is shown.
pub trait Value {
    /// For people; empty if there is none, or if it is no single value.
    fn text(&self) -> String {
        String::new()
    }
    /// As a number.
    fn number(&self) -> Option<f64> {
        None
    }
    /// Bytes that it has on the heap, roughly.
    fn heap_bytes(&self) -> usize {
        0
    }
}

macro_rules! numbers {
    ($($type:ty, $kind:ident, $format:literal;)*) => {$(
        impl Typed for $type {
            const KIND: Kind = Kind::$kind;
        }
        impl Value for $type {
            fn text(&self) -> String {
                format!($format, self)
            }
            #[allow(clippy::cast_lossless)]
            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )*};
}

numbers! { u32, Integer, "{}"; u64, Integer, "{}"; f64, Number, "{:.2}"; }

impl Typed for bool {
    const KIND: Kind = Kind::Boolean;
}

impl Value for bool {
    fn text(&self) -> String {
        if *self { "yes".into() } else { String::new() }
    }
}

impl Typed for String {
    const KIND: Kind = Kind::Text;
}

impl Value for String {
    fn text(&self) -> String {
        self.clone()
    }
    fn heap_bytes(&self) -> usize {
        self.len() + 16
    }
}

impl Typed for PathBuf {
    const KIND: Kind = Kind::Text;
}

impl Value for PathBuf {}

impl Typed for PuSet {
    const KIND: Kind = Kind::Text;
}

impl Value for PuSet {
    fn text(&self) -> String {
        self.to_string()
    }
    fn heap_bytes(&self) -> usize {
        size_of_val(self.words()) + 16
    }
}

impl Typed for ProgramId {
    const KIND: Kind = Kind::Integer;
}

impl Value for ProgramId {}

impl Typed for Mechanism {
    const KIND: Kind = Kind::Word(&["unmanaged", "resize", "fold", "park", "gang", "gather"]);
}

impl Value for Mechanism {
    fn text(&self) -> String {
        self.name().into()
    }
}

impl Typed for Source {
    const KIND: Kind = Kind::Word(&["useful_over_wall", "curve", "counters"]);
}

impl Value for Source {}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = Kind::OrNull(&T::KIND);
}

impl<T: Value> Value for Option<T> {
    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::heap_bytes)
    }
}

impl<T: Typed> Typed for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

impl<T: Value> Value for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.iter().map(|it| size_of::<T>() + it.heap_bytes()).sum::<usize>() + 16
    }
}
