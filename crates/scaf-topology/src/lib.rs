//! The machine's topology as hwloc sees it, as `scaf-policy`'s plain type.
//!
//! Shared by daemon, simulator and command line; it also takes a synthetic description or an XML file.
//!
//! A *PU* is a hardware context, known by the operating system's index, as in affinity masks. A *logical*
//! index numbers objects such that neighbours share more.

mod convert;

use hwlocality::Topology as Hwloc;
use hwlocality::topology::builder::BuildFlags;
use scaf_policy::Topology;
use std::path::{Path, PathBuf};

/// Where a topology comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// This machine's online PUs, including those that this process may not use.
    ThisMachine,
    /// hwloc's synthetic description, such as `pack:2 l3:1 core:4 pu:2`.
    Synthetic(String),
    /// A file that `lstopo machine.xml` saved.
    Xml(PathBuf),
}

impl Source {
    /// Takes `text` for the path of a file if it ends in `.xml`, else for a synthetic description.
    pub fn parse(text: &str) -> Source {
        let path = Path::new(text);
        if path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("xml")) {
            Source::Xml(path.to_owned())
        } else {
            Source::Synthetic(text.to_owned())
        }
    }
}

/// Why there is no topology; the messages say what to do.
#[allow(missing_docs)] // they say enough of the fields, too
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read this machine's topology ({reason}); see whether `lstopo` can")]
    ThisMachine { reason: String },
    /// A description that hwloc does not understand.
    #[error(
        "'{text}' is no topology ({reason}); write one such as 'pack:2 core:4 pu:2' or a file ending in .xml"
    )]
    Synthetic { text: String, reason: String },
    #[error("{}: not a topology that hwloc can read ({reason}); save one with `lstopo \
        machine.xml`", path.display())]
    Xml { path: PathBuf, reason: String },
    #[error("the topology has no PU")]
    Empty,
}

/// Reads a topology: every PU in hwloc's logical order.
pub fn load(source: &Source) -> Result<Topology, Error> {
    let builder = Hwloc::builder();
    let hwloc = match source {
        Source::ThisMachine => {
            may_ask_for_affinity()?;
            // PUs outside of the cpuset are included: the caller restricts the topology to those usable.
            let built = builder.with_flags(BuildFlags::INCLUDE_DISALLOWED).map(|b| b.build());
            flat(built).map_err(|reason| Error::ThisMachine { reason })?
        }
        Source::Synthetic(text) => {
            let built = builder.from_synthetic(text).map(|b| b.build());
            flat(built).map_err(|reason| Error::Synthetic { text: text.clone(), reason })?
        }
        Source::Xml(path) => {
            let error = |reason| Error::Xml { path: path.clone(), reason };
            // hwloc's own error for a missing file is "invalid argument".
            std::fs::metadata(path).map_err(|e| error(e.to_string()))?;
            flat(builder.from_xml_file(path).map(|b| b.build())).map_err(error)?
        }
    };
    let topology = convert::convert(&hwloc);
    if topology.pus.is_empty() { Err(Error::Empty) } else { Ok(topology) }
}

/// The topology, or the first error as text.
fn flat<T, A: ToString, B: ToString>(built: Result<Result<T, A>, B>) -> Result<T, String> {
    built.map_err(|e| e.to_string())?.map_err(|e| e.to_string())
}

/// hwloc 2.9 asks for its own affinity with larger and larger masks, and never stops where that always fails.
fn may_ask_for_affinity() -> Result<(), Error> {
    match rustix::thread::sched_getaffinity(None) {
        // Just too small a mask.
        Ok(_) | Err(rustix::io::Errno::INVAL) => Ok(()),
        Err(e) => {
            let reason = format!("sched_getaffinity: {e}: a filter of system calls, or a sandbox?");
            Err(Error::ThisMachine { reason })
        }
    }
}
