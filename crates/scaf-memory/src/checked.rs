//! What was shown of files with code by trying: results of `scaf check`, and those that come with scaf.

use crate::profiles::{good, short};
use crate::{Error, Profiles};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

const EXECUTABLES: u32 = 1000;

/// The result of testing an executable, or a library.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checked {
    /// Its build-id, else a hash of it.
    #[serde(alias = "library")]
    pub executable: String,
    /// The file's name.
    pub name: String,
    /// Whether the teams of its own code may be resized.
    pub resizable: bool,
    /// When: year-month-day.
    pub date: String,
    /// Runs that came out the same with teams of other sizes.
    pub runs: u32,
    /// Of which package and version it is. Not kept in the database, nor is the following.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// What was run and compared; empty: what a user gave to `scaf check`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

impl Checked {
    /// What it was that showed it, for people.
    pub fn text(&self) -> String {
        let Checked { runs, date, name, version, evidence, .. } = self;
        let what = match evidence.as_str() {
            "" => "scaf check".to_owned(),
            evidence => format!("shown for {name} of {version} by {evidence}"),
        };
        format!("{what}: {runs} runs on {date} with teams of other sizes came out the same")
    }
}

fn checked(row: &Row) -> rusqlite::Result<Checked> {
    Ok(Checked {
        executable: short(row.get::<_, String>(0)?),
        name: short(row.get::<_, String>(1)?),
        resizable: row.get(2)?,
        date: short(row.get::<_, String>(3)?),
        runs: row.get(4)?,
        ..Checked::default()
    })
}

const ALL: &str = "SELECT executable, name, resizable, date, runs FROM checked";

impl Profiles {
    /// What was found out about an executable.
    pub fn checked(&mut self, executable: &str) -> Result<Option<Checked>, Error> {
        let query = format!("{ALL} WHERE executable = ?1");
        let one = |connection: &Connection| {
            connection.prepare_cached(&query)?.query_row([executable], checked).optional()
        };
        Ok(self.with(false, one)?.flatten())
    }

    /// What was found out about all executables, the one checked last first.
    pub fn all_checked(&mut self) -> Result<Vec<Checked>, Error> {
        let query = format!("{ALL} ORDER BY date DESC, name LIMIT {EXECUTABLES}");
        let list = self.with(false, |connection| {
            let mut statement = connection.prepare(&query)?;
            good(statement.query_map([], checked)?)
        })?;
        Ok(list.unwrap_or_default())
    }

    /// Keeps what was found out, in place of what was before.
    pub fn keep_checked(&mut self, found: &Checked) -> Result<(), Error> {
        self.with(true, |connection| {
            connection.execute(
                "INSERT INTO checked VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET
                 name = ?2, resizable = ?3, date = ?4, runs = ?5",
                params![
                    short(&found.executable),
                    short(&found.name),
                    found.resizable,
                    short(&found.date),
                    found.runs
                ],
            )?;
            connection.execute(
                "DELETE FROM checked WHERE executable NOT IN
                 (SELECT executable FROM checked ORDER BY date DESC LIMIT ?1)",
                [EXECUTABLES],
            )
        })
        .map(drop)
    }

    /// Forgets what was found out about an executable, and says whether there was anything.
    pub fn forget_checked(&mut self, executable: &str) -> Result<bool, Error> {
        let forget = "DELETE FROM checked WHERE executable = ?1";
        let count = self.with(false, |connection| connection.execute(forget, [executable]))?;
        Ok(count.is_some_and(|count| count > 0))
    }
}
