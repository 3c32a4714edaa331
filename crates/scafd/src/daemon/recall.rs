//! What programs taught is recalled when they come and kept when they go.

use super::Daemon;
use super::tick::MOST_SPINNERS;
use crate::control::{Reply, Request};
use crate::paths::Scope;
use crate::registry::Program;
use crate::remember::{Ask, Remember, Told, now_s};
use crate::talk::Peer;
use scaf_inspect::Origin;
use scaf_policy::ProgramId;
use std::time::{Duration, Instant};

/// How often what programs teach while they run is kept.
const KEEP: Duration = Duration::from_secs(60);

impl Daemon {
    /// Asks what is known of a program that was inspected, once; of modules that it loaded since, that is known by now.
    pub(super) fn recall(&mut self, id: ProgramId, origin: Origin) {
        let (Some(program), Some(remember)) = (self.registry.get_mut(id), &mut self.parts.remember) else {
            return;
        };
        if let Some(key) = program.tie.met(origin, remember.machine()) {
            remember.ask(Ask::Recall { id, uid: program.uid, key });
        } else if let Some(past) = program.tie.past() {
            program.observed.remember(past);
        }
    }

    /// Takes in the memory's answers. True if they ask for a decision.
    pub(super) fn recalled(&mut self) -> bool {
        let told = self.parts.remember.as_mut().map(Remember::told).unwrap_or_default();
        let mut changed = false;
        for told in told {
            match told {
                Told::Recalled { id, uid, found, spinners } => {
                    self.learn_spinners(uid, spinners);
                    let Some(program) = self.registry.get_mut(id) else { continue };
                    program.tie.answered(found);
                    if let Some(past) = program.tie.past() {
                        program.observed.remember(past);
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
            if self.spinners.len() < MOST_SPINNERS && !self.spinners.contains(&spinner) {
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

fn keep(remember: Option<&mut Remember>, program: &mut Program) {
    if let Some(remember) = remember
        && let Some((profile, fresh)) = program.tie.profile(&program.name, &program.observed, now_s())
    {
        remember.ask(Ask::Keep { uid: program.uid, profile: Box::new(profile), fresh });
    }
}
