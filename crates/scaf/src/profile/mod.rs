//! `scaf profile`: shows and forgets profiles of earlier runs. A running daemon is asked, because it knows
//! where the files are (root's for a system-wide daemon). Without a daemon, the user's own file is read.

mod curve;
mod plot;
mod traits;

use crate::output::{align_right, plain_table, printable, trimmed};
use crate::{cli, daemon, output};
use anyhow::{Context, Result, anyhow, bail};
use curve::{Curve, RegionCurve};
use scaf_memory::{Checked, Profile, Profiles, Summary};
use scafd::control::{Reply, Request};
use scafd::paths::{self, Scope};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[cfg(test)]
pub(crate) use traits::Scaling;
pub(crate) use traits::Traits;

/// Most regions in a table; JSON has all.
const REGIONS: usize = 20;

/// Carries out `scaf profile`.
/// # Errors
/// Nothing of that name is remembered, or the memory can't be read.
pub fn run(flags: &cli::Profile) -> Result<ExitCode> {
    let mut source = Source::find()?;
    let text = match flags.command.as_ref().unwrap_or(&cli::ProfileCommand::List { json: false }) {
        cli::ProfileCommand::List { json } => list(&mut source, *json)?,
        cli::ProfileCommand::Show { program, plot, json } => {
            show(&mut source, program, plot.as_deref(), *json)?
        }
        cli::ProfileCommand::Export { format } => export(&mut source, *format)?,
        cli::ProfileCommand::Forget { program: Some(program), .. } => forget(&mut source, program)?,
        cli::ProfileCommand::Forget { program: None, .. } => match source.ask(&Request::ForgetAll)? {
            Reply::Forgotten(count) => format!("{count} programs forgotten\n"),
            other => bail!("an answer to a question not asked: {other:?}"),
        },
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Where profiles are read from.
pub(crate) enum Source {
    Daemon(PathBuf),
    File(Box<Profiles>),
}

impl Source {
    pub(crate) fn find() -> Result<Source> {
        if let Ok(socket) = daemon::find() {
            return Ok(Source::Daemon(socket));
        }
        let folder = paths::memory_folder(Scope::Session, None).ok_or_else(|| {
            anyhow!("neither XDG_DATA_HOME nor HOME is set, so there is no place to look; set one of them")
        })?;
        let uid = rustix::process::getuid().as_raw();
        Ok(Source::File(Box::new(Profiles::at(&paths::memory_file(Scope::Session, &folder, uid)))))
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply> {
        match self {
            Source::Daemon(socket) => daemon::ask(socket, request),
            Source::File(memory) => match scafd::remember::answer(memory, request) {
                Reply::Error(message) => bail!("{message}"),
                reply => Ok(reply),
            },
        }
    }

    fn list(&mut self) -> Result<Vec<Summary>> {
        match self.ask(&Request::Profiles)? {
            Reply::Profiles(list) => Ok(list),
            other => bail!("an answer to a question not asked: {other:?}"),
        }
    }

    /// What `scaf check` found out.
    pub(crate) fn checked(&mut self) -> Result<Vec<Checked>> {
        match self.ask(&Request::Checked)? {
            Reply::Checked(list) => Ok(list),
            other => bail!("an answer to a question not asked: {other:?}"),
        }
    }

    /// `None` if it was forgotten meanwhile.
    fn profile(&mut self, id: i64) -> Result<Option<Profile>> {
        match self.ask(&Request::Profile(id))? {
            Reply::Profile(profile) => Ok(profile.map(|profile| *profile)),
            other => bail!("an answer to a question not asked: {other:?}"),
        }
    }

    fn profiles(&mut self) -> Result<Vec<Profile>> {
        let mut profiles = Vec::new();
        for one in self.list()? {
            profiles.extend(self.profile(one.id)?);
        }
        Ok(profiles)
    }

    /// What is known of each executable.
    pub(crate) fn executables(&mut self) -> Result<Vec<Traits>> {
        Ok(traits::of(&self.profiles()?))
    }

    /// The programs with that number or name, the one seen last first. It is an error if there is none.
    fn named(&mut self, program: &str) -> Result<Vec<Summary>> {
        let list = self.list()?;
        if let Some(one) = list.iter().find(|one| one.id.to_string() == program) {
            return Ok(vec![one.clone()]);
        }
        let found: Vec<Summary> = list.into_iter().filter(|one| one.name == program).collect();
        if found.is_empty() {
            bail!("nothing is remembered of '{program}'; `scaf profile list` shows what is");
        }
        Ok(found)
    }
}

#[derive(Serialize)]
struct Shown<'p> {
    #[serde(flatten)]
    profile: &'p Profile,
    curve: Option<Curve>,
    region_curves: Vec<RegionCurve>,
}

fn list(source: &mut Source, json: bool) -> Result<String> {
    let list = source.list()?;
    if json {
        return Ok(serde_json::to_string_pretty(&list)? + "\n");
    }
    let checked = table_of_checks(&source.checked()?);
    if list.is_empty() {
        let nothing = "nothing is remembered; what programs teach is, when they ran with: scaf run PROGRAM\n";
        return Ok(if checked.is_empty() { nothing.into() } else { checked });
    }
    let now_s = scafd::remember::now_s();
    let mut table = plain_table(&["ID", "NAME", "RUNS", "LAST SEEN", "REGIONS", "KNEE", "BEST"]);
    for one in list {
        let curve = source.profile(one.id)?.and_then(|profile| curve::of(&profile));
        let (knee, best) = curve.as_ref().map_or_else(
            || ("-".to_owned(), "-".to_owned()),
            |curve| (curve.knee.to_string(), format!("{:.2}", curve.best)),
        );
        let seen = ago(now_s, one.seen_s);
        let (id, runs, regions) = (one.id.to_string(), one.runs.to_string(), one.regions.to_string());
        table.add_row([id, printable(&one.name), runs, seen, regions, knee, best]);
    }
    align_right(&mut table, &[0, 2, 3, 4, 5, 6]);
    let gap = if checked.is_empty() { "" } else { "\n" };
    Ok(format!("{}\n{gap}{checked}", trimmed(&table)))
}

fn table_of_checks(list: &[Checked]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut table = plain_table(&["CHECKED", "RESULT", "RUNS", "DATE", "EXECUTABLE"]);
    for one in list {
        let result = if one.resizable { "may be resized" } else { "may not be resized" };
        let (name, runs) = (printable(&one.name), one.runs.to_string());
        table.add_row([name, result.into(), runs, printable(&one.date), printable(&one.executable)]);
    }
    align_right(&mut table, &[2]);
    trimmed(&table) + "\n"
}

fn show(source: &mut Source, program: &str, plot: Option<&std::path::Path>, json: bool) -> Result<String> {
    let found = source.named(program)?;
    let gone = || anyhow!("'{program}' was forgotten meanwhile");
    let profile = source.profile(found[0].id)?.ok_or_else(gone)?;
    let (curve, regions) = (curve::of(&profile), curve::of_regions(&profile));
    if let Some(file) = plot {
        let curve = curve.as_ref().with_context(|| {
            format!(
                "'{program}' was seen at one DoP only, which is no curve; run it with `explore = true` \
                (docs/guide/configuration.md)"
            )
        })?;
        let picture = plot::draw(&printable(&profile.name), curve)?;
        std::fs::write(file, picture).with_context(|| file.display().to_string())?;
    }
    if json {
        return Ok(serde_json::to_string_pretty(&Shown {
            profile: &profile,
            curve,
            region_curves: regions,
        })? + "\n");
    }
    let mut text = String::new();
    let seen = ago(scafd::remember::now_s(), profile.seen_s);
    let _ = writeln!(
        text,
        "{} (ID {}): {} runs, last seen {seen}, {:.0}% of its time serial",
        printable(&profile.name),
        found[0].id,
        profile.runs,
        100.0 * profile.serial
    );
    if let [_, others @ ..] = &found[..]
        && !others.is_empty()
    {
        let ids: Vec<String> = others.iter().map(|one| one.id.to_string()).collect();
        let _ = writeln!(text, "with other arguments, to be shown by ID: {}", ids.join(", "));
    }
    text.push_str(&curve.as_ref().map_or_else(
        || "seen at one DoP only, so that nothing is known of its speedup\n".to_owned(),
        table_of,
    ));
    text.push_str(&table_of_regions(&regions));
    Ok(text)
}

fn table_of(curve: &Curve) -> String {
    let mut table = plain_table(&["DOP", "SPEEDUP", "ERROR"]);
    for point in curve.points.iter().filter(|point| point.measured) {
        let error = format!("{:.0}%", 100.0 * point.error_ratio);
        table.add_row([point.dop.to_string(), format!("{:.2}", point.speedup), error]);
    }
    align_right(&mut table, &[0, 1, 2]);
    let knee =
        format!("knee: {} (fewest contexts with 95% of the best speedup, {:.2})", curve.knee, curve.best);
    format!("{}\n{knee}\n", trimmed(&table))
}

fn table_of_regions(regions: &[RegionCurve]) -> String {
    let mut table = plain_table(&["REGION", "RUNS/S", "TIME", "SPEEDUP BY DOP"]);
    for region in regions.iter().take(REGIONS) {
        let speedups = region.curve.as_ref().map_or_else(
            || "-".to_owned(),
            |curve| {
                let measured = curve.points.iter().filter(|point| point.measured);
                let said = measured.map(|point| {
                    format!("{}: {:.2} ±{:.0}%", point.dop, point.speedup, 100.0 * point.error_ratio)
                });
                said.collect::<Vec<_>>().join("  ")
            },
        );
        let runs = format!("{:.1}", region.runs_per_s);
        table.add_row([region.name.clone(), runs, format!("{:.1}%", 100.0 * region.share), speedups]);
    }
    align_right(&mut table, &[1, 2]);
    let more = regions.len().saturating_sub(REGIONS);
    let rest = if more > 0 { format!("and {more} more, with --json\n") } else { String::new() };
    format!("\n{}\n{rest}", trimmed(&table))
}

fn export(source: &mut Source, format: cli::ExportFormat) -> Result<String> {
    #[derive(Serialize)]
    struct Export {
        scaf: &'static str,
        executables: Vec<Traits>,
        profiles: Vec<Profile>,
        checked: Vec<Checked>,
    }
    let profiles = source.profiles()?;
    let executables = traits::of(&profiles);
    match format {
        cli::ExportFormat::Table => Ok(traits::table(&executables)),
        cli::ExportFormat::Knees => Ok(traits::knees(&executables)),
        cli::ExportFormat::Json => {
            let (scaf, checked) = (env!("CARGO_PKG_VERSION"), source.checked()?);
            Ok(serde_json::to_string_pretty(&Export { scaf, executables, profiles, checked })? + "\n")
        }
    }
}

fn forget(source: &mut Source, program: &str) -> Result<String> {
    let mut count = 0;
    for one in source.checked()?.iter().filter(|one| one.name == program || one.executable == program) {
        if let Reply::Forgotten(gone) = source.ask(&Request::ForgetChecked(one.executable.clone()))? {
            count += gone;
        }
    }
    // What was checked needs not have run since.
    let profiles =
        if count > 0 { source.named(program).unwrap_or_default() } else { source.named(program)? };
    for one in profiles {
        if let Reply::Forgotten(gone) = source.ask(&Request::Forget(one.id))? {
            count += gone;
        }
    }
    Ok(format!("{count} forgotten\n"))
}

fn ago(now_s: u64, then_s: u64) -> String {
    match now_s.saturating_sub(then_s) {
        s @ 0..120 => format!("{s} s ago"),
        s @ 120..7_200 => format!("{} min ago", s / 60),
        s @ 7_200..172_800 => format!("{} h ago", s / 3_600),
        s => format!("{} days ago", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let said: Vec<String> = [0, 119, 120, 7_200, 172_800].map(|s| ago(1_000_000, 1_000_000 - s)).into();
        assert_eq!(said, ["0 s ago", "119 s ago", "2 min ago", "2 h ago", "2 days ago"]);
        assert_eq!(ago(5, 9), "0 s ago");
    }
}
