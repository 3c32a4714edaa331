//! The terminal: its input, and restoring it at the end, also after a signal.

use super::state::Key;
use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a signal is noticed.
const SIGNAL_PERIOD: Duration = Duration::from_millis(250);

/// What came in.
pub enum Input {
    /// Nothing in time.
    Nothing,
    /// A key.
    Key(Key),
    /// The terminal has another size.
    Resized,
    /// Ctrl-Z.
    Suspend,
    /// A signal, Ctrl-C, or the terminal has gone.
    Ended,
}

/// The terminal while it is ours.
pub struct Screen {
    terminal: DefaultTerminal,
    ended: Arc<AtomicBool>,
}

impl Screen {
    /// Switches it to raw mode and the alternate screen.
    /// # Errors
    /// It can't be steered.
    pub fn open() -> Result<Screen> {
        let ended = Arc::new(AtomicBool::new(false));
        // After SIGHUP there is no terminal to restore.
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&ended)).context("signal handler")?;
        }
        Ok(Screen { terminal: ratatui::try_init().context("terminal")?, ended })
    }

    /// Restores it.
    pub fn close(self) {
        ratatui::restore();
    }

    /// Columns and lines.
    pub fn size(&self) -> (u16, u16) {
        self.terminal.size().map_or((80, 24), |size| (size.width, size.height))
    }

    /// Draws what changed.
    /// # Errors
    /// It can't be written to.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Buffer, Rect)) -> Result<()> {
        self.terminal
            .draw(|frame| {
                let area = frame.area();
                paint(frame.buffer_mut(), area);
            })
            .context("terminal")?;
        Ok(())
    }

    /// Waits for something, at most until then.
    /// # Errors
    /// It can't be read.
    pub fn wait(&self, until: Instant) -> Result<Input> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(Input::Ended);
        }
        let left = until.saturating_duration_since(Instant::now()).min(SIGNAL_PERIOD);
        // Several keys may have been read at once.
        if is_gone(Duration::ZERO) || matches!(event::poll(Duration::ZERO), Ok(false)) && is_gone(left) {
            return Ok(Input::Ended);
        }
        match event::poll(Duration::ZERO) {
            Ok(false) => return Ok(Input::Nothing),
            Ok(true) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(Input::Nothing),
            Err(error) => return Err(error).context("terminal"),
        }
        Ok(match event::read().context("terminal")? {
            Event::Key(event) if event.kind != KeyEventKind::Release => meant(event),
            Event::Resize(..) => Input::Resized,
            _ => Input::Nothing,
        })
    }

    /// Gives the terminal to the shell until we are continued.
    /// # Errors
    /// The terminal can't be steered any more.
    pub fn suspend(&mut self) -> Result<()> {
        ratatui::restore();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP).context("SIGTSTP")?;
        self.terminal = ratatui::try_init().context("terminal")?;
        Ok(())
    }
}

/// Waits for input, for so long at most; whether the terminal has hung up. The crate that reads it would read
/// its end again and again.
fn is_gone(most: Duration) -> bool {
    let input = std::io::stdin();
    let mut poll = [PollFd::new(&input, PollFlags::IN)];
    let most = Timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
    // A change of size comes as a signal, which ends the wait.
    let _ = rustix::event::poll(&mut poll, Some(&most));
    poll[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

fn meant(event: KeyEvent) -> Input {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Input::Key(match event.code {
        KeyCode::Char('c') if control => return Input::Ended,
        KeyCode::Char('z') if control => return Input::Suspend,
        KeyCode::Char(_) if control => return Input::Nothing,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::F(n) => Key::F(n),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace | KeyCode::Delete => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        _ => return Input::Nothing,
    })
}
