//! `scaf cdi`: the client library and the daemon's socket as a device for containers.
//!
//! A CDI specification (Container Device Interface, CNCF) says what a container gets with a device: here two
//! mounts, and the variables that `scaf run` would set. The socket's folder is mounted, not the socket,
//! because a restarted daemon makes a new one in it.

use crate::{cli, launch, whole_file};
use anyhow::{Context, Result, anyhow, bail};
use scafd::paths::{self, Scope};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The oldest version that has all that we need; podman 4.3 reads no newer one.
const VERSION: &str = "0.5.0";
const KIND: &str = "scaf.dev/host";
/// Where the library is in a container; a folder that images don't have.
const LIBRARY: &str = "/opt/scaf/libscaf.so";
/// What else is loaded in a container: before glibc 2.34 functions that the library calls are in these. From
/// then on they are there, and empty.
const OLD_GLIBC: &str = "libpthread.so.0:libdl.so.2";
/// Filters of system calls that a container's runtime puts its programs under: the profile that podman and
/// Docker have by default, which refuses calls with an error (`crates/scaf/src/filters.rs`).
const FILTERS: &str = "1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    cdi_version: &'static str,
    kind: &'static str,
    devices: [Device; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    name: &'static str,
    container_edits: Edits,
}

#[derive(Serialize)]
struct Edits {
    env: Vec<String>,
    mounts: [Mount; 2],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mount {
    host_path: String,
    container_path: String,
    options: [&'static str; 4],
}

/// Carries out `scaf cdi`.
/// # Errors
/// A path that isn't there or can't be mounted, or a file that can't be written.
pub fn run(flags: &cli::Cdi) -> Result<ExitCode> {
    let library = launch::library().map_err(|why| anyhow!(why))?;
    let socket = flags.socket.clone().unwrap_or_else(|| paths::socket(Scope::System));
    let text = serde_json::to_string_pretty(&spec(&library, &socket)?)? + "\n";
    match &flags.write {
        None => crate::output::print(&text)?,
        Some(file) => write(file, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn spec(library: &Path, socket: &Path) -> Result<Spec> {
    let host = |path: &Path| match path.to_str().filter(|_| path.is_absolute()) {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{}: a container's mounts need an absolute path in UTF-8", path.display()),
    };
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        bail!("{}: --socket takes a socket's path", socket.display());
    };
    // Programs find the system's socket without a variable, because its path is the same everywhere.
    let place = Path::new(paths::SYSTEM_SOCKET).with_file_name(name);
    let inside = place.parent().unwrap_or(Path::new("/")).display().to_string();
    let mount = |host_path, container_path| Mount {
        host_path,
        container_path,
        options: ["ro", "nosuid", "nodev", "rbind"],
    };
    let edits = Edits {
        env: [
            ("LD_PRELOAD", format!("{LIBRARY}:{OLD_GLIBC}")),
            (crate::daemon::SOCKET_VARIABLE, place.display().to_string()),
            ("SCAF_FILTERS", FILTERS.to_owned()),
        ]
        .map(|(name, value)| format!("{name}={value}"))
        .to_vec(),
        mounts: [mount(host(library)?, LIBRARY.to_owned()), mount(host(folder)?, inside)],
    };
    let devices = [Device { name: "all", container_edits: edits }];
    Ok(Spec { cdi_version: VERSION, kind: KIND, devices })
}

/// A runtime may be reading it.
fn write(file: &Path, text: &str) -> Result<()> {
    let about = || format!("can't write {}; is root needed?", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(about)?;
    }
    whole_file::replace(file, text).with_context(about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_the_library_the_sockets_folder_and_what_scaf_run_would_set() {
        let spec = spec(Path::new("/usr/lib/scaf/libscaf.so"), Path::new("/srv/scaf/d.sock")).unwrap();
        let json = serde_json::to_value(spec).unwrap();
        assert_eq!((&json["cdiVersion"], &json["kind"]), (&"0.5.0".into(), &"scaf.dev/host".into()));
        let edits = &json["devices"][0]["containerEdits"];
        assert_eq!(edits["env"][0], "LD_PRELOAD=/opt/scaf/libscaf.so:libpthread.so.0:libdl.so.2");
        assert_eq!(edits["env"][1], "SCAF_SOCKET=/run/scaf/d.sock");
        assert_eq!(edits["mounts"][0]["containerPath"], "/opt/scaf/libscaf.so");
        assert_eq!(edits["mounts"][1]["hostPath"], "/srv/scaf");
        assert_eq!(edits["mounts"][1]["containerPath"], "/run/scaf");
        assert!(edits.get("deviceNodes").is_none());
    }

    #[test]
    fn relative_paths_are_refused() {
        assert!(spec(Path::new("libscaf.so"), Path::new("/s/x")).is_err());
        assert!(spec(Path::new("/l"), Path::new("x.sock")).is_err());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_all_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cdi/scaf.json");
        for text in ["first\n", "second\n"] {
            write(&file, text).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }
}
