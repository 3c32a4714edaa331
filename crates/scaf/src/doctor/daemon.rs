//! The daemon, or why there is none and the command that fixes it.

use crate::daemon::{self, Absent};
use crate::mend::{self, Missing};
use crate::output::count;
use scafd::config::Config;
use scafd::control::CountersAre;
use scafd::paths;
use scafd::verdicts;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Serialize)]
pub struct Daemon {
    socket: PathBuf,
    scope: String,
    version: String,
    policy: String,
    capacity: u32,
    pub counters: CountersAre,
    programs: usize,
    /// The message if its protocol differs from our client library's.
    pub other_version: Option<String>,
}

impl Daemon {
    pub fn text(&self) -> String {
        let other = self.other_version.as_ref().map_or_else(String::new, |it| format!("; {it}"));
        format!(
            "{} {} at {}: policy {}, capacity {}, {} managed{other}",
            self.scope,
            self.version,
            self.socket.display(),
            self.policy,
            self.capacity,
            count(self.programs, "program")
        )
    }
}

pub fn find() -> Result<Daemon, Missing> {
    let socket = daemon::find().map_err(|absent| none(&absent))?;
    let snapshot = daemon::snapshot(&socket).map_err(|error| match daemon::other_version(&socket) {
        Some(other) => Missing { why: other.said(), mend: Some(other.mend) },
        // The error names the command.
        None => Missing { why: format!("{error:#}"), mend: None },
    })?;
    Ok(Daemon {
        other_version: daemon::other_version(&socket).map(|other| other.to_string()),
        socket,
        scope: snapshot.scope,
        version: snapshot.version,
        policy: snapshot.policy,
        capacity: snapshot.capacity,
        counters: snapshot.counters,
        programs: snapshot.programs.len(),
    })
}

fn none(absent: &[(PathBuf, Absent)]) -> Missing {
    let why = daemon::explain(absent);
    if daemon::named_socket().is_some() {
        let variable = daemon::SOCKET_VARIABLE;
        let why = format!("none, and {variable} names that place ({why})");
        Missing { why, mend: Some(format!("unset {variable}")) }
    } else if absent.iter().any(|(_, why)| matches!(why, Absent::Foreign(_))) {
        let own = rustix::process::getuid().as_raw();
        Missing { why, mend: Some(format!("export XDG_RUNTIME_DIR=/run/user/{own}")) }
    } else if absent.iter().any(|(_, why)| matches!(why, Absent::Forbidden)) {
        Missing { why, mend: None }
    } else if let Some((socket, _)) = absent.iter().find(|(_, why)| matches!(why, Absent::Unreachable(_))) {
        Missing { why, mend: daemon::restart(socket) }
    } else if daemon::beside_us("scafd").is_none() {
        let why = "none, and there is no scafd beside scaf or in ../lib/scaf to start".into();
        Missing { why, mend: Some(mend::reinstall()) }
    } else if let Some(wrong) = wrong_configuration(Path::new(paths::CONFIG)) {
        wrong
    } else if absent.iter().any(|(socket, _)| socket == Path::new(paths::SYSTEM_SOCKET))
        && mend::is_service_enabled()
    {
        let why = "none for all users, though its service is enabled".into();
        Missing { why, mend: Some("sudo systemctl restart scafd.socket".into()) }
    } else {
        Missing { why: format!("none yet; scaf run starts one ({why})"), mend: None }
    }
}

/// Whether a daemon could start.
pub fn can_start() -> bool {
    wrong_configuration(Path::new(paths::CONFIG)).is_none()
}

/// An error in the configuration, or in the verdict file that it names: no daemon starts with one.
fn wrong_configuration(file: &Path) -> Option<Missing> {
    let config = file.exists().then(|| Config::load(file))?;
    let (wrong, error) = match config {
        Err(error) => (file.to_owned(), error.to_string()),
        Ok(config) => {
            let named = config.verdicts?;
            let error = verdicts::load(&named).err()?;
            (named, error.to_string())
        }
    };
    Some(Missing {
        why: format!("none, and none can start: {error}"),
        mend: Some(format!("sudoedit {}", wrong.display())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_socket_is_avoided_by_a_folder_of_ones_own() {
        let missing = none(&[("/run/user/7/scaf/scafd.sock".into(), Absent::Foreign(7))]);
        assert!(missing.mend.is_some_and(|it| it.starts_with("export XDG_RUNTIME_DIR=/run/user/")));
    }

    #[test]
    fn an_error_in_the_configuration_is_shown_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scafd.toml");
        assert!(wrong_configuration(&file).is_none());
        std::fs::write(&file, "policy = 'equi'\n").unwrap();
        assert!(wrong_configuration(&file).is_none());
        std::fs::write(&file, "policy = 'equi'\npolciy = 1\n").unwrap();
        let missing = wrong_configuration(&file).unwrap();
        assert!(missing.why.contains(":2") && missing.why.contains("polciy"), "{}", missing.why);
        assert_eq!(missing.mend, Some(format!("sudoedit {}", file.display())));
        let verdicts = folder.path().join("verdicts.toml");
        std::fs::write(&file, format!("verdicts = '{}'\n", verdicts.display())).unwrap();
        std::fs::write(&verdicts, "verdict = 3\n").unwrap();
        assert_eq!(
            wrong_configuration(&file).unwrap().mend,
            Some(format!("sudoedit {}", verdicts.display()))
        );
    }
}
