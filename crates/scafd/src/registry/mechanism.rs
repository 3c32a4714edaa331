//! How a program's DoP is carried out, guessed from what its page and its code say.

use super::code::Teams;
use super::program::Program;
use crate::mechanism::Mechanism;

impl Program {
    /// How the DoP is carried out now, and why not by resizing.
    pub fn mechanism(&self) -> (Mechanism, String) {
        if let Some(why) = &self.reach.alone {
            return (Mechanism::Unmanaged, why.clone());
        }
        let Some(dop) = self.grant.dop else {
            return (Mechanism::Unmanaged, "the policy leaves it alone".into());
        };
        if let Some(why) = &self.code.rigid {
            return (Mechanism::Gang, why.clone());
        }
        let seen = self.evidence.seen;
        let virtualised = seen.filter(|seen| seen.virtualised && seen.team <= dop && dop < self.natural());
        if virtualised.is_some_and(|seen| seen.promised > 0 || self.code.teams != Teams::Resizable) {
            let why = "regions whose threads are independent keep their team size and run on fewer threads";
            return (Mechanism::Virtualise, why.into());
        }
        let parked = seen.is_some_and(|seen| seen.parked && seen.team > dop);
        let fold = if parked { Mechanism::Park } else { Mechanism::Fold };
        match &self.code.teams {
            Teams::Pending => (fold, "its code is being inspected".into()),
            Teams::Fixed(why) => (fold, why.clone()),
            Teams::Resizable => match seen {
                Some(seen) if seen.team > dop => {
                    let state = if seen.in_region { "is running" } else { "ran last" };
                    let why = "it began before the grant, or is a long region, which stays whole";
                    (fold, format!("a team of {} {state} that was not resized: {why}", seen.team))
                }
                _ => (Mechanism::Resize, String::new()),
            },
        }
    }
}
