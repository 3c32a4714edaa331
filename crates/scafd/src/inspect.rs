//! Code analysis of programs, in helper processes: whether a program's teams may be resized.
//!
//! A helper is this executable with `--inspect PID`. As the program's user it opens the files that the
//! process has mapped, drops all other rights ([`confine`]), and reads them within limits of memory and time,
//! since the user wrote them. It gets a [`Question`] and prints [`Line`]s, both as JSON.
//! What regions reach takes longer than all the rest. Where it isn't known yet, a second helper looks for it,
//! unless the program loads more libraries before.
//! Each user has one helper of either kind at a time, and the daemon never waits for one.

mod cache_file;
mod confine;
mod helper_process;
mod queue;
mod reaper;
mod verdict;

pub use cache_file::CacheFile;
pub use confine::User;
pub(crate) use helper_process::{calm_down, spawn};
pub(crate) use queue::{Job, When};
pub use verdict::Verdict;

use crate::broker::Broker;
use crate::log::warning;
use crate::observe::clock;
use crate::talk::Talk;
use confine::confined;
use helper_process::HelperProcess;
use queue::{Next, Queue};
use reaper::Reaper;
use scaf_inspect::{ModuleCache, Opened, Reach};
use scaf_policy::ProgramId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Helpers at a time; others wait.
const MOST_AT_A_TIME: usize = 4;
/// Those among them that look at what regions reach.
const MOST_SECOND: usize = 2;
/// Wall time of a helper.
const PATIENCE: Duration = Duration::from_secs(60);
/// CPU time after which its priority is lowered. Most programs take 0.01 s to read; with what regions reach,
/// tesseract and its 56 libraries take 0.3 s, and Python with LightGBM 2.2 s, once. Until then the program
/// isn't gathered: tesseract is six times as slow so, LightGBM a seventh slower. What takes long is paid
/// by programs that may end before it helps them. It isn't wall time: beside two programs whose folded
/// threads spin a helper with a low priority gets a tenth of the machine, and never comes to its end.
const HASTE: Duration = Duration::from_secs(3);
/// Longest line that is read, in bytes: an answer has 300 for each file of a process and 10 for each region,
/// 110,000 for Python with scikit-learn, LightGBM and XGBoost; what a file does by pointers has some 4 for
/// each function.
const MOST_ANSWER: usize = 1 << 21;
/// Users whose files are remembered.
const MOST_USERS: usize = 16;
/// Letters of a reason or a place in an answer.
const MOST_LETTERS: usize = 512;

/// What the helper reads.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Question {
    /// Files that are known.
    pub known: ModuleCache,
    /// Whether to leave out what regions reach, unless it is known.
    pub is_first: bool,
}

/// What it prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// About the program.
    pub verdict: Verdict,
    /// About files that weren't known yet.
    pub learned: ModuleCache,
}

/// A line that it prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Line {
    /// What it has found out so far: it may be killed for something newer.
    Learned(ModuleCache),
    /// The last line.
    Answer(Box<Answer>),
}

/// The helper's whole work. Its standard input has the question; without one all is looked at.
pub fn helper(pid: u32, user: Option<User>, mut print: impl FnMut(&Line)) -> io::Result<Answer> {
    let opened = confined(user, || Opened::new(pid, Path::new("/proc")))?;
    let mut text = Vec::new();
    let _ = io::stdin().read_to_end(&mut text);
    let Question { known, is_first } = serde_json::from_slice(&text).unwrap_or_default();
    let mut memory = known.clone();
    let verdict = match opened {
        Ok(opened) => {
            let mut facts = opened.facts(&mut memory);
            if !is_first {
                let mut tell = |news: &ModuleCache| print(&Line::Learned(news.clone()));
                facts.reach.get_or_insert_with(|| opened.reach(&mut memory, &mut tell));
            }
            verdict(facts)
        }
        Err(e) => Verdict::no(format!("its code cannot be inspected: {e}")),
    };
    Ok(Answer { verdict, learned: memory.of_files().beyond(&known) })
}

fn verdict(facts: scaf_inspect::ProcessFacts) -> Verdict {
    let scaf_inspect::ProcessFacts { objections, spins, spins_itself, marks, origin, reach, .. } = facts;
    Verdict { objections, spins, spins_itself, marks, origin, ..Verdict::default() }.with(reach)
}

/// Takes the complete lines about files from a helper's answer so far, and their lengths.
fn told(answer: &mut Vec<u8>) -> Vec<(ModuleCache, usize)> {
    let mut told = Vec::new();
    while let Some(end) = answer.iter().position(|byte| *byte == b'\n') {
        match serde_json::from_slice(&answer[..=end]) {
            Ok(Line::Learned(news)) => told.push((news, end)),
            // The answer itself, or nothing that is understood.
            _ => break,
        }
        answer.drain(..=end);
    }
    told
}

