use crate::Error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::fs::statfs;
use std::fs::{DirBuilder, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const VERSION: i64 = 1;
/// How long to wait for another process that writes; keeping a profile takes about 5 ms.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most pages of 4 KiB in a file (16 MiB); a program with 20 regions at 3 DoPs takes 5 KB.
pub(crate) const MOST_PAGES: u32 = 4096;
/// File systems without the shared memory that WAL needs: NFS, CIFS, SMB2, 9p, FUSE.
const REMOTE: [i64; 5] = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546];

const TABLES: &str = "
    CREATE TABLE programs (
        id INTEGER PRIMARY KEY,
        machine TEXT NOT NULL,
        executable TEXT NOT NULL,
        arguments INTEGER NOT NULL,
        name TEXT NOT NULL,
        runs INTEGER NOT NULL,
        seen INTEGER NOT NULL,
        serial REAL NOT NULL,
        UNIQUE (machine, executable, arguments)
    ) STRICT;
    CREATE TABLE other (
        program INTEGER NOT NULL REFERENCES programs ON DELETE CASCADE,
        dop INTEGER NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (program, dop)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE regions (
        id INTEGER PRIMARY KEY,
        program INTEGER NOT NULL REFERENCES programs ON DELETE CASCADE,
        module TEXT NOT NULL,
        address INTEGER NOT NULL,
        marks INTEGER NOT NULL,
        runs_per_s REAL NOT NULL,
        seen INTEGER NOT NULL,
        UNIQUE (program, module, address, marks)
    ) STRICT;
    CREATE TABLE points (
        region INTEGER NOT NULL REFERENCES regions ON DELETE CASCADE,
        dop INTEGER NOT NULL,
        seconds REAL NOT NULL,
        error REAL NOT NULL,
        seen INTEGER NOT NULL,
        PRIMARY KEY (region, dop)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE spinners (place TEXT PRIMARY KEY, seen INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

/// Not there in files of earlier builds, to which it is added.
const CHECKED: &str = "
    CREATE TABLE IF NOT EXISTS checked (
        executable TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        resizable INTEGER NOT NULL,
        date TEXT NOT NULL,
        runs INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

pub(crate) struct File {
    pub(crate) connection: Connection,
    identity: (u64, u64),
}

impl File {
    /// Opens the file at `path`, and makes it first if there is none and `create` is set.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Option<File>, Error> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        if create {
            make(path).map_err(failed)?;
        }
        let Some(identity) = identity(path).map_err(failed)? else { return Ok(None) };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let _alone = alone(path);
        let connection = Connection::open_with_flags(path, flags).map_err(|e| error(path, e))?;
        let version = prepare(&connection, path).map_err(|e| error(path, e))?;
        if version != VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, known: VERSION });
        }
        Ok(Some(File { connection, identity }))
    }

    /// Whether this is still the file at `path`: its user may have removed it.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        identity(path).is_ok_and(|now| now == Some(self.identity))
    }
}

/// Makes the tables if there are none, and returns the file's version.
fn prepare(connection: &Connection, path: &Path) -> rusqlite::Result<i64> {
    connection.busy_timeout(PATIENCE)?;
    // Else statements are prepared anew whenever another value is bound to them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let remote = statfs(path).is_ok_and(|fs| REMOTE.contains(&fs.f_type));
    let journal = if remote { "TRUNCATE" } else { "WAL" };
    connection.pragma_update(None, "journal_mode", journal)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "max_page_count", MOST_PAGES)?;
    let version = |of: &Connection| of.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    match version(connection)? {
        0 => {}
        VERSION => {
            connection.execute_batch(CHECKED)?;
            return Ok(VERSION);
        }
        other => return Ok(other),
    }
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version(&transaction)? == 0 && tables == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(CHECKED)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    version(connection)
}

/// Holds a lock on the folder. SQLite fails where several processes turn to WAL at the same time, in a new
/// file: busy at once, whatever its timeout, or with an error of the rollback journal, which another one
/// removed. A file system without locks has none, and whoever waits in vain goes on without.
fn alone(path: &Path) -> Option<std::fs::File> {
    let folder = std::fs::File::open(path.parent()?).ok()?;
    let start = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return None,
        }
    }
}

/// Makes an empty file, and its folder, for its user only.
fn make(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(Some((about.dev(), about.ino()))),
        Ok(_) => Err(io::Error::other("is not a regular file; remove it")),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Renames an unusable file and returns its new path, replacing an earlier one there. `found` is the identity
/// that the file had when it turned out unusable: another process may have put a good one in its place since.
pub(crate) fn set_aside(path: &Path, found: Option<(u64, u64)>) -> io::Result<Option<PathBuf>> {
    if found.is_none() || identity(path)? != found {
        return Ok(None);
    }
    let aside = with(path, ".broken");
    std::fs::rename(path, &aside)?;
    for side in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::rename(with(path, side), with(&aside, side));
    }
    Ok(Some(aside))
}

pub(crate) fn remove_aside(path: &Path) {
    let aside = with(path, ".broken");
    for side in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(with(&aside, side));
    }
}

/// The identity of the file at `path`, for [`set_aside`].
pub(crate) fn found(path: &Path) -> Option<(u64, u64)> {
    identity(path).ok().flatten()
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

pub(crate) fn error(path: &Path, source: rusqlite::Error) -> Error {
    let path = path.to_owned();
    let code = match &source {
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        other => other.sqlite_error_code(),
    };
    match code {
        // These statements fit these tables and violate no constraint: such an error means foreign or damaged
        // tables. `Unknown` is a missing table or column.
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::SchemaChanged
            | ErrorCode::Unknown,
        ) => Error::Damaged { path, source },
        Some(ErrorCode::DiskFull) => Error::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path },
        _ => Error::Sqlite { path, source },
    }
}
