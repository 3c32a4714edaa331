use crate::file::{self, File, MOST_PAGES};
use crate::{Error, Key, Point, Profile, ProfiledRegion, Recalled, RegionKey, Summary};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most programs that are kept; those seen last.
const PROGRAMS: u32 = 1000;
/// How long a program is kept after its last run: 100 days.
const DAYS_S: u64 = 100 * 86_400;
/// Most regions of a program, and points of a region.
const REGIONS: u32 = 256;
const POINTS: u32 = 16;
const SPINNERS: u32 = 256;
const TEXT: usize = 256;

/// One user's memory. The file is opened at the first use, and made when there is something to keep.
pub struct Profiles {
    path: PathBuf,
    renews: bool,
    file: Option<File>,
    aside: Option<PathBuf>,
}

impl Profiles {
    /// The memory in the file at `path`. A file that can't be understood is left as it is.
    pub fn at(path: &Path) -> Profiles {
        Profiles { path: path.to_owned(), renews: false, file: None, aside: None }
    }

    /// As [`Profiles::at`], but a damaged file, or another version's, is renamed (`.broken`).
    pub fn renewing(path: &Path) -> Profiles {
        Profiles { renews: true, ..Profiles::at(path) }
    }

    /// Where a file is that was set aside since the last call.
    pub fn set_aside(&mut self) -> Option<PathBuf> {
        self.aside.take()
    }

    /// The program's own profile, else the one seen last of the same executable. Of the latter, only regions
    /// in the executable itself are returned: an interpreter may run anything else.
    pub fn recall(&mut self, key: &Key) -> Result<Option<Recalled>, Error> {
        let found = self.with(false, |connection| {
            let exact = "SELECT id FROM programs WHERE machine = ?1 AND executable = ?2 AND arguments = ?3";
            let bits = key.arguments.cast_signed();
            let one = |row: &rusqlite::Row| row.get::<_, i64>(0);
            // Prepared once: that takes longer than to look it up.
            let mut exact = connection.prepare_cached(exact)?;
            if let Some(id) = exact.query_row(params![key.machine, key.executable, bits], one).optional()? {
                return Ok(profile(connection, id)?.map(|profile| Recalled { profile, same: true }));
            }
            let near =
                "SELECT id FROM programs WHERE machine = ?1 AND executable = ?2 ORDER BY seen DESC LIMIT 1";
            let mut near = connection.prepare_cached(near)?;
            let Some(id) = near.query_row(params![key.machine, key.executable], one).optional()? else {
                return Ok(None);
            };
            Ok(profile(connection, id)?.map(|mut profile| {
                profile.regions.retain(|region| region.key.module == key.executable);
                Recalled { profile, same: false }
            }))
        })?;
        Ok(found.flatten().filter(|found| !found.profile.regions.is_empty()))
    }

    /// Keeps a program's profile as of `profile.seen_s`; `fresh` if this run has kept nothing yet.
    pub fn keep(&mut self, profile: &Profile, fresh: bool) -> Result<(), Error> {
        let keep = |connection: &Connection| {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            write(&transaction, profile, fresh)?;
            transaction.commit()
        };
        match self.with(true, keep) {
            Err(Error::Full { .. }) if self.is_at_its_limit() => {
                let halve = "DELETE FROM programs WHERE id IN
                    (SELECT id FROM programs ORDER BY seen LIMIT (SELECT (count(*) + 1) / 2 FROM programs))";
                self.with(false, |connection| connection.execute(halve, []))?;
                self.with(true, keep)
            }
            other => other,
        }
        .map(drop)
    }

    /// All programs, the one seen last first.
    pub fn programs(&mut self) -> Result<Vec<Summary>, Error> {
        let all = "SELECT id, name, runs, seen, (SELECT count(*) FROM regions WHERE program = programs.id)
            FROM programs ORDER BY seen DESC, id DESC LIMIT 1000";
        let list = self.with(false, |connection| {
            let mut statement = connection.prepare(all)?;
            let summary = |row: &rusqlite::Row| {
                Ok(Summary {
                    id: row.get(0)?,
                    name: short(row.get::<_, String>(1)?),
                    runs: row.get(2)?,
                    seen_s: row.get::<_, i64>(3)?.max(0).cast_unsigned(),
                    regions: row.get(4)?,
                })
            };
            good(statement.query_map([], summary)?)
        })?;
        Ok(list.unwrap_or_default())
    }

    /// The profile of that number, as [`Profiles::programs`] gives it.
    pub fn program(&mut self, id: i64) -> Result<Option<Profile>, Error> {
        Ok(self.with(false, |connection| profile(connection, id))?.flatten())
    }

    /// Forgets a program, and says whether there was one with that number.
    pub fn forget(&mut self, id: i64) -> Result<bool, Error> {
        let count =
            self.with(false, |connection| connection.execute("DELETE FROM programs WHERE id = ?1", [id]))?;
        Ok(count.is_some_and(|count| count > 0))
    }

