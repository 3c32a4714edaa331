use crate::output;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error that goes away at the end; none unless a person watches.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new(runs: usize) -> Progress {
        let bar = if output::watched() { ProgressBar::new(runs as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed}, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Progress { bar }
    }

    pub fn at(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.tick();
    }

    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Prints a line above the bar, which stays.
    pub fn say(&self, what: &str) {
        self.bar.suspend(|| eprintln!("scaf: {what}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