/// The verdict where a helper gave none.
fn failed(first: Option<Verdict>) -> Verdict {
    let failed = "the inspection of its code failed or took too long";
    match first {
        Some(first) => first.with(Some(Reach::No(format!("has code that isn't known: {failed}")))),
        None => Verdict::no(failed),
    }
}

/// What is known of a user's files.
#[derive(Default)]
struct UserFiles {
    /// The owner of the user id.
    owner: u32,
    memory: ModuleCache,
    bytes: usize,
}

struct Helper {
    token: u64,
    job: Job,
    when: When,
    /// The verdict of the one before, if this is a second one.
    first: Option<Verdict>,
    process: HelperProcess,
    /// What it printed so far.
    answer: Vec<u8>,
    until: Instant,
    /// When to lower its priority, if it has run all the time; `None` once that is done.
    hasty_until: Option<Instant>,
}

impl Helper {
    fn deadline(&self) -> Instant {
        self.hasty_until.unwrap_or(self.until).min(self.until)
    }

    fn calm_down(&mut self, now: Instant) {
        if self.hasty_until.is_some_and(|until| until <= now) {
            let used = clock::cpu_ns(self.process.id()).map_or(HASTE, Duration::from_nanos);
            self.hasty_until = HASTE.checked_sub(used).filter(|left| !left.is_zero()).map(|left| now + left);
            if self.hasty_until.is_none() {
                self.process.calm_down();
            }
        }
    }
}

/// The running helpers and the waiting jobs.
pub struct Inspector {
    helpers: Vec<Helper>,
    waiting: Queue,
    reaper: Reaper,
    known: BTreeMap<u32, UserFiles>,
    /// The cache file of a daemon of one user, and how many files it knew at the start.
    kept: Option<(CacheFile, usize)>,
    next: u64,
    broker: Option<Broker>,
}

impl Inspector {
    /// No helpers yet. Their pipes are watched with tokens from `first_token` on. The broker starts them, if
    /// there is one.
    pub fn new(first_token: u64, kept: Option<CacheFile>, broker: Option<Broker>) -> Inspector {
        let mut known = BTreeMap::new();
        let kept = kept.map(|kept| {
            let memory = kept.read();
            let (files, bytes) = (memory.len(), serde_json::to_vec(&memory).map_or(0, |text| text.len()));
            let owner = rustix::process::getuid().as_raw();
            known.insert(owner, UserFiles { owner, memory, bytes });
            (kept, files)
        });
        Inspector {
            helpers: Vec::new(),
            waiting: Queue::default(),
            reaper: Reaper::default(),
            known,
            kept,
            next: first_token,
            broker,
        }
    }

    /// Asks for an inspection; the verdict comes out of [`Inspector::finished`].
    pub fn ask(&mut self, job: Job, when: When) {
        self.waiting.push(job, when, Instant::now());
    }

    pub(crate) fn forget(&mut self, id: ProgramId) {
        self.waiting.forget(id);
        // A second one goes on: what regions reach is worth knowing for the next run.
        let its = |helper: &&mut Helper| helper.job.id == id && helper.first.is_none();
        self.helpers.iter_mut().filter(its).for_each(|helper| helper.until = Instant::now());
    }

    /// When a helper's time is up, a killed one is to be checked, or one is to start.
    pub fn deadline(&self) -> Option<Instant> {
        let next = self.waiting.next_due(Instant::now());
        self.helpers.iter().map(Helper::deadline).chain(self.reaper.deadline()).chain(next).min()
    }

    /// Helpers that have not been reaped.
    pub fn children(&self) -> impl Iterator<Item = u32> {
        self.helpers.iter().map(|helper| helper.process.id()).chain(self.reaper.children())
    }

