//! What the daemon is told of its clients.

use super::Peer;
use crate::control::Request;
use scaf_proto::hello::Hello;

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A program wants to attach.
    Attach(u64, Peer, Box<Hello>),
    /// An attached program met further modules: so many altogether.
    MoreModules(u64, u32),
    /// An attached program says that it has entered a region while contexts of it were lent, or that it waits
    /// in MPI or no longer.
    Entered(u64),
    /// The command line asks.
    Control(u64, Peer, Request),
    /// A connection ended; a program's pages are there until [`super::Talk::close`].
    Gone(u64),
    /// A file descriptor given to [`super::Talk::watch`] is ready.
    Ready(u64),
}
