//! The macro that declares structs whose fields are shown, and when the history keeps a field.

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

/// What is kept of that value.
pub fn kept<When: Kept<T>, T>(new: &T) -> T {
    When::kept(new)
}

/// Whether that change is to be kept.
pub fn differs<When: Kept<T>, T>(old: &T, new: &T, slow: bool) -> bool {
    When::differs(old, new, slow)
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

/// A field and its value.
pub type FieldValue<'a> = (&'static super::field::Field, &'a dyn super::field::Value);

/// What the macro's users need.
pub mod used {
    pub use super::super::field::{Field, JSON, Kind, Table, Typed, Value};
    pub use super::FieldValue;
}

/// Declares a struct whose fields are shown: each with a description, and `= JSON.unit(...)` and so on if
/// there is more to say ([`Shown`](crate::control::field::Shown)). Fields that the history keeps stand in
/// groups `in map PART [KEY] { ... }` (or `in row`: an array in JSON), from which a frame's struct PART is
/// made; `[AtOnce]` and the like say when they are kept ([`Kept`](crate::control::shown::Kept)).
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
            pub const TABLE: $crate::control::shown::used::Table = $crate::control::shown::used::Table {
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
            ) -> impl Iterator<Item = $crate::control::shown::FieldValue<'_>> {
                let values: Vec<&dyn $crate::control::shown::used::Value> =
                    vec![$(&self.$first,)* $($(&self.$field,)*)* $($(&self.$last,)*)?];
                $whole::TABLE.fields.iter().zip(values)
            }
        }

        impl $crate::control::shown::used::Typed for $whole {
            const KIND: $crate::control::shown::used::Kind = $crate::control::shown::used::Kind::Struct(&$whole::TABLE);
        }

        impl $crate::control::shown::used::Value for $whole {
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
                        $($field: $crate::control::shown::kept::<$crate::control::shown::$when, _>(
                            &whole.$field,
                        ),)*
                        $(..$crate::shown!(@default $($more)*))?
                    }
                }

                /// Whether it has changed so that it is to be kept.
                pub fn differs(old: &$whole, new: &$whole, slow: bool) -> bool {
                    false $(|| $crate::control::shown::differs::<$crate::control::shown::$when, _>(
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
                    size_of::<$part>() $(+ $crate::control::shown::used::Value::heap_bytes(&self.$field))*
                }
            }
        )*
    };
    (@field $field:ident: $type:ty, ($($doc:literal),*)) => {
        $crate::shown!(@field $field: $type, ($($doc),*) $crate::control::shown::used::JSON)
    };
    (@field $field:ident: $type:ty, ($($doc:literal),*) $shown:expr) => {
        $crate::control::shown::used::Field {
            key: stringify!($field),
            about: concat!($($doc),*),
            kind: <$type as $crate::control::shown::used::Typed>::KIND,
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
