//! Which programs had better start with as many threads as they are granted: those whose threads were found
//! waiting for themselves, in loops of the executable that can't be made to yield. Beside programs that can
//! share they need no turns then, and neither do the others, who would have to be stopped for them. Where
//! another one needs all its contexts, or may, there are turns anyway, and full teams make more of these.

use super::parts::Daemon;
use crate::observe::proc_pid::FileId;
use scaf_policy::ProgramId;

impl Daemon {
    /// A program was found waiting for itself: whether its executable is one of those.
    pub(super) fn has_waited_for_itself(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get(id).filter(|it| it.code.only_spins()) else { return };
        let (uid, pid) = (program.identity.uid, program.identity.pid);
        if program.code.spins_itself()
            && let Ok(file) = self.observer.process(pid).executable()
            && self.unyielding.of(uid).all(|known| *known != file)
        {
            self.unyielding.add(uid, file);
        }
    }

    /// Whether this user's `executable` is one of those, and others are there who can all share.
    pub(super) fn is_better_molded(&self, uid: u32, executable: FileId) -> bool {
        let others = u32::try_from(self.registry.iter().count()).unwrap_or(u32::MAX);
        let part = (self.within_reach() / others.saturating_add(1)).max(1);
        others > 0
            && self.unyielding.of(uid).any(|known| *known == executable)
            && self.registry.iter().all(|program| program.shares(part))
    }
}
