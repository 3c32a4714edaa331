//! What programs taught is recalled when they come and kept when they go.

use super::executable::Executable;
use super::parts::Daemon;
use crate::control::{Reply, Request};
use crate::inspect::When;
use crate::paths::Scope;
use crate::registry::Program;
use crate::remember::{Answer, Ask, Remember, now_s};
use crate::talk::Peer;
use scaf_inspect::Origin;
use scaf_memory::{Checked, Key};
use scaf_policy::ProgramId;

/// Requests about profiles that one user may have waiting.
const MOST_ASKING: usize = 8;

impl Daemon {
    /// Asks what is known of a program that was inspected, once: of modules loaded since, that is known.
    pub(super) fn recall(&mut self, id: ProgramId, origin: Origin) {
        let (Some(program), Some(remember)) = (self.registry.get_mut(id), &mut self.parts.remember) else {
            return;
        };
        let executable = origin.executable.clone();
        let guessed = program.evidence.tie.past().is_some();
        if !program.evidence.tie.met(origin, remember.machine()) {
            return;
        }
        if guessed && program.evidence.tie.past().is_none() {
            program.forget_past();
        }
        if let Ok(file) = self.observer.process(program.identity.pid).executable() {
            let code = &program.code;
            let can_wait = code.spins.is_none() && !code.exact && !program.resizes();
            self.executables.retain(program.identity.owner, |known| known.file != file);
            self.executables.add(program.identity.owner, Executable { file, code: executable, can_wait });
        }
        ask(remember, program);
        if let Some(past) = program.evidence.tie.past() {
            program.remember(past);
        }
    }

    /// The same for a newcomer whose executable was inspected before: the answer is there before its first
    /// region.
    pub(super) fn recall_at_once(&mut self, id: ProgramId) {
        let (Some(program), Some(remember)) = (self.registry.get_mut(id), &mut self.parts.remember) else {
            return;
        };
        let (process, owner) = (self.observer.process(program.identity.pid), program.identity.owner);
        let same = |file| self.executables.of(owner).find(|known| known.file == file);
        let known = process.executable().ok().and_then(same);
        program.code.can_wait = known.is_some_and(|known| known.can_wait);
        if let Some(Executable { code: executable, .. }) = known
            && let Ok(line) = self.parts.command_lines.of(process.folder(), program.identity.owner)
        {
            let arguments = scaf_inspect::arguments_in(&line);
            let (machine, executable) = (remember.machine().to_owned(), executable.clone());
            program.evidence.tie.guess(Key { machine, executable, arguments });
            ask(remember, program);
        }
    }

    pub(super) fn recall_later(&mut self) {
        if let Some(remember) = &mut self.parts.remember {
            self.registry.iter_mut().for_each(|program| ask(remember, program));
        }
    }

    /// Takes in the memory's answers. True if they ask for a decision.
    pub(super) fn recalled(&mut self) -> bool {
        let told = self.parts.remember.as_mut().map(Remember::answers).unwrap_or_default();
        let mut changed = false;
        for told in told {
            match told {
                Answer::Recalled { id, key, found, checked, spinners } => {
                    self.take_check(id, checked);
                    let Some(program) = self.registry.get_mut(id) else { continue };
                    let owner = program.identity.owner;
                    spinners.into_iter().for_each(|place| self.spinners.add_older(owner, place));
                    program.evidence.tie.answered(&key, found);
                    if let Some(past) = program.evidence.tie.past() {
                        program.remember(past);
                        changed = true;
                    }
                }
                Answer::Reply { connection, reply } => {
                    self.asking.retain(|(asks, _)| *asks != connection);
                    self.parts.talk.answer(connection, &reply);
                }
            }
        }
        changed
    }

    /// Takes in what its user's memory says of a program's executable. An admin's word counts for more.
    fn take_check(&mut self, id: ProgramId, checked: Option<Checked>) {
        let (Some(program), Some(checked)) = (self.registry.get_mut(id), checked) else { return };
        if self.parts.verdicts.contains_key(&checked.executable) {
            return;
        }
        program.code.checked(checked);
        program.grant.renew();
        let late = program.code.can_wait && program.code.is_urgent() && !program.phase.starting;
        let modules = program.code.modules();
        // Before the first decision there is nothing to publish.
        if !self.newcomers.contains(&id) {
            self.publish(id);
        }
        if late {
            self.inspect(id, modules, When::Now);
        }
    }

    pub(super) fn keep(&mut self, program: &mut Program) {
        keep(self.parts.remember.as_mut(), program);
    }

    pub(super) fn keep_all(&mut self) {
        self.registry.iter_mut().for_each(|program| keep(self.parts.remember.as_mut(), program));
    }

    pub(super) fn keep_from_time_to_time(&mut self) {
        if self.timers.keep_is_due() {
            self.keep_all();
        }
    }

    /// Has a user's request answered that is about profiles.
    pub(super) fn ask_memory(&mut self, connection: u64, peer: Peer, request: Request) {
        let own = rustix::process::getuid().as_raw();
        let asking = self.asking.iter().filter(|(_, owner)| *owner == peer.owner).count();
        let refusal = match &mut self.parts.remember {
            None => Some(
                "this daemon keeps nothing of what programs teach: memory = false in its \
                          configuration, or it tries things out (--dry-run)"
                    .to_owned(),
            ),
            Some(_) if self.parts.scope == Scope::Session && peer.uid != own => {
                Some(format!("this daemon remembers user {own}'s programs only; ask as that user"))
            }
            Some(_) if peer.uid != peer.owner => Some(format!(
                "nothing is kept of what user {}'s programs teach, who is one of user {}'s (/etc/subuid)",
                peer.uid, peer.owner
            )),
            Some(_) if !self.parts.talk.is_trusted(peer.owner) && asking >= MOST_ASKING => {
                Some("you ask for too much; wait a second".to_owned())
            }
            Some(remember) => {
                let asks = remember.ask(Ask::Request { connection, uid: peer.uid, request });
                self.asking.extend(asks.then_some((connection, peer.owner)));
                (!asks).then(|| "the memory's files don't answer; try again later".to_owned())
            }
        };
        if let Some(why) = refusal {
            self.parts.talk.answer(connection, &Reply::Error(why));
        }
    }
}

fn ask(remember: &mut Remember, program: &mut Program) {
    // Else who has many users could have a file for each.
    if program.identity.uid == program.identity.owner
        && let Some(key) = program.evidence.tie.question().cloned()
        && remember.ask(Ask::Recall { id: program.identity.id, uid: program.identity.uid, key })
    {
        program.evidence.tie.asked();
    }
}

fn keep(remember: Option<&mut Remember>, program: &mut Program) {
    if let Some(remember) = remember
        && let Some((profile, fresh)) =
            program.evidence.tie.profile(&program.identity.name, &program.evidence.observed, now_s())
        && remember.ask(Ask::Keep { uid: program.identity.uid, profile: Box::new(profile), fresh })
    {
        program.evidence.tie.kept();
    }
}
