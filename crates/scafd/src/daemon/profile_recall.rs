//! Profiles are recalled when programs attach and saved when they detach.

use super::per_user::PerUser;
use crate::control::Request;
use crate::observe::proc_pid::{FileId, Process};
use crate::paths::Scope;
use crate::registry::{Program, Registry};
use crate::remember::{Answer, Ask, Remember, now_s};
use crate::talk::Peer;
use scaf_inspect::Origin;
use scaf_memory::Key;

/// Requests about profiles that a user may have waiting.
const MOST_ASKING: usize = 8;

/// An executable that was inspected, and its code's fingerprint.
#[derive(PartialEq)]
struct Executable {
    file: FileId,
    code: String,
    /// Whether nothing urgent was found: teams that may be resized, or that wait by spinning.
    can_wait: bool,
}

/// The profile database, if profiles are kept.
pub(super) struct Profiles {
    remember: Option<Remember>,
    /// Executables that were inspected, by users' owners: only a guess, until the program itself is
    /// inspected.
    executables: PerUser<Executable>,
    /// Connections that wait for an answer, with their owners.
    asking: Vec<(u64, u32)>,
}

impl Profiles {
    pub fn new(remember: Option<Remember>) -> Profiles {
        Profiles { remember, executables: PerUser::default(), asking: Vec::new() }
    }

    /// Asks for the profile of a program that was inspected, once.
    pub fn recall(&mut self, program: &mut Program, origin: Origin, process: &Process) {
        let Some(remember) = &mut self.remember else { return };
        let code = origin.executable.clone();
        let guessed = program.evidence.link.past().is_some();
        if !program.evidence.link.met(origin, remember.machine()) {
            return;
        }
        if guessed && program.evidence.link.past().is_none() {
            program.forget_past();
        }
        if let Ok(file) = process.executable() {
            let code_says = program.resizes() || program.code.gathers();
            let can_wait = program.code.spins.is_none() && !program.code.exact && !code_says;
            self.executables.retain(program.identity.owner, |known| known.file != file);
            self.executables.add(program.identity.owner, Executable { file, code, can_wait });
        }
        ask(remember, program);
        if let Some(past) = program.evidence.link.past() {
            program.remember(past);
        }
    }

    /// The same for a newcomer whose executable was inspected before, so that the answer comes before its
    /// first region. `command` reads its command line.
    pub fn recall_at_once(
        &mut self,
        program: &mut Program,
        process: &Process,
        command: impl FnOnce() -> Option<Vec<u8>>,
    ) {
        let Some(remember) = &mut self.remember else { return };
        let mut inspected = self.executables.of(program.identity.owner);
        let file = process.executable().ok();
        let known = file.and_then(|file| inspected.find(|known| known.file == file));
        program.code.can_wait = known.is_some_and(|known| known.can_wait);
        if let Some(known) = known
            && let Some(line) = command()
        {
            let arguments = scaf_inspect::arguments_in(&line);
            let (machine, executable) = (remember.machine().to_owned(), known.code.clone());
            program.evidence.link.guess(Key { machine, executable, arguments });
            ask(remember, program);
        }
    }

    /// Repeats requests that the queue had no room for.
    pub fn ask_again(&mut self, registry: &mut Registry) {
        if let Some(remember) = &mut self.remember {
            registry.iter_mut().for_each(|program| ask(remember, program));
        }
    }

    /// The database's answers since the last call.
    pub fn answers(&mut self) -> Vec<Answer> {
        let answers = self.remember.as_mut().map(Remember::answers).unwrap_or_default();
        for answer in &answers {
            if let Answer::Reply { connection, .. } = answer {
                self.asking.retain(|(asks, _)| asks != connection);
            }
        }
        answers
    }

    /// Saves a program's profile.
    pub fn keep(&mut self, program: &mut Program) {
        if let Some(remember) = &mut self.remember
            && let Some((profile, fresh)) =
                program.evidence.link.profile(&program.identity.name, &program.evidence.observed, now_s())
            && remember.ask(Ask::Keep { uid: program.identity.uid, profile: Box::new(profile), fresh })
        {
            program.evidence.link.kept();
        }
    }

    /// Saves that a user's program waits for itself in this loop.
    pub fn keep_spinner(&mut self, uid: u32, place: String) {
        if let Some(remember) = &mut self.remember {
            remember.ask(Ask::Spinner { uid, place });
        }
    }

    /// Sends a user's request about profiles; an error says why not.
    pub fn request(
        &mut self,
        (connection, peer, request): (u64, Peer, Request),
        scope: Scope,
        trusted: bool,
    ) -> Result<(), String> {
        let own = rustix::process::getuid().as_raw();
        let asking = self.asking.iter().filter(|(_, owner)| *owner == peer.owner).count();
        match &mut self.remember {
            None => Err("this daemon keeps nothing of what programs teach: memory = false in its \
                         configuration, or it tries things out (--dry-run)"
                .to_owned()),
            Some(_) if scope == Scope::Session && peer.uid != own => {
                Err(format!("this daemon remembers user {own}'s programs only; ask as that user"))
            }
            Some(_) if peer.uid != peer.owner => Err(format!(
                "nothing is kept of what user {}'s programs teach, who is one of user {}'s (/etc/subuid)",
                peer.uid, peer.owner
            )),
            Some(_) if !trusted && asking >= MOST_ASKING => {
                Err("you ask for too much; wait a second".to_owned())
            }
            Some(remember) => {
                let asks = remember.ask(Ask::Request { connection, uid: peer.uid, request });
                self.asking.extend(asks.then_some((connection, peer.owner)));
                asks.then_some(())
                    .ok_or_else(|| "the memory's files don't answer; try again later".to_owned())
            }
        }
    }

    /// Waits until everything is saved, but not for long.
    pub fn end(self) {
        if let Some(remember) = self.remember {
            remember.end();
        }
    }
}

fn ask(remember: &mut Remember, program: &mut Program) {
    // A user could otherwise have a file for each of many user ids.
    if program.identity.uid == program.identity.owner
        && let Some(key) = program.evidence.link.question().cloned()
        && remember.ask(Ask::Recall { id: program.identity.id, uid: program.identity.uid, key })
    {
        program.evidence.link.asked();
    }
}
