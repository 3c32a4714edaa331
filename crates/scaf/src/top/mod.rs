//! `scaf top`: who has which contexts, since when, why, and what that is worth.
//!
//! [`timeline`] has all known moments, [`state`] handles keys, [`view`] draws; none of them uses a terminal
//! or a daemon. The loop here asks the daemon for news twenty times a second, and draws when something
//! changed.

mod recording;
pub mod rows;
mod screen;
pub mod state;
pub mod timeline;
pub mod view;

use crate::{cli, daemon, users};
use anyhow::{Result, ensure};
use scafd::control::{LimitValues, Reply, Request};
use screen::{Input, Screen};
use state::{Action, Source, State};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use timeline::Timeline;
use view::terminal_style::TerminalStyle;

/// Time between two requests: the daemon keeps an event within 0.05 s, so it is shown within 0.1.
const PERIOD: Duration = Duration::from_millis(50);
/// Time between two tries to reach a daemon that doesn't answer.
const AGAIN: Duration = Duration::from_secs(1);
/// Most answers between two draws.
const AT_ONCE: usize = 50;

/// Carries out `scaf top`.
/// # Errors
/// No terminal, no daemon, or a recording that can't be read.
pub fn run(flags: &cli::Top) -> Result<ExitCode> {
    ensure!(
        std::io::stdout().is_terminal(),
        "scaf top needs a terminal; for scripts there are `scaf ps --json` and `scaf ps --watch`"
    );
    let look = TerminalStyle::of(&|name| std::env::var(name).ok());
    let (state, feed) = match &flags.replay {
        Some(file) => {
            let timeline = Timeline::recorded(recording::read(file)?.into_iter());
            (State::new(timeline, Source::Recording(file.display().to_string())), None)
        }
        None => {
            let socket = daemon::require()?;
            let mut state = State::new(Timeline::new(), Source::Daemon);
            if let Reply::Machine(machine) = daemon::ask(&socket, &Request::Machine)? {
                state.machine = *machine;
            }
            (state, Some(socket))
        }
    };
    let users = users::names();
    let mut screen = Screen::open()?;
    let end = watch(&mut screen, State { users, ..state }, feed.as_deref(), look);
    screen.close();
    end.map(|()| ExitCode::SUCCESS)
}

fn watch(screen: &mut Screen, mut state: State, feed: Option<&Path>, look: TerminalStyle) -> Result<()> {
    let (mut next, mut changed) = (Instant::now(), true);
    loop {
        if Instant::now() >= next {
            let asked = Instant::now();
            changed |= match feed {
                Some(socket) => follow(&mut state, socket),
                None => play(&mut state),
            };
            let lost = matches!(state.source, Source::Lost(_));
            next = asked + if lost { AGAIN } else { PERIOD };
        }
        if changed {
            let (width, height) = screen.size();
            state.page = view::Layout::of(&state, width, height).page();
            screen.draw(|buffer, area| view::draw(buffer, area, &state, look))?;
        }
        changed = match screen.wait(next)? {
            Input::Nothing => false,
            Input::Resized => true,
            Input::Ended => return Ok(()),
            Input::Suspend => {
                screen.suspend()?;
                true
            }
            Input::Key(key) => {
                match (state.key(key), feed) {
                    (Some(Action::Quit), _) => return Ok(()),
                    (Some(action), Some(socket)) => state.message = carried_out(socket, action),
                    _ => {}
                }
                true
            }
        };
    }
}

/// Asks for what is new. True if there was anything.
fn follow(state: &mut State, socket: &Path) -> bool {
    let before = (state.timeline.latest(), state.source.clone());
    for _ in 0..AT_ONCE {
        match daemon::ask(socket, &Request::History(state.timeline.latest())) {
            Ok(Reply::History(answer)) => {
                state.source = Source::Daemon;
                if !state.timeline.take(*answer) {
                    break;
                }
            }
            Ok(_) => break,
            Err(error) => {
                state.source = Source::Lost(format!("{error:#}; trying again"));
                break;
            }
        }
    }
    before != (state.timeline.latest(), state.source.clone())
}

/// Plays a recording on.
fn play(state: &mut State) -> bool {
    if !state.plays {
        return false;
    }
    let period_ns = u64::try_from(PERIOD.as_nanos()).unwrap_or(0);
    let at_ns = state.played_ns.max(state.view().map_or(0, |view| view.now_ns));
    state.played_ns = at_ns.saturating_add(period_ns);
    state.play(state.played_ns)
}

/// Sends it to the daemon; returns the reply in words.
fn carried_out(socket: &Path, action: Action) -> String {
    let request = match &action {
        Action::SetPolicy(name) => Request::SetPolicy(name.clone()),
        Action::Limit(id, values) => Request::SetLimitsOf(*id, *values),
        Action::Quit => return String::new(),
    };
    match daemon::ask(socket, &request) {
        Ok(Reply::Policy(name)) => format!("policy {name} from now on"),
        Ok(Reply::Limits(LimitValues { min, max, weight })) => {
            let most = max.filter(|max| *max > 0).map_or_else(|| "no limit".into(), |max| max.to_string());
            let (least, weight) = (min.unwrap_or(1), weight.unwrap_or(1.0));
            format!("contexts {least} to {most}, weight {weight} from the next decision on")
        }
        Ok(_) => String::new(),
        Err(error) => format!("{error:#}"),
    }
}
