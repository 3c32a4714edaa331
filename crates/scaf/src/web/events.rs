//! Server-sent events: first what seldom changes, then all known moments and new ones, each as the daemon
//! sends it (docs/internals/protocol.md). There are no queues: a client's position in the history is its last
//! event's id, from which a browser resumes after a disconnection.

use super::poller::{Poller, Viewer};
use crate::users;
use hyper::body::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Open pages at a time.
pub const MOST_VIEWERS: usize = 32;
/// A comment is sent if nothing else was for so long, so that closed connections are noticed.
const STILL_THERE: Duration = Duration::from_secs(15);
/// Users whose names are sent at most.
const MOST_USERS: usize = 2_000;

#[derive(Serialize)]
struct Hello {
    host: String,
    version: &'static str,
    machine: scaf_policy::Topology,
    users: BTreeMap<u32, String>,
}

fn hello(live: &Poller) -> Hello {
    Hello {
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        version: env!("CARGO_PKG_VERSION"),
        machine: live.machine(),
        users: users::names().into_iter().take(MOST_USERS).collect(),
    }
}

/// An event as text.
fn event(name: &str, id: Option<(u32, u64)>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "null".into());
    let id = id.map_or_else(String::new, |(daemon, moment)| format!("id: {daemon}-{moment}\n"));
    format!("{id}event: {name}\ndata: {data}\n\n").into()
}

/// The daemon and the moment in an event's id; zeros if there is none.
pub fn place(id: &str) -> (u32, u64) {
    let parts = id.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.unwrap_or_default()
}

/// Sends all that comes after that place, until the page is closed.
pub async fn send(live: Arc<Poller>, viewer: Viewer, from: (u32, u64), to: Sender<Bytes>) {
    let (mut at, mut news) = (from, live.news());
    let mut lost = None;
    let mut machine = None;
    loop {
        news.mark_unchanged();
        // Another daemon may share out another machine.
        if machine.as_ref() != Some(&live.machine()) {
            let hello = hello(&live);
            if to.send(event("hello", None, &hello)).await.is_err() {
                break;
            }
            machine = Some(hello.machine);
        }
        let now_lost = live.lost();
        if now_lost != lost {
            if to.send(event("lost", None, &now_lost)).await.is_err() {
                break;
            }
            lost = now_lost;
        }
        let (answer, all) = live.since(at.0, at.1);
        let base = answer.base.as_ref().map(|base| base.moment);
        if let Some(moment) = answer.frames.last().map(|frame| frame.moment).or(base) {
            at = (answer.daemon, moment);
            if to.send(event("moments", Some(at), &answer)).await.is_err() {
                break;
            }
        }
        if !all {
            continue;
        }
        tokio::select! {
            changed = news.changed() => if changed.is_err() { break },
            () = tokio::time::sleep(STILL_THERE) => {
                if to.send(Bytes::from_static(b": still there\n\n")).await.is_err() {
                    break;
                }
            }
            () = to.closed() => break,
        }
    }
    drop(viewer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_json_and_its_id_is_a_place() {
        let text = event("moments", Some((7, 12)), &"two\nlines");
        assert_eq!(text, "id: 7-12\nevent: moments\ndata: \"two\\nlines\"\n\n");
        assert_eq!(place("7-12"), (7, 12));
        for nonsense in ["", "7", "-", "7-x", "99999999999-1"] {
            assert_eq!(place(nonsense), (0, 0));
        }
    }
}
