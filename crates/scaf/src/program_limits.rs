//! What a user asks for a program: fewest and most contexts, weight, whether results keep their bits.

use crate::cli;
use anyhow::{Result, bail};
use scafd::control::LimitValues;

/// Longest program name in the handshake, in bytes.
const NAME_BYTES: usize = 63;

/// Whether a program's teams may be resized, as its user says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malleable {
    /// Nothing: code analysis decides.
    Unsaid,
    /// They may be resized.
    Yes,
    /// It is to be tried out ([`crate::check`]).
    Check,
}

impl Malleable {
    pub fn word(self) -> Option<&'static str> {
        match self {
            Malleable::Unsaid => None,
            Malleable::Yes => Some("1"),
            Malleable::Check => Some("check"),
        }
    }
}

/// A user's limits for a program.
#[derive(Clone, Debug)]
pub struct ProgramLimits {
    /// The program's name; `None` for the executable's.
    pub name: Option<String>,
    /// Fewest contexts, at least 1.
    pub min: u32,
    /// Most contexts; `None` for no limit.
    pub max: Option<u32>,
    /// Weight in thousandths, 1 to 1,000,000.
    pub weight_milli: u32,
    /// Whether the program needs all its contexts at once.
    pub rigid: bool,
    /// Whether it may be stopped for others' turns; `None` where its user says nothing.
    pub turns: Option<bool>,
    /// Whether the program's results are to keep their bits.
    pub exact: bool,
    /// Whether its teams may be resized whatever its code.
    pub malleable: Malleable,
}

impl ProgramLimits {
    /// Those that the daemon is asked for.
    pub fn values(&self) -> LimitValues {
        LimitValues {
            min: Some(self.min),
            max: Some(self.max.unwrap_or(0)),
            weight: Some(f64::from(self.weight_milli) / 1000.0),
        }
    }

    /// Those of a program without flags.
    pub fn none() -> ProgramLimits {
        ProgramLimits {
            name: None,
            min: 1,
            max: None,
            weight_milli: 1000,
            rigid: false,
            turns: None,
            exact: false,
            malleable: Malleable::Unsaid,
        }
    }

    /// Those in the flags.
    /// # Errors
    /// The flags contradict each other, or the name doesn't fit the handshake.
    pub fn from_flags(flags: &cli::Run) -> Result<ProgramLimits> {
        if let Some(max) = flags.max
            && max < flags.min
        {
            bail!("--min {} is more than --max {max}; give a --max of at least {}", flags.min, flags.min);
        }
        if let Some(name) = &flags.name
            && (name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control))
        {
            bail!("--name takes 1 to {NAME_BYTES} bytes without control characters");
        }
        Ok(ProgramLimits {
            name: flags.name.clone(),
            min: flags.min,
            max: flags.max,
            weight_milli: milli(flags.weight),
            rigid: flags.rigid,
            turns: cli::turns(flags.turns, flags.no_turns),
            exact: flags.exact,
            malleable: if flags.malleable { Malleable::Yes } else { Malleable::Unsaid },
        })
    }
}

/// A weight in thousandths, 1 to 1,000,000.
pub fn milli(weight: f64) -> u32 {
    (weight * 1000.0).round().clamp(1.0, 1_000_000.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(min: u32, max: Option<u32>, weight: f64) -> cli::Run {
        cli::Run {
            name: None,
            min,
            max,
            weight,
            interleave: false,
            background: false,
            rigid: false,
            turns: false,
            no_turns: false,
            exact: false,
            malleable: false,
            each: false,
            mold: false,
            verbose: false,
            command: vec!["true".into()],
        }
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        let error = ProgramLimits::from_flags(&flags(3, Some(2), 1.0)).unwrap_err();
        assert!(error.to_string().contains("--min 3 is more than --max 2"));
        assert!(ProgramLimits::from_flags(&flags(2, Some(2), 1.0)).is_ok());
    }

    #[test]
    fn weights_travel_in_thousandths() {
        assert_eq!(ProgramLimits::from_flags(&flags(1, None, 0.0015)).unwrap().weight_milli, 2);
        assert_eq!(ProgramLimits::from_flags(&flags(1, None, 2.5)).unwrap().weight_milli, 2_500);
    }

    #[test]
    fn names_that_the_handshake_cant_carry_are_refused() {
        for name in ["", "a\nb", &"x".repeat(64)] {
            let flags = cli::Run { name: Some(name.into()), ..flags(1, None, 1.0) };
            assert!(ProgramLimits::from_flags(&flags).is_err(), "{name:?}");
        }
    }
}
