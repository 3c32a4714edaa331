//! How a program's DoP is carried out: as its client reports for its latest region, and by the daemon itself.

use super::code::Teams;
use super::program::Program;
use scaf_team::choice::Mechanism;
use scaf_team::gather::obstacle::Obstacle;

impl Program {
    /// Why its teams aren't gathered, if the client says so; else empty.
    pub fn ungathered(&self) -> String {
        let Some(seen) = self.evidence.seen else { return String::new() };
        match seen.ungathered {
            Some(why @ Obstacle::Calls) => {
                let name = seen.forbids.iter().take_while(|byte| byte.is_ascii_graphic());
                format!("{} {}", why.text(), name.map(|byte| *byte as char).collect::<String>())
            }
            Some(why @ Obstacle::Code) => match self.code.reaches() {
                Some(what) => format!("it {what}"),
                None => why.text().into(),
            },
            Some(why) => why.text().into(),
            None => String::new(),
        }
    }

    /// Who permits its teams to be resized, if not the code analysis; else empty.
    pub fn permission(&self) -> String {
        match self.evidence.seen.and_then(|seen| seen.permission) {
            Some(word) => word.text().into(),
            None => self.code.permission(),
        }
    }

    /// How the DoP is carried out now, and why not by resizing.
    pub fn mechanism(&self) -> (Mechanism, String) {
        if let Some(why) = &self.reach.alone {
            return (Mechanism::Unmanaged, why.clone());
        }
        let Some(dop) = self.grant.dop else {
            return (Mechanism::Unmanaged, "the policy leaves it alone".into());
        };
        if let Some(why) = self.code.rigid() {
            return (Mechanism::Gang, why.clone());
        }
        let larger = self.evidence.seen.filter(|seen| seen.team > dop);
        let reported = self.evidence.seen.and_then(|seen| seen.mechanism);
        // A gathered team follows the grant whatever its size.
        let follows = |reported: &Mechanism| larger.is_none() || *reported == Mechanism::Gather;
        if let Some(reported) = reported.filter(|reported| follows(reported) && !reported.reason().is_empty())
        {
            return (reported, reported.reason().into());
        }
        let parked = reported == Some(Mechanism::Park) && larger.is_some();
        let fold = if parked { Mechanism::Park } else { Mechanism::Fold };
        let permitted = self.evidence.seen.is_some_and(|seen| seen.permission.is_some());
        let teams = if permitted { &Teams::Resizable } else { &self.code.teams };
        match (teams, larger) {
            (Teams::Pending, _) => (fold, "its code is being inspected".into()),
            (Teams::Fixed(why), _) => (fold, why.clone()),
            (Teams::Resizable, None) => (Mechanism::Resize, String::new()),
            (Teams::Resizable, Some(seen)) => {
                let state = if seen.in_region { "is running" } else { "ran last" };
                let why = "it began before the grant, is a long region, or its first thread rounds otherwise \
                           than its workers";
                (fold, format!("a team of {} {state} that was not resized: {why}", seen.team))
            }
        }
    }
}
