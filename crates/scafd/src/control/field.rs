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

/// When a changed field is worth a frame of the history, and what of it is kept there.
pub trait Kept<T> {
    /// Whether it is; `slow` now and then only.
    fn differs(old: &T, new: &T, slow: bool) -> bool;
    /// What is kept.
    fn kept(new: &T) -> T;
}

/// At once.
#[derive(Debug)]
pub struct AtOnce;

impl<T: PartialEq + Clone> Kept<T> for AtOnce {
    fn differs(old: &T, new: &T, _: bool) -> bool {
        old != new
    }
    fn kept(new: &T) -> T {
        new.clone()
    }
}

/// Now and then, as it is long or changes all the time.
#[derive(Debug)]
pub struct NowAndThen;

impl<T: PartialEq + Clone> Kept<T> for NowAndThen {
    fn differs(old: &T, new: &T, slow: bool) -> bool {
        slow && old != new
    }
    fn kept(new: &T) -> T {
        new.clone()
    }
}

/// When it has moved by half a hundredth, for it is smoothed and moves a little all the time.
#[derive(Debug)]
pub struct IfMoved;

impl Kept<Option<f64>> for IfMoved {
    fn differs(old: &Option<f64>, new: &Option<f64>, _: bool) -> bool {
        moved(*old, *new, 0.005)
    }
    fn kept(new: &Option<f64>) -> Option<f64> {
        new.map(|value| rounded(value, 1e4))
    }
}

/// At once, to three digits behind the point.
#[derive(Debug)]
pub struct Rounded;

impl Kept<f64> for Rounded {
    fn differs(old: &f64, new: &f64, _: bool) -> bool {
        old != new
    }
    fn kept(new: &f64) -> f64 {
        rounded(*new, 1e3)
    }
}

/// Whether a number has moved by that share of it.
pub fn moved(old: Option<f64>, new: Option<f64>, by: f64) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => (new - old).abs() > by * old.abs().max(1e-3),
        (old, new) => old.is_some() != new.is_some(),
    }
}