    /// Reads what the helper behind `token` printed. True when it is done.
    pub fn ready(&mut self, token: u64) -> bool {
        let Some(helper) = self.helpers.iter_mut().find(|h| h.token == token) else { return false };
        let mut buffer = [0u8; 4096];
        let n = match helper.process.read(&mut buffer) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return false;
            }
            Err(_) => 0,
        };
        helper.answer.extend_from_slice(&buffer[..n]);
        let goes_on = n > 0 && helper.answer.len() <= MOST_ANSWER;
        if !goes_on {
            helper.until = Instant::now();
        }
        // What it tells meanwhile.
        let job = helper.job.clone();
        let told = if buffer[..n].contains(&b'\n') { told(&mut helper.answer) } else { Vec::new() };
        told.into_iter().for_each(|(news, bytes)| self.learn(&job, news, bytes));
        !goes_on
    }

    /// Starts waiting jobs, ends helpers whose time is up, and returns the verdicts that are known by now.
    pub fn finished(&mut self, talk: &Talk) -> Vec<(Job, Verdict)> {
        let now = Instant::now();
        self.reaper.reap(now);
        let mut verdicts = Vec::new();
        self.helpers.iter_mut().for_each(|helper| helper.calm_down(now));
        for helper in std::mem::take(&mut self.helpers) {
            // What regions reached before the program loaded more is asked by nobody.
            let is_outdated = helper.first.is_some() && self.waiting.has(helper.job.id);
            if helper.until > now && !is_outdated {
                self.helpers.push(helper);
                continue;
            }
            let verdict = self.take(&helper.job, &helper.answer);
            let Helper { job, when, first, process, .. } = helper;
            self.reaper.kill(job.owner, process, now);
            match verdict {
                Some(verdict) => {
                    if verdict.is_first && first.is_none() && !self.waiting.has(job.id) {
                        self.waiting.push_second(job.clone(), verdict.clone(), when, now);
                    }
                    verdicts.push((job, verdict));
                }
                None if is_outdated => {}
                None => verdicts.push((job, failed(first))),
            }
        }
        let second = |helper: &Helper| helper.first.is_some();
        while self.helpers.len() < MOST_AT_A_TIME
            && let Some(next) = self.waiting.pop(now, |uid, is_second| {
                let mut same = self.helpers.iter().filter(|helper| second(helper) == is_second);
                self.reaper.has(uid)
                    || (is_second && same.clone().count() >= MOST_SECOND)
                    || same.any(|helper| helper.job.owner == uid)
            })
        {
            let Next { job, when, first } = next;
            match self.start(&job, first.is_none()) {
                Ok(process) => {
                    let token = self.next;
                    self.next += 1;
                    if let Some(out) = process.out()
                        && let Err(e) = talk.watch(out, token)
                    {
                        warning!("cannot wait for a helper: {e}");
                    }
                    let (until, hasty_until) = (now + PATIENCE, Some(now + HASTE));
                    let answer = Vec::new();
                    self.helpers.push(Helper {
                        token,
                        job,
                        when,
                        first,
                        process,
                        answer,
                        until,
                        hasty_until,
                    });
                }
                Err(e) => {
                    let why = format!("its code cannot be inspected: no helper process: {e}");
                    verdicts.push((job, Verdict::no(why)));
                }
            }
        }
        verdicts
    }

    /// Takes an answer, limits what it says, and learns.
    fn take(&mut self, job: &Job, answer: &[u8]) -> Option<Verdict> {
        let Ok(Line::Answer(found)) = serde_json::from_slice(answer) else { return None };
        let Answer { mut verdict, learned } = *found;
        for objection in &mut verdict.objections {
            objection.why = objection.why.chars().take(MOST_LETTERS).collect();
        }
        verdict.reaches = verdict.reaches.chars().take(MOST_LETTERS).collect();
        verdict.spins = verdict.spins.map(|spins| spins.chars().take(MOST_LETTERS).collect());
        self.learn(job, learned, answer.len());
        Some(verdict)
    }

    fn start(&self, job: &Job, is_first: bool) -> io::Result<HelperProcess> {
        let of = |known: &UserFiles| if is_first { known.memory.of_files() } else { known.memory.clone() };
        let known = self.known.get(&job.uid).map(of).unwrap_or_default();
        let question = serde_json::to_vec(&Question { known, is_first })?;
        let user = User { uid: job.uid, gid: job.gid };
        HelperProcess::start(job.pid, user, &question, self.broker.as_ref())
    }

    /// Forgets the files of one user, of the owner with the most users.
    fn forget_one(&mut self) {
        let users_of = |owner| self.known.values().filter(|files| files.owner == owner).count();
        let most = self.known.iter().max_by_key(|(_, files)| users_of(files.owner)).map(|(uid, _)| *uid);
        most.and_then(|uid| self.known.remove(&uid));
    }

    fn learn(&mut self, job: &Job, mut learned: ModuleCache, bytes: usize) {
        if learned.is_empty() {
            return;
        }
        if self.known.len() >= MOST_USERS && !self.known.contains_key(&job.uid) {
            self.forget_one();
        }
        let known = self.known.entry(job.uid).or_default();
        if known.bytes + bytes > cache_file::MOST_KNOWN {
            // What takes the most is also what may be found out again piece by piece.
            known.memory = known.memory.of_files();
            known.bytes = serde_json::to_vec(&known.memory).map_or(usize::MAX / 2, |text| text.len());
        }
        if known.bytes + bytes > cache_file::MOST_KNOWN {
            *known = UserFiles::default();
        }
        known.owner = job.owner;
        learned.cut();
        known.memory.extend(learned);
        known.bytes += bytes;
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        let now = Instant::now();
        for helper in self.helpers.drain(..) {
            self.reaper.kill(helper.job.owner, helper.process, now);
        }
        if let Some((kept, files)) = &self.kept
            && let Some(known) = self.known.get(&rustix::process::getuid().as_raw())
            && known.memory.len() != *files
            && let Err(e) = kept.write(&known.memory)
        {
            warning!("the cache of inspected files isn't saved: {e}");
        }
    }
}
