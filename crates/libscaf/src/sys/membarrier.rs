//! Order among what threads of this process do, put by the kernel (membarrier(2)): so one of two sides needs
//! no fence of its own.

use super::errno::keeping_errno;
use core::ffi::c_int;

/// Asks for [`order`]; `false` where the kernel doesn't have it. Where there are other threads, it takes
/// some 20 ms the first time.
pub fn can_order() -> bool {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// All other threads have done what they did before this, and see what the caller did before; `false` if the
/// kernel couldn't.
pub fn order() -> bool {
    membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

/// A command without arguments.
pub(super) fn membarrier(command: c_int) -> bool {
    // SAFETY: the call takes numbers and touches no memory.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } == 0)
}
