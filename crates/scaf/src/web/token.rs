//! The token that each request over TCP needs: 128 random bits.

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Shorter ones might be guessed.
const SHORTEST: usize = 16;

/// A new one.
/// # Errors
/// The system has no random numbers.
pub fn random() -> Result<String> {
    let mut bytes = [0u8; 16];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty()).context("random numbers")?;
    ensure!(filled == bytes.len(), "too few random numbers");
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The one in that file, which is made if there is none, for its owner only.
/// # Errors
/// It can't be read or made, somebody else may know or choose what is in it, or that is no token.
pub fn in_file(path: &Path) -> Result<String> {
    let about = || path.display().to_string();
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let token = random()?;
            writeln!(file, "{token}").with_context(about)?;
            return Ok(token);
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(about),
    }
    // A link is somebody's choice of a file; a FIFO would be waited for.
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(careful.bits() as i32).open(path);
    let file = match opened {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            bail!("{}: a symbolic link isn't followed; name the file itself", about())
        }
        opened => opened.with_context(about)?,
    };
    is_ours(&file.metadata().with_context(about)?).with_context(about)?;
    let mut text = String::new();
    file.take(1_000).read_to_string(&mut text).with_context(about)?;
    let token = text.trim();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    if token.len() < SHORTEST || !token.chars().all(fits) {
        bail!("{}: a token has {SHORTEST} letters and digits or more, and nothing else", about());
    }
    Ok(token.to_owned())
}

/// Whether nobody but we and root knows or chooses what is in a file.
fn is_ours(file: &Metadata) -> Result<()> {
    ensure!(file.is_file(), "not a file; name another one");
    let (owner, own) = (file.uid(), geteuid().as_raw());
    ensure!(
        owner == own || owner == 0,
        "user {owner} owns this file and may know the token; remove it, and a new one is made"
    );
    ensure!(file.mode() & 0o022 == 0, "other users may write to this file; remove it, and a new one is made");
    ensure!(file.mode() & 0o004 == 0, "all users may read this file; remove it, and a new one is made");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn each_is_another_one() {
        let (a, b) = (random().unwrap(), random().unwrap());
        assert!(a != b && a.len() == 32);
    }

    #[test]
    fn a_files_token_stays_and_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let token = in_file(&file).unwrap();
        assert_eq!(in_file(&file).unwrap(), token);
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        for (wrong, why) in [(0o644, "all users may read"), (0o620, "may write"), (0o602, "may write")] {
            mode(wrong);
            assert!(format!("{:#}", in_file(&file).unwrap_err()).contains(why), "{wrong:o}");
        }
        mode(0o640);
        assert_eq!(in_file(&file).unwrap(), token);
        for wrong in ["", "short", "0123456789abcdef\r\nx"] {
            std::fs::write(&file, wrong).unwrap();
            assert!(in_file(&file).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_somebody_else_may_have_put_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("token"), folder.path().join("other"));
        in_file(&other).unwrap();
        let why = |file: &Path| format!("{:#}", in_file(file).unwrap_err());
        std::os::unix::fs::symlink(&other, &file).unwrap();
        assert!(why(&file).contains("name the file itself"));
        // Nor is one made at the end of a link.
        std::fs::remove_file(&other).unwrap();
        assert!(why(&file).contains("name the file itself") && !other.exists());
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(why(&file).contains("not a file"));
    }
}
