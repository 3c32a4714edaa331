//! The machine that a mix is measured on: this one, or what scaf-lab makes of it.

use super::super::child::Recipe;
use super::super::interrupt::Interrupt;
use super::super::private::Private;
use crate::host;
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// A machine to measure mixes on. What isn't overridden is that of this machine.
pub trait Testbed {
    /// Its PUs, neighbours side by side.
    fn pus(&self) -> Vec<u32> {
        host::allowed_by_neighbourhood()
    }

    /// Speed of a PU relative to a core's.
    fn pace(&self) -> f64 {
        1.0
    }

    /// The configurations that are compared unless others are asked for.
    fn configs(&self) -> &[&'static str] {
        &["unmanaged", "passive", "dynamic", "pinned", "equi", "scaf"]
    }

    /// Starts a daemon. `by_turns`: other co-runs take turns with its co-run. It remembers programs in
    /// `memory`, if given.
    /// # Errors
    /// As [`Private::launch`].
    fn daemon(
        &self,
        policy: &str,
        by_turns: bool,
        memory: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Private> {
        match memory {
            Some(memory) => Private::launch(policy, "", Some(memory), vec![], None, interrupt),
            None if by_turns => Private::beside_others(policy, interrupt),
            None => Private::start(policy, interrupt),
        }
    }

    /// The recipe of a program, bound to its PUs; one without PUs begins at PU number `first`.
    fn place(&self, recipe: Recipe, _first: u32, _managed: bool) -> Recipe {
        recipe
    }

    /// What there is to say of slow motion, if that is what it is.
    fn slow_motion(&self) -> Option<SlowMotion> {
        None
    }
}

/// The machine that we run on.
pub struct ThisMachine;

impl Testbed for ThisMachine {}

/// What results say of slow motion.
#[derive(Clone, Debug, Serialize)]
pub struct SlowMotion {
    pub contexts: u32,
    pub pace_ratio: f64,
    pub period_ms: f64,
    pub cannot_show: &'static [&'static str],
}

impl SlowMotion {
    pub(super) fn words(&self) -> String {
        let mut text = format!(
            "slow motion: {} contexts, each {:.0}% of a core's time by periods of {:.0} ms; what it can't \
             show:\n",
            self.contexts,
            self.pace_ratio * 100.0,
            self.period_ms
        );
        for what in self.cannot_show {
            text += &format!("  - {what}\n");
        }
        text
    }
}
