//! Events of clients.

use super::Peer;
use crate::control::Request;
use scaf_proto::hello::Hello;

#[derive(Debug)]
pub enum Event {
    /// A program wants to attach.
    Attach(u64, Peer, Box<Hello>),
    /// An attached program has met further modules; how many altogether.
    MoreModules(u64, u32),
    /// An attached program has entered a region while contexts of it were lent, or began or ended a wait in
    /// MPI.
    Entered(u64),
    /// A request of the command line.
    Control(u64, Peer, Request),
    /// A connection ended; a program's pages are there until [`super::Talk::close`].
    Gone(u64),
    /// A file descriptor given to [`super::Talk::watch`] is ready.
    Ready(u64),
}