    /// Forgets everything, including files set aside, and returns how many programs there were.
    pub fn forget_all(&mut self) -> Result<usize, Error> {
        file::remove_aside(&self.path);
        let all = self.with(false, |connection| {
            let programs = connection.execute("DELETE FROM programs", [])?;
            connection.execute("DELETE FROM spinners", [])?;
            connection.execute("DELETE FROM checked", [])?;
            // Erases the deleted rows from the file as well.
            connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
            Ok(programs)
        })?;
        Ok(all.unwrap_or(0))
    }

    /// Places where the user's programs spun for their own threads while folded, the latest last.
    pub fn spinners(&mut self) -> Result<Vec<String>, Error> {
        let list = self.with(false, |connection| {
            let mut statement =
                connection.prepare_cached("SELECT place FROM spinners ORDER BY seen DESC LIMIT ?1")?;
            good(statement.query_map([SPINNERS], |row| row.get::<_, String>(0))?)
        })?;
        let mut list = list.unwrap_or_default();
        list.reverse();
        Ok(list)
    }

    /// Saves a place as in [`Profiles::spinners`].
    pub fn keep_spinner(&mut self, place: &str, now_s: u64) -> Result<(), Error> {
        self.with(true, |connection| {
            connection.execute(
                "INSERT INTO spinners VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seen = excluded.seen",
                params![short(place), now_s.cast_signed()],
            )?;
            connection.execute(
                "DELETE FROM spinners WHERE place NOT IN (SELECT place FROM spinners ORDER BY seen DESC \
                 LIMIT ?1)",
                [SPINNERS],
            )
        })
        .map(drop)
    }

    fn is_at_its_limit(&mut self) -> bool {
        let pages = self.with(false, |connection| {
            connection.pragma_query_value(None, "page_count", |row| row.get::<_, u32>(0))
        });
        pages.is_ok_and(|pages| pages.is_some_and(|pages| pages >= MOST_PAGES - MOST_PAGES / 16))
    }

    /// Does `work` on the file; `None` if there is no file and `create` is not set.
    pub(crate) fn with<T>(
        &mut self,
        create: bool,
        work: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        let mut renews = self.renews;
        loop {
            let found = file::found(&self.path);
            match self.attempt(create, &work) {
                Err(Error::Damaged { .. } | Error::Version { .. }) if renews => {
                    renews = false;
                    self.file = None;
                    let aside = file::set_aside(&self.path, found)
                        .map_err(|source| Error::Io { path: self.path.clone(), source })?;
                    self.aside = aside.or(self.aside.take());
                }
                other => return other,
            }
        }
    }

    fn attempt<T>(
        &mut self,
        create: bool,
        work: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        if self.file.as_ref().is_none_or(|file| !file.is_at(&self.path)) {
            self.file = File::open(&self.path, create)?;
        }
        let Some(file) = &self.file else { return Ok(None) };
        let result = work(&file.connection).map_err(|e| file::error(&self.path, e));
        if matches!(result, Err(Error::Sqlite { .. } | Error::Damaged { .. })) {
            self.file = None;
        }
        result.map(Some)
    }
}

/// Skips rows with values of a wrong type; an SQLite error is returned.
pub(crate) fn good<T>(rows: impl Iterator<Item = rusqlite::Result<T>>) -> rusqlite::Result<Vec<T>> {
    let mut list = Vec::new();
    for row in rows {
        match row {
            Ok(row) => list.push(row),
            Err(e) if e.sqlite_error_code().is_some() => return Err(e),
            Err(_) => {}
        }
    }
    Ok(list)
}

pub(crate) fn short(text: impl Into<String>) -> String {
    let mut text = text.into();
    text.truncate(text.floor_char_boundary(TEXT));
    text
}

