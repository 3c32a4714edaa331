//! May the team sizes of a program's OpenMP regions be changed, and if not, why not?
//!
//! The answer comes from files alone: the program, the shared libraries that it has mapped, and their machine
//! code. Nothing is run, and nothing in the files is trusted: every size is capped, every count budgeted, and
//! whatever is not understood is answered with "it depends", that is: don't.
//!
//! Words: a *module* is one ELF file, a program or a shared library. Its *size use* says what the module does
//! with the team size ([`SizeUse`]). gcc's own `schedule(static)` loops ask for the team size too, so that
//! importing `omp_get_num_threads` says nothing; the machine code at the calls does.
//!
//! ```no_run
//! let facts = scaf_inspect::module(std::path::Path::new("./a.out"))?;
//! println!("{:?}", facts.size_use);
//! # Ok::<(), scaf_inspect::Error>(())
//! ```

mod decode;
mod elf;
mod error;
mod functions;
mod module;
mod module_cache;
mod process;
mod program;
mod size_use;

pub use error::Error;
pub use module::{ModuleFacts, module, module_from_bytes};
pub use module_cache::{Module, ModuleCache};
pub use process::{Loaded, Origin, ProcessFacts, Resizable, arguments, process};
pub use program::{ProgramFacts, ProgramKind, program};
pub use size_use::{RegionVerdict, SizeUse};
