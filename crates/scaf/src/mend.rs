//! The command that fixes a problem, for `scaf doctor` and warnings.

use scafd::paths::{self, Scope};
use serde::Serialize;
use std::path::Path;

/// What is missing, and the command that fixes it, if there is one.
#[derive(Debug, Serialize)]
pub struct Missing {
    pub why: String,
    pub mend: Option<String>,
}

impl Missing {
    pub fn text(&self) -> String {
        mended(&self.why, self.mend.as_deref())
    }
}

/// A message with the command that fixes it.
pub fn mended(said: &str, command: Option<&str>) -> String {
    command.map_or_else(|| said.to_owned(), |command| format!("{said}; mend it with: {command}"))
}

/// Restarts the daemon at `socket`; `pid` listens there, if known.
pub fn restart(socket: &Path, pid: Option<u32>) -> Option<String> {
    if socket == paths::socket(Scope::System) {
        return Some("sudo systemctl restart scafd".into());
    }
    let name = std::fs::read_to_string(format!("/proc/{}/comm", pid?)).unwrap_or_default();
    // SIGKILL, since it may be stopped; the next scaf run starts another one.
    let by_systemd = name.trim() == "systemd";
    Some(if by_systemd { "systemctl --user restart scafd".into() } else { format!("kill -9 {}", pid?) })
}

/// Whether systemd's unit for the daemon for all users is enabled.
pub fn is_service_enabled() -> bool {
    let wanted = Path::new("/etc/systemd/system/sockets.target.wants/scafd.socket");
    Path::new("/run/systemd/system").is_dir() && wanted.exists()
}

fn is_service_installed() -> bool {
    let folders = ["/usr/lib", "/lib", "/usr/local/lib", "/etc"];
    folders.iter().any(|folder| Path::new(folder).join("systemd/system/scafd.socket").exists())
}

/// Starts a daemon for all users, from `daemon` if no service is installed. `None` if there is one, and for
/// root, whose session daemon has the same rights.
pub fn daemon_of_roots(daemon: Option<&Path>) -> Option<String> {
    if rustix::process::geteuid().is_root() || paths::socket(Scope::System).exists() {
        None
    } else if is_service_installed() {
        Some("sudo systemctl enable --now scafd.socket".into())
    } else {
        Some(format!("sudo {} --system", daemon?.display()))
    }
}

/// Reinstalls the files that belong beside the running executable, always from a local file: in a package
/// index somebody else may have the name.
pub fn reinstall() -> String {
    let exe = std::env::current_exe().unwrap_or_default();
    reinstall_of(&exe)
}

fn reinstall_of(exe: &Path) -> String {
    let above = |levels: usize| exe.ancestors().nth(levels).unwrap_or(Path::new("/"));
    // PREFIX/bin/scaf, and CHECKOUT/target/release/scaf.
    let (prefix, checkout) = (above(2), above(3));
    if checkout.join("crates/scaf").is_dir() {
        format!("make -C {} build", checkout.display())
    } else if is_of_pip(prefix) {
        let wheel = "./scaf-*.whl";
        let python = prefix.join("bin/python");
        if prefix.join("uv-receipt.toml").exists() {
            format!("uv tool install --force {wheel}")
        } else if python.exists() {
            format!("{} -m pip install --force-reinstall {wheel}", python.display())
        } else {
            // Of the system's Python, for all or with --user.
            format!("python3 -m pip install --force-reinstall {wheel}")
        }
    } else if prefix == Path::new("/usr") {
        "sudo apt install --reinstall ./scaf_*_amd64.deb".into()
    } else {
        format!("cd CHECKOUT && make build && sudo make install PREFIX={}", prefix.display())
    }
}

/// Whether a Python below the prefix has scaf installed.
fn is_of_pip(prefix: &Path) -> bool {
    let folders = |of: &Path| std::fs::read_dir(of).into_iter().flatten().flatten();
    let is_ours = |packages: &Path| {
        folders(packages).any(|package| {
            let name = package.file_name();
            let name = name.to_string_lossy();
            name.starts_with("scaf-") && name.ends_with(".dist-info")
        })
    };
    // Debian's Python has another folder for what pip installs.
    folders(&prefix.join("lib")).any(|python| {
        ["site-packages", "dist-packages"].iter().any(|folder| is_ours(&python.path().join(folder)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_started_anew_by_whoever_started_it() {
        let system = restart(&paths::socket(Scope::System), None);
        assert_eq!(system.as_deref(), Some("sudo systemctl restart scafd"));
        let (session, own) = (Path::new("/run/user/1/scaf/scafd.sock"), std::process::id());
        assert_eq!(restart(session, Some(own)), Some(format!("kill -9 {own}")));
        assert_eq!(restart(session, None), None);
    }

    #[test]
    fn we_are_installed_again_as_we_were_installed_and_from_no_index() {
        let of_pip = "-m pip install --force-reinstall ./scaf-*.whl";
        let package = "sudo apt install --reinstall ./scaf_*_amd64.deb";
        assert_eq!(reinstall_of(Path::new("/usr/bin/scaf")), package);
        let folder = tempfile::tempdir().unwrap();
        let (root, at) = (folder.path(), folder.path().display());
        let again = || reinstall_of(&root.join("bin/scaf"));
        assert_eq!(again(), format!("cd CHECKOUT && make build && sudo make install PREFIX={at}"));
        std::fs::create_dir_all(root.join("lib/python3.11/dist-packages/scaf-0.2.0.dist-info")).unwrap();
        assert_eq!(again(), format!("python3 {of_pip}"));
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/python"), "").unwrap();
        assert_eq!(again(), format!("{at}/bin/python {of_pip}"));
        std::fs::write(root.join("uv-receipt.toml"), "").unwrap();
        assert_eq!(again(), "uv tool install --force ./scaf-*.whl");
        std::fs::create_dir_all(root.join("crates/scaf")).unwrap();
        assert_eq!(reinstall_of(&root.join("target/release/scaf")), format!("make -C {at} build"));
    }
}
