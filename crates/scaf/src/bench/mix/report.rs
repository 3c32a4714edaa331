use super::super::Header;
use super::super::stats::median;
use super::SlowMotion;
use super::config::Config;
use super::file::MixFile;
use super::late::Late;
use super::metrics::{Alone, ConfigResult, stp_ratio};
use crate::{cli, output};
use serde::Serialize;

/// What `scaf bench mix --json` prints.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    header: Header,
    mix: String,
    description: String,
    tags: Vec<String>,
    by_turns: bool,
    warmed: bool,
    remembers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    slow_motion: Option<SlowMotion>,
    configs: Vec<ConfigReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<LateReport>,
}

#[derive(Debug, Serialize)]
pub struct ConfigReport {
    pub name: String,
    pub managed: bool,
    pub stp: f64,
    pub stp_min: f64,
    pub stp_max: f64,
    /// Relative to the configuration `pinned`, if that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    stp_vs_pinned_ratio: Option<f64>,
    antt: Option<f64>,
    makespan_s: f64,
    programs: Vec<ProgramReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<LateReport>,
}

#[derive(Debug, Serialize)]
struct ProgramReport {
    name: String,
    serial_s: f64,
    solo_s: f64,
    corun_s: Option<f64>,
    speedup: f64,
    completions: u32,
    capped: bool,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct LateReport {
    shrink_ms: Option<f64>,
    grow_ms: Option<f64>,
}

impl LateReport {
    /// Medians; `None` where no mix with late programs was watched.
    fn over(lates: &[Late]) -> Option<LateReport> {
        let of = |part: fn(&Late) -> Option<f64>| median(&lates.iter().filter_map(part).collect::<Vec<_>>());
        (!lates.is_empty())
            .then(|| LateReport { shrink_ms: of(|late| late.shrink_ms), grow_ms: of(|late| late.grow_ms) })
    }
}

impl Report {
    pub fn new(
        mix: &MixFile,
        flags: &cli::Mix,
        slow_motion: Option<SlowMotion>,
        alone: &[Alone],
        results: &[(Config, ConfigResult, Vec<Late>)],
    ) -> Report {
        let pinned =
            results.iter().find(|(config, ..)| *config == Config::Pinned).map(|(_, result, _)| result);
        let lates: Vec<Late> = results.iter().flat_map(|(_, _, lates)| lates.clone()).collect();
        Report {
            header: Header::new(flags.repetitions),
            mix: mix.name.clone(),
            description: mix.description.clone(),
            tags: mix.tags.clone(),
            by_turns: flags.turns,
            warmed: flags.warm,
            remembers: flags.remember,
            slow_motion,
            configs: results
                .iter()
                .map(|(config, result, lates)| config_report(mix, alone, config, result, pinned, lates))
                .collect(),
            late: LateReport::over(&lates),
        }
    }

    pub fn right(&self) -> bool {
        self.configs.iter().flat_map(|config| &config.programs).all(|program| program.verified)
    }

    pub fn configs(&self) -> &[ConfigReport] {
        &self.configs
    }

    pub fn table(&self) -> String {
        let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
        let mut table = output::plain_table(&[
            "CONFIG",
            "STP",
            "MIN",
            "MAX",
            "/PINNED",
            "ANTT",
            "MAKESPAN S",
            "SPEEDUPS (COMPLETIONS)",
        ]);
        for config in &self.configs {
            let programs: Vec<String> = config.programs.iter().map(ProgramReport::words).collect();
            table.add_row([
                config.name.clone(),
                format!("{:.2}", config.stp),
                format!("{:.2}", config.stp_min),
                format!("{:.2}", config.stp_max),
                number(config.stp_vs_pinned_ratio),
                number(config.antt),
                format!("{:.2}", config.makespan_s),
                programs.join(", "),
            ]);
        }
        output::align_right(&mut table, &[1, 2, 3, 4, 5, 6]);
        let mut text = format!("{}: {}\n{}\n", self.mix, self.description, output::trimmed(&table));
        if let Some(slow) = &self.slow_motion {
            text += &slow.words();
        }
        if let Some(late) = &self.late {
            let ms = |value: Option<f64>| {
                value.map_or_else(|| "not seen".into(), |value| format!("{value:.1} ms"))
            };
            text += &format!("late arrival: shrink {}, grow {}\n", ms(late.shrink_ms), ms(late.grow_ms));
        }
        text
    }
}

impl ProgramReport {
    fn words(&self) -> String {
        let bound = if self.capped { "<" } else { "" };
        let wrong = if self.verified { "" } else { " NOT VERIFIED" };
        format!("{} {bound}{:.2} ({}){wrong}", self.name, self.speedup, self.completions)
    }
}

fn config_report(
    mix: &MixFile,
    alone: &[Alone],
    config: &Config,
    result: &ConfigResult,
    pinned: Option<&ConfigResult>,
    lates: &[Late],
) -> ConfigReport {
    let programs =
        mix.programs.iter().zip(alone).zip(&result.programs).map(|((spec, alone), program)| ProgramReport {
            name: spec.name.clone(),
            serial_s: alone.serial_s,
            solo_s: alone.solo_s,
            corun_s: program.corun_s,
            speedup: program.speedup,
            completions: program.completions,
            capped: program.capped,
            verified: program.verified,
            failure: program.failure.clone(),
        });
    ConfigReport {
        name: config.to_string(),
        managed: matches!(config, Config::Managed(_)),
        stp: result.stp.median,
        stp_min: result.stp.min,
        stp_max: result.stp.max,
        stp_vs_pinned_ratio: pinned.and_then(|pinned| stp_ratio(result, pinned)),
        antt: result.antt,
        makespan_s: result.makespan_s,
        programs: programs.collect(),
        late: LateReport::over(lates),
    }
}
