//! May the team sizes of a program's OpenMP regions be changed, and if not, why not?
//!
//! The analysis reads the machine code of the program and its shared libraries; nothing is run. No file is
//! trusted: every size is capped and every count budgeted. Code that is not understood counts as unsafe.
//!
//! A *module* is one ELF file, a program or a shared library. Its *size use* ([`SizeUse`]) says what the
//! module does with the team size. gcc's own `schedule(static)` loops query the team size too, so importing
//! `omp_get_num_threads` says nothing: the code after the calls decides.
//!
//! ```no_run
//! let facts = scaf_inspect::module(std::path::Path::new("./a.out"))?;
//! println!("{:?}", facts.size_use);
//! # Ok::<(), scaf_inspect::Error>(())
//! ```

mod anonymous_code;
mod decode;
mod effects;
mod elf;
mod error;
mod functions;
mod mappings;
mod module;
mod module_cache;
mod process;
mod program;
mod reach;
mod sampled_code;
mod size_use;
mod waiting;

pub use error::Error;
pub use module::{ModuleFacts, fingerprint, module, module_from_bytes};
pub use module_cache::{Module, ModuleCache};
pub use process::{Loaded, MAX_ARGUMENTS, Objection, Opened, Origin, ProcessFacts, Resizable};
pub use process::{arguments_in, process};
pub use program::{ProgramFacts, ProgramKind, program};
pub use reach::{Reach, reach_of};
pub use sampled_code::SampledCode;
pub use size_use::{SizeUse, Spins};
pub use waiting::{AROUND, waits};
