//! Which programs had better start with as many threads as they are granted: those whose threads were found
//! waiting for themselves in an earlier run, in loops that can't be made to yield. Beside programs that can
//! share they need no turns then, and neither do the others, who would have to be stopped for them. Where
//! another one needs all its contexts there are turns anyway, and full teams make more of these.

use super::state::Daemon;
use std::path::Path;

impl Daemon {
    /// Where this user's `executable` spins, if it is one of those, and others are there who can all share.
    pub(super) fn better_molded(&self, uid: u32, executable: &Path) -> Option<String> {
        let spinners = || self.spinners.of(uid);
        let whose = format!("{}: ", executable.display());
        let place = spinners().find(|place| place.starts_with(&whose))?;
        let shares =
            |spins: &Option<String>| !spins.as_ref().is_some_and(|own| spinners().any(|it| it == own));
        let mut others = self.registry.iter().peekable();
        others.peek()?;
        others
            .all(|program| program.code.rigid().is_none() && shares(&program.code.spins))
            .then(|| place.clone())
    }
}
