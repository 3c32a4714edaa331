//! Accounts of a cluster's jobs: slurmdbd with a database of its own. They end when this is dropped.

use super::slurm::free_ports;
use super::{Setup, skip, wait_for};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

pub struct Accounts {
    port: u16,
    folder: PathBuf,
    database: Child,
    slurmdbd: Option<Child>,
}

const NEEDED: [&str; 3] = ["/usr/sbin/slurmdbd", "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"];

impl Accounts {
    /// `None`, with the reason printed, where they can't be had. munged listens in `folder`.
    pub(super) fn start(setup: &Setup, folder: &Path) -> Option<Accounts> {
        if let Some(missing) = NEEDED.iter().find(|file| !Path::new(file).exists()) {
            skip::skipped(&format!("{missing} (scripts/setup.sh tests)"));
            return None;
        }
        let [port, own_port] = free_ports();
        let data = folder.join("data");
        let files = format!("--datadir={}", data.display());
        let own = ["--no-defaults", &files, "--user=root"];
        let log =
            || std::fs::File::options().create(true).append(true).open(folder.join("said")).expect("a log");
        let silent = |program: &str| {
            let mut command = setup.command(Path::new(program));
            command.stdin(Stdio::null()).stdout(log()).stderr(log());
            command
        };
        let made = silent("/usr/bin/mariadb-install-db")
            .args(own)
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .status();
        assert!(made.expect("mariadb-install-db").success(), "no database could be made");
        let database = silent("/usr/sbin/mariadbd")
            .args(own)
            .arg(format!("--socket={}", folder.join("sql").display()))
            .arg(format!("--pid-file={}", folder.join("sql.pid").display()))
            .args(["--bind-address=127.0.0.1", &format!("--port={own_port}"), "--skip-name-resolve"])
            .spawn()
            .expect("mariadbd");
        let mut accounts = Accounts { port, folder: folder.to_owned(), database, slurmdbd: None };
        wait_for("the database listens", || listens(own_port));
        let at = folder.display();
        let text = format!(
            "AuthType=auth/munge\n\
             AuthInfo=socket={at}/munge.sock\n\
             DbdHost=localhost\n\
             DbdPort={port}\n\
             SlurmUser=root\n\
             LogFile={at}/slurmdbd.log\n\
             PidFile={at}/slurmdbd.pid\n\
             StorageType=accounting_storage/mysql\n\
             StorageHost=127.0.0.1\n\
             StoragePort={own_port}\n\
             StorageUser=root\n",
        );
        let file = folder.join("slurmdbd.conf");
        std::fs::write(&file, text).expect("slurmdbd.conf");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("chmod");
        let slurmdbd =
            silent("/usr/sbin/slurmdbd").arg("-D").env("SLURM_CONF", folder.join("slurm.conf")).spawn();
        accounts.slurmdbd = Some(slurmdbd.expect("slurmdbd"));
        wait_for("slurmdbd listens", || listens(port));
        Some(accounts)
    }

    pub(super) fn settings(&self) -> String {
        format!(
            "AccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageHost=127.0.0.1\n\
             AccountingStoragePort={}\n\
             AccountingStoragePass={}/munge.sock\n",
            self.port,
            self.folder.display()
        )
    }
}

fn listens(port: u16) -> Option<()> {
    std::net::TcpStream::connect(("127.0.0.1", port)).ok().map(drop)
}

impl Drop for Accounts {
    fn drop(&mut self) {
        for child in self.slurmdbd.iter_mut().chain([&mut self.database]) {
            super::setup::end(child);
        }
        if std::thread::panicking() {
            let text = std::fs::read_to_string(self.folder.join("slurmdbd.log")).unwrap_or_default();
            eprintln!("slurmdbd.log:\n{text}");
        }
    }
}
