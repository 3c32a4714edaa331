//! What the command line asks of the daemon. A request is one packet of JSON on the daemon's socket; the
//! answer is JSON in packets of at most [`CHUNK_BYTES`], up to the end of file.

pub mod field;
mod frame;
pub mod shown;
mod snapshot;
mod visibility;

pub use frame::History;
pub use scaf_team::choice::Mechanism;
pub use snapshot::{
    Counters, CountersAre, CurveOf, CurvePoint, Experiments, Frame, Granted, Numbers, OtherVersion, Others,
    Program, Runtime, Setting, Snapshot, Tried, Turns,
};

use crate::journal::Entry;
use crate::observe::proc_pid::FileId;
use scaf_memory::{Checked, Profile, Summary};
use scaf_policy::Topology;
use serde::{Deserialize, Serialize};

/// Most bytes of an answer in one packet; small enough for any socket buffer.
pub const CHUNK_BYTES: usize = 32 * 1024;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The state of everything: [`Reply::Snapshot`].
    Snapshot,
    /// What was in the last minutes, after the moment of that number: [`Reply::History`]. 0 asks for all.
    History(u64),
    /// The machine that is shared out: [`Reply::Machine`].
    Machine,
    /// Decide by another policy from now on: [`Reply::Policy`]. For root and the daemon's own user only.
    SetPolicy(String),
    /// Other limits for the process that asks, from the next decision on: [`Reply::Limits`].
    #[serde(rename = "wish")]
    SetLimits(LimitValues),
    /// Other limits for the program of that number: [`Reply::Limits`]. For its user, root and the daemon's
    /// own user only.
    #[serde(rename = "wish_of")]
    SetLimitsOf(u64, LimitValues),
    /// The decision of that number, or the latest one: [`Reply::Decisions`].
    Decision(Option<u64>),
    /// The kept decisions after that number, or the first of those if they are many: [`Reply::Decisions`].
    Decisions(u64),
    /// The affinity that the process of that number would have without scaf: [`Reply::Affinity`]. Client
    /// libraries ask this for programs that ask for other processes' affinity.
    AffinityOf(u32),
    /// The process of that number, or for 0 the one that asks, is to have an affinity of its own choice:
    /// [`Reply::Binds`], once its threads have those that they would have without scaf.
    Binds(u32),
    /// A thread of the process that asks has all its PUs again: [`Reply::Binds`]. The number means nothing.
    BindsNoMore(u32),
    /// Manage the process of that number and its descendants from outside, where they compute on several
    /// threads and don't attach: [`Reply::Adopted`]. 0 is the one that asks. For its user and root. They have
    /// one share together, unless `each` is to have its own.
    Adopt {
        /// The process.
        pid: u32,
        /// Its limits.
        limits: LimitValues,
        /// Whether each program that it starts is one by itself.
        each: bool,
        /// Whether they may be stopped for others' turns, if their user says so.
        #[serde(default)]
        turns: Option<bool>,
    },
    /// Manage them no more: [`Reply::Adopted`], true if they were.
    Release(u32),
    /// Whether that executable, which is about to be started by the user who asks, had better start with as
    /// many threads as it is granted: [`Reply::Mold`].
    Mold(FileId),
    /// The remembered programs of the user who asks: [`Reply::Profiles`].
    Profiles,
    /// What is remembered of the program of that number: [`Reply::Profile`].
    Profile(i64),
    /// Forget the program of that number: [`Reply::Forgotten`].
    Forget(i64),
    /// Forget all programs of the user who asks: [`Reply::Forgotten`].
    ForgetAll,
    /// What `scaf check` found out for the user who asks: [`Reply::Checked`].
    Checked,
    /// Keep what `scaf check` found out: [`Reply::Kept`].
    KeepChecked(Box<Checked>),
    /// Forget what was found out about that executable: [`Reply::Forgotten`].
    ForgetChecked(String),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Snapshot`].
    Snapshot(Box<Snapshot>),
    /// To [`Request::History`].
    History(Box<History>),
    /// To [`Request::Machine`]: PUs that are there, those that aren't given away included.
    Machine(Box<Topology>),
    /// To [`Request::SetPolicy`]: the policy in force now.
    Policy(String),
    /// To [`Request::SetLimits`] and [`Request::SetLimitsOf`]: the program's limits now.
    #[serde(rename = "wish")]
    Limits(LimitValues),
    /// To [`Request::Decision`] and [`Request::Decisions`].
    Decisions(Box<Decisions>),
    /// To [`Request::AffinityOf`]: 64 PUs a number; none if the process isn't narrowed, or another user's.
    Affinity(Vec<u64>),
    /// To [`Request::Binds`] and [`Request::BindsNoMore`]: whether its affinities are left alone from now on.
    Binds(bool),
    /// To [`Request::Adopt`] and [`Request::Release`].
    Adopted(bool),
    /// To [`Request::Mold`].
    Mold(bool),
    /// To [`Request::Profiles`], the program seen last first.
    Profiles(Vec<Summary>),
    /// To [`Request::Profile`]; `None` if there is no program of that number.
    Profile(Option<Box<Profile>>),
    /// To [`Request::Forget`] and [`Request::ForgetAll`]: how many programs were forgotten.
    Forgotten(usize),
    /// To [`Request::Checked`], the executable checked last first.
    Checked(Vec<Checked>),
    /// To [`Request::KeepChecked`].
    Kept,
    /// What went wrong and what to do about it.
    Error(String),
}

/// A program's limits and weight; in a request, `None` leaves one as it is.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitValues {
    /// Fewest contexts, at least 1.
    #[serde(default)]
    pub min: Option<u32>,
    /// Most contexts; 0 for no limit.
    #[serde(default)]
    pub max: Option<u32>,
    /// Weight, 0.001 to 1000; 1 is normal.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// Decisions from the daemon's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decisions {
    /// Process id of the daemon; each daemon numbers its decisions from 1.
    pub daemon: u32,
    /// Number of the oldest decision kept; 0 if there was none yet.
    pub oldest: u64,
    /// Number of the latest decision.
    pub latest: u64,
    /// The decisions asked for, in order. Only root and the daemon's own user see other users' programs.
    pub entries: Vec<Entry>,
}
