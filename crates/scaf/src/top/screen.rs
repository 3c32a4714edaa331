//! The terminal: what is typed, and how it is left in the end, whatever ends us.

use super::state::Key;
use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a signal is noticed.
const PATIENCE: Duration = Duration::from_millis(250);

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
    /// A signal, or Ctrl-C.
    Ended,
}

/// The terminal while it is ours.
pub struct Screen {
    terminal: DefaultTerminal,
    ended: Arc<AtomicBool>,
}

impl Screen {
    /// Takes it.
    /// # Errors
    /// It can't be steered.
    pub fn open() -> Result<Screen> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&ended)).context("signal handler")?;
        }
        Ok(Screen { terminal: ratatui::try_init().context("terminal")?, ended })
    }

    /// Gives it back as it was.
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
        match event::poll(until.saturating_duration_since(Instant::now()).min(PATIENCE)) {
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

    /// Lets the shell have the terminal until it lets us go on.
    /// # Errors
    /// The terminal can't be steered any more.
    pub fn suspend(&mut self) -> Result<()> {
        ratatui::restore();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP).context("SIGTSTP")?;
        self.terminal = ratatui::try_init().context("terminal")?;
        Ok(())
    }
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
