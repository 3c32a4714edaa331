//! The token that each request over TCP needs: 128 random bits.

use anyhow::{Context, Result, bail, ensure};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{File, OpenOptions};
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
/// It can't be read or made, others may read it, or what is in it is no token.
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
    let file = File::open(path).with_context(about)?;
    let others = file.metadata().with_context(about)?.mode() & 0o007;
    ensure!(others == 0, "{}: all users may read this file; see chmod", about());
    let mut text = String::new();
    file.take(1_000).read_to_string(&mut text).with_context(about)?;
    let token = text.trim();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    if token.len() < SHORTEST || !token.chars().all(fits) {
        bail!("{}: a token has {SHORTEST} letters and digits or more, and nothing else", about());
    }
    Ok(token.to_owned())
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
        mode(0o644);
        assert!(in_file(&file).unwrap_err().to_string().contains("all users may read"));
        mode(0o640);
        assert_eq!(in_file(&file).unwrap(), token);
        for wrong in ["", "short", "0123456789abcdef\r\nx"] {
            std::fs::write(&file, wrong).unwrap();
            assert!(in_file(&file).is_err(), "{wrong}");
        }
    }
}
