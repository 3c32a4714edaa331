//! `scaf run --interleave`: a program's memory from all NUMA nodes in turn.
//!
//! Linux takes a page from the node of the thread that touches it first. If one thread fills the arrays, all
//! memory is on one node, and the other nodes' threads share its bandwidth. If each thread fills its own
//! part, interleaving makes the program slower. Only the user knows which, so it is an option. The policy
//! outlives exec and is inherited.

use anyhow::{Result, bail};
use std::io::{Error, ErrorKind};

/// Words of a mask of nodes: all 1,024 that Linux can be built for, and one more since it counts from 1.
const WORDS: usize = 1024 / 64 + 1;
/// Bits of the mask, as passed to the kernel.
const NODES: usize = 1025;
/// Asks for the nodes that this process's cpuset allows (linux/mempolicy.h).
const MPOL_F_MEMS_ALLOWED: libc::c_long = 1 << 2;

/// Interleaves memory allocated from now on, by this process and its children, over all allowed nodes.
/// # Errors
/// The kernel has no memory policies, or the container forbids them.
pub fn memory() -> Result<()> {
    let mut nodes = [0u64; WORDS];
    // SAFETY: the kernel writes at most NODES bits, rounded up to whole words, into `nodes`.
    let asked = unsafe {
        let none = std::ptr::null_mut::<libc::c_int>();
        libc::syscall(libc::SYS_get_mempolicy, none, nodes.as_mut_ptr(), NODES, 0usize, MPOL_F_MEMS_ALLOWED)
    };
    if asked != 0 {
        bail!(refused(&Error::last_os_error()));
    }
    // SAFETY: the kernel reads NODES bits of `nodes` at most.
    let set = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::c_long::from(libc::MPOL_INTERLEAVE),
            nodes.as_ptr(),
            NODES,
        )
    };
    if set != 0 {
        bail!(refused(&Error::last_os_error()));
    }
    Ok(())
}

fn refused(error: &Error) -> String {
    let what = match error.kind() {
        ErrorKind::Unsupported => "this kernel has no memory policies (CONFIG_NUMA)".to_owned(),
        ErrorKind::PermissionDenied => {
            "memory policies are forbidden here; a container may need CAP_SYS_NICE (docker run --cap-add \
             SYS_NICE)"
                .to_owned()
        }
        _ => format!("the kernel refuses ({error})"),
    };
    format!("--interleave: {what}; without it the program has its memory as the system gives it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_why_and_what_to_do() {
        let said = refused(&Error::from_raw_os_error(libc::EPERM));
        assert!(said.contains("CAP_SYS_NICE") && said.starts_with("--interleave: "), "{said}");
        assert!(refused(&Error::from_raw_os_error(libc::ENOSYS)).contains("CONFIG_NUMA"));
        assert!(refused(&Error::from_raw_os_error(libc::EINVAL)).contains("Invalid argument"));
    }
}