/// Leaves out regions and points with numbers out of range.
fn profile(connection: &Connection, id: i64) -> rusqlite::Result<Option<Profile>> {
    let head = "SELECT machine, executable, arguments, name, runs, seen, serial FROM programs WHERE id = ?1";
    let mut statement = connection.prepare_cached(head)?;
    let found = statement.query_map([id], |row| {
        let key = Key {
            machine: row.get(0)?,
            executable: row.get(1)?,
            arguments: row.get::<_, i64>(2)?.cast_unsigned(),
        };
        Ok(Profile {
            key,
            name: short(row.get::<_, String>(3)?),
            runs: row.get(4)?,
            seen_s: row.get::<_, i64>(5)?.max(0).cast_unsigned(),
            serial: share(row.get(6)?),
            other: BTreeMap::new(),
            regions: Vec::new(),
        })
    })?;
    let Some(mut profile) = good(found)?.into_iter().next() else { return Ok(None) };
    let mut statement =
        connection.prepare_cached("SELECT dop, seconds FROM other WHERE program = ?1 LIMIT ?2")?;
    let other = statement.query_map(params![id, POINTS], |row| Ok((row.get(0)?, share(row.get(1)?))))?;
    profile.other = good(other)?.into_iter().filter(|(dop, _)| DOPS.contains(dop)).collect();
    let regions = "SELECT id, module, address, marks, runs_per_s FROM regions WHERE program = ?1
        ORDER BY seen DESC, runs_per_s DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(regions)?;
    let regions = statement.query_map(params![id, REGIONS], |row| {
        let (address, runs_per_s): (i64, f64) = (row.get(2)?, row.get(4)?);
        let key = RegionKey {
            module: short(row.get::<_, String>(1)?),
            address: address.cast_unsigned(),
            marks: row.get(3)?,
        };
        Ok((
            row.get::<_, i64>(0)?,
            ProfiledRegion { key, runs_per_s: within(runs_per_s, 1e9), points: Vec::new() },
        ))
    })?;
    let points = "SELECT dop, seconds, error FROM points WHERE region = ?1 ORDER BY seen DESC, dop LIMIT ?2";
    let mut points = connection.prepare_cached(points)?;
    for (region_id, mut region) in good(regions)? {
        let found = points.query_map(params![region_id, POINTS], |row| {
            Ok(Point { dop: row.get(0)?, seconds: row.get(1)?, error_ratio: row.get(2)? })
        })?;
        region.points = good(found)?.into_iter().filter(makes_sense).collect();
        region.points.sort_by_key(|point| point.dop);
        if !region.points.is_empty() && region.key.address < ADDRESSES {
            profile.regions.push(region);
        }
    }
    profile.regions.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(Some(profile))
}

const DOPS: std::ops::RangeInclusive<u32> = 1..=65_535;
const ADDRESSES: u64 = 1 << 47;

fn within(value: f64, most: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, most) } else { 0.0 }
}

fn share(value: f64) -> f64 {
    within(value, 1.0)
}

fn makes_sense(point: &Point) -> bool {
    DOPS.contains(&point.dop)
        && (1e-9..=1e6).contains(&point.seconds)
        && (0.0..=1e6).contains(&point.error_ratio)
}

/// Rows that this run doesn't know stay: two runs of a program may be on at a time.
fn write(transaction: &Transaction, profile: &Profile, fresh: bool) -> rusqlite::Result<()> {
    let (key, now) = (&profile.key, profile.seen_s.cast_signed());
    let id: i64 = transaction.query_row(
        "INSERT INTO programs (machine, executable, arguments, name, runs, seen, serial)
         VALUES (?1, ?2, ?3, ?4, 1, ?6, ?7)
         ON CONFLICT DO UPDATE SET name = ?4, runs = min(runs + ?5, 1000000000), seen = ?6, serial = ?7
         RETURNING id",
        params![
            key.machine,
            key.executable,
            key.arguments.cast_signed(),
            short(&profile.name),
            fresh,
            now,
            share(profile.serial)
        ],
        |row| row.get(0),
    )?;
    transaction.execute("DELETE FROM other WHERE program = ?1", [id])?;
    let mut other = transaction.prepare_cached("INSERT INTO other VALUES (?1, ?2, ?3)")?;
    for (dop, seconds) in profile.other.iter().take(POINTS as usize) {
        other.execute(params![id, dop, share(*seconds)])?;
    }
    let mut region = transaction.prepare_cached(
        "INSERT INTO regions (program, module, address, marks, runs_per_s, seen) VALUES (?1, ?2, ?3, ?4, \
         ?5, ?6)
         ON CONFLICT DO UPDATE SET runs_per_s = ?5, seen = ?6 RETURNING id",
    )?;
    let mut point = transaction.prepare_cached(
        "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET seconds = ?3, error = ?4, seen = ?5",
    )?;
    let mut trim = transaction.prepare_cached(
        "DELETE FROM points WHERE region = ?1
         AND dop NOT IN (SELECT dop FROM points WHERE region = ?1 ORDER BY seen DESC, dop LIMIT ?2)",
    )?;
    for known in profile.regions.iter().take(REGIONS as usize) {
        let key = &known.key;
        let runs_per_s = within(known.runs_per_s, 1e9);
        let region: i64 = region.query_row(
            params![id, short(&key.module), key.address.cast_signed(), key.marks, runs_per_s, now],
            |row| row.get(0),
        )?;
        for known in known.points.iter().filter(|point| makes_sense(point)) {
            point.execute(params![region, known.dop, known.seconds, known.error_ratio, now])?;
        }
        trim.execute(params![region, POINTS])?;
    }
    transaction.execute(
        "DELETE FROM regions WHERE program = ?1 AND id NOT IN
         (SELECT id FROM regions WHERE program = ?1 ORDER BY seen DESC, runs_per_s DESC LIMIT ?2)",
        params![id, REGIONS],
    )?;
    if fresh {
        transaction.execute(
            "DELETE FROM programs WHERE seen < ?1
             OR id NOT IN (SELECT id FROM programs ORDER BY seen DESC, id DESC LIMIT ?2)",
            params![profile.seen_s.saturating_sub(DAYS_S).cast_signed(), PROGRAMS],
        )?;
    }
    Ok(())
}
