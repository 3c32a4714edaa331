//! Fuzz targets, one a test in `tests/`: every parser and page that reads what somebody else wrote.
//!
//! `cargo test -p scaf-fuzz` feeds each some thousand random inputs. With `cargo install cargo-bolero`,
//! `cargo bolero test -p scaf-fuzz NAME` searches for new paths until it is stopped.