/// A number to that fraction.
pub fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// Declares a struct whose fields are shown: each with a description, and `= JSON.unit(...)` and so on if
/// there is more to say ([`Shown`](crate::control::field::Shown)). Fields that the history keeps stand in
/// groups `in map PART [KEY] { ... }` (or `in row`: an array in JSON), from which a frame's struct PART is
/// made; `[AtOnce]` and the like say when they are kept ([`Kept`](crate::control::field::Kept)).
#[macro_export]
macro_rules! shown {
    (
        $(#[doc = $about:literal])* $(#[derive($($derive:ident),*)])? $(#[serde($container:ident)])?
        struct $whole:ident {$(
            $(#[doc = $first_doc:literal])* $(#[serde($($first_serde:tt)*)])*
            $first:ident: $first_type:ty $(= $first_shown:expr)?;
        )*}
        $(
            $(#[doc = $part_about:literal])*
            in $form:ident $part:ident [$($key:ident)?] {$(
                $(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])*
                $field:ident: $type:ty [$when:ident] $(= $shown:expr)?;
            )*} $(plus { $($more:tt)* })?
        )*
        $(and {$(
            $(#[doc = $last_doc:literal])* $(#[serde($($last_serde:tt)*)])*
            $last:ident: $last_type:ty $(= $last_shown:expr)?;
        )*})?
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[derive($($derive),*)])? $(#[serde($container)])?
        pub struct $whole {
            $($(#[doc = $first_doc])* $(#[serde($($first_serde)*)])* pub $first: $first_type,)*
            $($($(#[doc = $doc])* $(#[serde($($serde)*)])* pub $field: $type,)*)*
            $($($(#[doc = $last_doc])* $(#[serde($($last_serde)*)])* pub $last: $last_type,)*)?
        }

        impl $whole {
            /// What its fields are.
            pub const TABLE: $crate::control::field::Table = $crate::control::field::Table {
                name: stringify!($whole),
                about: concat!($($about),*),
                fields: &[
                    $($crate::shown!(@field $first: $first_type, ($($first_doc),*) $($first_shown)?),)*
                    $($($crate::shown!(@field $field: $type, ($($doc),*) $($shown)?),)*)*
                    $($($crate::shown!(@field $last: $last_type, ($($last_doc),*) $($last_shown)?),)*)?
                ],
            };

            /// Its fields' values.
            pub fn values(
                &self,
            ) -> impl Iterator<Item = (&'static $crate::control::field::Field, &dyn $crate::control::field::Value)> {
                let values: Vec<&dyn $crate::control::field::Value> =
                    vec![$(&self.$first,)* $($(&self.$field,)*)* $($(&self.$last,)*)?];
                $whole::TABLE.fields.iter().zip(values)
            }
        }

        impl $crate::control::field::Typed for $whole {
            const KIND: $crate::control::field::Kind = $crate::control::field::Kind::Struct(&$whole::TABLE);
        }

        impl $crate::control::field::Value for $whole {
            fn heap_bytes(&self) -> usize {
                self.values().map(|(_, value)| value.heap_bytes()).sum()
            }
        }

        $(
            $crate::shown! { @$form $(#[doc = $part_about])* $part
                { $($key)? } { $($(#[serde($($serde)*)])* $field: $type,)* } { $($($more)*)? } }

            impl $part {
                /// That part of it.
                pub fn of(whole: &$whole) -> $part {
                    $part {
                        $($key: whole.$key,)?
                        $($field: <$crate::control::field::$when as $crate::control::field::Kept<$type>>::kept(
                            &whole.$field,
                        ),)*
                        $(..$crate::shown!(@default $($more)*))?
                    }
                }

                /// Whether it has changed so that it is to be kept.
                pub fn differs(old: &$whole, new: &$whole, slow: bool) -> bool {
                    false $(|| <$crate::control::field::$when as $crate::control::field::Kept<$type>>::differs(
                        &old.$field, &new.$field, slow,
                    ))*
                }

                /// Changes it to this.
                pub fn apply(&self, whole: &mut $whole) {
                    $(whole.$field.clone_from(&self.$field);)*
                }

                /// The names of its fields in JSON.
                pub const KEYS: &[&str] = &[$(stringify!($field)),*];

                /// Memory that it takes, roughly.
                pub fn bytes(&self) -> usize {
                    size_of::<$part>() $(+ $crate::control::field::Value::heap_bytes(&self.$field))*
                }
            }
        )*
    };
    (@field $field:ident: $type:ty, ($($doc:literal),*)) => {
        $crate::shown!(@field $field: $type, ($($doc),*) $crate::control::field::JSON)
    };
    (@field $field:ident: $type:ty, ($($doc:literal),*) $shown:expr) => {
        $crate::control::field::Field {
            key: stringify!($field),
            about: concat!($($doc),*),
            kind: <$type as $crate::control::field::Typed>::KIND,
            shown: $shown,
        }
    };
    (@default $($more:tt)*) => { Default::default() };
    (@map $(#[doc = $about:literal])* $part:ident { $($key:ident)? }
        { $($(#[serde($($serde:tt)*)])* $field:ident: $type:ty,)* } { $($more:tt)* }) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)] // they are those of the whole
        pub struct $part {
            $(pub $key: u64,)?
            $($(#[serde($($serde)*)])* pub $field: $type,)*
            $($more)*
        }
    };
    (@row $(#[doc = $about:literal])* $part:ident { $key:ident }
        { $($field:ident: $type:ty,)* } {}) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, Default)]
        #[allow(missing_docs)] // they are those of the whole
        pub struct $part {
            pub $key: u64,
            $(pub $field: $type,)*
        }

        impl serde::Serialize for $part {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                (self.$key, $(&self.$field,)*).serialize(to)
            }
        }

        impl<'d> serde::Deserialize<'d> for $part {
            fn deserialize<D: serde::Deserializer<'d>>(from: D) -> Result<$part, D::Error> {
                let ($key, $($field,)*) = <(u64, $($type,)*)>::deserialize(from)?;
                Ok($part { $key, $($field,)* })
            }
        }
    };
}
