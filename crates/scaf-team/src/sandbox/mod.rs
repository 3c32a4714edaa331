//! What of a serial experiment can be decided and tested apart from any process: which mappings are guarded
//! and which stand in its way ([`maps`]), and which system calls it may make ([`filter`]).

pub mod filter;
pub mod lines;
pub mod maps;
