//! What programs taught is recalled when they come and kept when they go.

use super::Daemon;
use crate::control::{Reply, Request};
use crate::paths::Scope;
use crate::registry::Program;
use crate::remember::{Ask, Remember, Told, now_s};
use crate::talk::Peer;
use scaf_inspect::Origin;
use scaf_memory::Key;
use scaf_policy::ProgramId;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Executables, and loops in which somebody waited for himself, that are remembered: of one user, so that nobody can push out all
/// others', and of all.
const OF_ONE: usize = 64;
/// See [`OF_ONE`].
const OF_ALL: usize = 1024;

/// How often what programs teach while they run is kept.
const KEEP: Duration = Duration::from_secs(60);

impl Daemon {
    /// Asks what is known of a program that was inspected, once; of modules that it loaded since, that is known by now.
    pub(super) fn recall(&mut self, id: ProgramId, origin: Origin) {
        let (Some(program), Some(remember)) = (self.registry.get_mut(id), &mut self.parts.remember) else {
            return;
        };
        let executable = origin.executable.clone();
        let guessed = program.tie.past().is_some();
        if !program.tie.met(origin, remember.machine()) {
            return;
        }
        if guessed && program.tie.past().is_none() {
            // It is another program than it was taken for.
            program.forget_past();
        }
        if let Ok(file) = self.observer.process(program.pid).executable() {
            self.executables.retain(|known| (known.0, known.1) != (program.uid, file));
            push(&mut self.executables, (program.uid, file, executable), |known| known.0);
        }
        ask(remember, program);
        if let Some(past) = program.tie.past() {
            program.remember(past);
        }
    }

    /// The same for a newcomer whose executable was inspected before: an inspection takes 30 ms, and this answer is there before its
    /// first region.
    pub(super) fn recall_at_once(&mut self, id: ProgramId) {
        let (Some(program), Some(remember)) = (self.registry.get_mut(id), &mut self.parts.remember) else {
            return;
        };
        let (process, uid) = (self.observer.process(program.pid), program.uid);
        let same = |file| self.executables.iter().find(|known| (known.0, known.1) == (uid, file));
        let known = process.executable().ok().and_then(same);
        if let (Some((_, _, executable)), Ok(arguments)) = (known, process.arguments()) {
            let (machine, executable) = (remember.machine().to_owned(), executable.clone());
            program.tie.guess(Key { machine, executable, arguments });
            ask(remember, program);
        }
    }

    /// Asks what there was no room to ask before.
    pub(super) fn recall_later(&mut self) {
        if let Some(remember) = &mut self.parts.remember {
            self.registry.iter_mut().for_each(|program| ask(remember, program));
        }
    }

    /// Takes in the memory's answers. True if they ask for a decision.
    pub(super) fn recalled(&mut self) -> bool {
        let told = self.parts.remember.as_mut().map(Remember::told).unwrap_or_default();
        let mut changed = false;
        for told in told {
            match told {
                Told::Recalled { id, uid, key, found, spinners } => {
                    self.learn_spinners(uid, spinners);
                    let Some(program) = self.registry.get_mut(id) else { continue };
                    program.tie.answered(&key, found);
                    if let Some(past) = program.tie.past() {
                        program.remember(past);
                        changed = true;
                    }
                }
                Told::Answer { connection, reply } => self.parts.talk.answer(connection, &reply),
            }
        }
        changed
    }

    fn learn_spinners(&mut self, uid: u32, places: Vec<String>) {
        for place in places {
            let spinner = (uid, place);
            // No further than there is room: those of this life count more.
            let own = self.spinners.iter().filter(|known| known.0 == uid).count();
            let room = own < OF_ONE && self.spinners.len() < OF_ALL;
            if room && !self.spinners.contains(&spinner) {
                self.spinners.push_front(spinner);
            }
        }
    }

    /// Keeps what a program taught.
    pub(super) fn keep(&mut self, program: &mut Program) {
        keep(self.parts.remember.as_mut(), program);
    }

    pub(super) fn keep_all(&mut self) {
        self.registry.iter_mut().for_each(|program| keep(self.parts.remember.as_mut(), program));
    }

    /// The same once a minute.
    pub(super) fn keep_from_time_to_time(&mut self) {
        let now = Instant::now();
        if now >= self.next_keep + KEEP {
            self.next_keep = now;
            self.keep_all();
        }
    }

    /// Has a user's request answered that is about profiles.
    pub(super) fn ask_memory(&mut self, connection: u64, peer: Peer, request: Request) {
        let own = rustix::process::getuid().as_raw();
        let refusal = match &mut self.parts.remember {
            None => Some("this daemon keeps nothing of what programs teach: memory = false in its configuration, or it tries \
                          things out (--dry-run)".to_owned()),
            Some(_) if self.parts.scope == Scope::Session && peer.uid != own => {
                Some(format!("this daemon remembers user {own}'s programs only; ask as that user"))
            }
            Some(remember) => (!remember.ask(Ask::Request { connection, uid: peer.uid, request }))
                .then(|| "the memory's files don't answer; try again later".to_owned()),
        };
        if let Some(why) = refusal {
            self.parts.talk.answer(connection, &Reply::Error(why));
        }
    }
}

/// Takes note of a loop in which a user's program waited for itself, the latest last.
pub(super) fn note_spinner(spinners: &mut VecDeque<(u32, String)>, spinner: (u32, String)) {
    push(spinners, spinner, |known| known.0);
}

/// Adds what was learned of a user's programs, in place of the oldest where there is too much.
fn push<T>(list: &mut VecDeque<T>, new: T, user: impl Fn(&T) -> u32) {
    let own = list.iter().filter(|known| user(known) == user(&new)).count();
    if own >= OF_ONE
        && let Some(oldest) = list.iter().position(|known| user(known) == user(&new))
    {
        list.remove(oldest);
    }
    list.push_back(new);
    let surplus = list.len().saturating_sub(OF_ALL);
    list.drain(..surplus);
}

/// Asks what is known of a program, if that wasn't asked yet.
fn ask(remember: &mut Remember, program: &mut Program) {
    if let Some(key) = program.tie.question().cloned()
        && remember.ask(Ask::Recall { id: program.id, uid: program.uid, key })
    {
        program.tie.asked();
    }
}

fn keep(remember: Option<&mut Remember>, program: &mut Program) {
    if let Some(remember) = remember
        && let Some((profile, fresh)) = program.tie.profile(&program.name, &program.observed, now_s())
        && remember.ask(Ask::Keep { uid: program.uid, profile: Box::new(profile), fresh })
    {
        program.tie.kept();
    }
}
