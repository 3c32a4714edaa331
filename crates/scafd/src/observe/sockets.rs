//! Whether others may wait for a process.

use super::files::read_text;
use super::proc_pid::Process;
use std::collections::BTreeSet;
use std::fs::{read_dir, read_link};

/// Most descriptors of a process that are looked at.
const MOST_DESCRIPTORS: usize = 4096;
/// A listening socket's state in `/proc/net/tcp`.
const LISTEN: &str = "0A";
/// The flag of a socket that accepts, in `/proc/net/unix`.
const ACCEPTS: u64 = 0x1_0000;

/// Whether it listens on a socket; `None` where its descriptors can't be read.
pub fn listens(process: &Process) -> Option<bool> {
    let entries = read_dir(process.folder().join("fd")).ok()?;
    let names = entries.flatten().take(MOST_DESCRIPTORS).filter_map(|entry| read_link(entry.path()).ok());
    let inode = |name: &str| name.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok();
    let own: BTreeSet<u64> = names.filter_map(|name| inode(name.to_str()?)).collect();
    if own.is_empty() {
        return Some(false);
    }
    let read = |name: &str| read_text(process.folder().join("net").join(name)).unwrap_or_default();
    let of_internet = ["tcp", "tcp6"].into_iter().flat_map(|name| listening_tcp(&read(name)));
    let mut all = of_internet.chain(listening_unix(&read("unix")));
    Some(all.any(|inode| own.contains(&inode)))
}

fn listening_tcp(table: &str) -> Vec<u64> {
    inodes(table, 9, |fields| Some(*fields.get(3)? == LISTEN))
}

fn listening_unix(table: &str) -> Vec<u64> {
    inodes(table, 6, |fields| Some(u64::from_str_radix(fields.get(3)?, 16).ok()? & ACCEPTS != 0))
}

/// The inodes, in that column, of a table's sockets that listen.
fn inodes(table: &str, column: usize, listens: impl Fn(&[&str]) -> Option<bool>) -> Vec<u64> {
    let of = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        listens(&fields)?.then_some(fields.get(column)?.parse().ok()?)
    };
    table.lines().skip(1).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    #[test]
    fn listening_sockets_are_told_from_others() {
        let tcp = "  sl local_address rem_address st queues when retrnsmt uid timeout inode\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1 0\n\
             1: 0100007F:1F90 0100007F:0050 01 00000000:00000000 00:00000000 00000000 0 0 4712 1 0\n short\n";
        assert_eq!(listening_tcp(tcp), [4711]);
        let unix = "Num       RefCount Protocol Flags    Type St Inode Path\n\
             0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/x\n\
             0000000000000000: 00000003 00000000 00000000 0001 03 22\n short\n";
        assert_eq!(listening_unix(unix), [21]);
    }

    #[test]
    fn a_process_that_listens_is_found() {
        let path = std::env::temp_dir().join(format!("scaf-listens-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let _ = std::fs::remove_file(&path);
        assert_eq!(listens(&Process::new(Path::new("/"), std::process::id())), Some(true));
        drop(listener);
        assert_eq!(listens(&Process::new(Path::new("/"), u32::MAX)), None, "nothing is known of it");
    }
}
