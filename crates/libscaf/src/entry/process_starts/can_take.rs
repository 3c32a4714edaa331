//! Whether the client library can be preloaded into a program: a 64-bit one for this processor whose loader
//! is glibc's. `scaf run` decides the same for the program that it starts (`crates/scaf/src/target.rs`).

use crate::runtimes::linker::base_name;
use crate::sys::errno::keeping_errno;
use crate::sys::file::File;
use crate::sys::glibc::fstat;
use core::ffi::CStr;

/// Longest path that is looked at.
pub const PATH: usize = 4096;
/// Linux follows interpreters of interpreters four deep.
const DEPTH: usize = 5;
/// Most headers of a program that are looked at, and bytes of one.
const HEADERS: usize = 64;
const HEADER: usize = size_of::<libc::Elf64_Phdr>();
/// Bytes that are read at first.
const HEAD: usize = 1_024;
/// How the names of glibc's loaders begin.
const LOADERS: [&[u8]; 4] = [b"ld-linux", b"ld-2.", b"ld-lsb", b"ld.so"];

/// A program as it is asked for.
#[derive(Clone, Copy)]
pub enum Program<'p> {
    /// By its path.
    At(&'p CStr),
    /// By its name, to be searched for in these folders, with colons between them.
    Named(&'p CStr, &'p [u8]),
}

/// Whether it is known that the client library can't be preloaded into the program. What nobody can read, and
/// what isn't a program of a known format, is as it was before.
pub fn is_foreign(program: Program<'_>) -> bool {
    find(program).and_then(|(file, is_loader)| look(file, is_loader)).unwrap_or(false)
}

/// The program's file, and whether it is called as a loader.
fn find(program: Program<'_>) -> Option<(File, bool)> {
    let (name, folders) = match program {
        Program::At(path) => return Some((open(path)?, is_loader(base_name(path)))),
        Program::Named(name, folders) => (name.to_bytes(), folders),
    };
    let mut room = [0u8; PATH];
    folders.split(|byte| *byte == b':').find_map(|folder| {
        let path = join(folder, name, &mut room)?;
        // Others are passed over, as by the C library.
        let file = open(path).filter(is_executable)?;
        Some((file, is_loader(name)))
    })
}

fn open(path: &CStr) -> Option<File> {
    // A pipe of that name must not have us wait for its other end.
    File::open(path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY)
}

/// Whether it is a file that somebody may execute.
fn is_executable(file: &File) -> bool {
    let about = keeping_errno(|| fstat(file.descriptor()));
    about.is_some_and(|about| about.st_mode & libc::S_IFMT == libc::S_IFREG && about.st_mode & 0o111 != 0)
}

/// A file in a folder; an empty one is the current folder.
fn join<'r>(folder: &[u8], name: &[u8], room: &'r mut [u8]) -> Option<&'r CStr> {
    let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
    copy(&[folder, slash, name], room)
}

/// These parts one after the other, as a C string; `None` if there isn't room.
pub fn copy<'r>(parts: &[&[u8]], room: &'r mut [u8]) -> Option<&'r CStr> {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    *room.get_mut(bytes)? = 0;
    let all = parts.iter().flat_map(|part| part.iter());
    room.iter_mut().zip(all).for_each(|(cell, byte)| *cell = *byte);
    CStr::from_bytes_until_nul(room).ok()
}

fn is_loader(name: &[u8]) -> bool {
    LOADERS.iter().any(|beginning| name.starts_with(beginning))
}

fn look(mut file: File, mut is_called_loader: bool) -> Option<bool> {
    for _ in 0..DEPTH {
        // Mostly with all headers, and the loader's name behind them.
        let mut room = [0u8; HEAD];
        let read = file.read_at(&mut room, 0)?;
        let head = room.get(..read)?;
        if head.starts_with(b"\x7fELF") {
            return is_foreign_elf(&file, head, is_called_loader);
        }
        let path = interpreter(head)?;
        let mut room = [0u8; 256];
        let path = copy(&[path], &mut room)?;
        is_called_loader = is_loader(base_name(path));
        file = open(path)?;
    }
    None
}

/// The program that reads a script, by the script's first line.
fn interpreter(head: &[u8]) -> Option<&[u8]> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii_start();
    line.split(u8::is_ascii_whitespace).next().filter(|path| !path.is_empty())
}

fn is_foreign_elf(file: &File, head: &[u8], is_called_loader: bool) -> Option<bool> {
    const OF_64_BITS: u8 = 2;
    let machine = u16::from_le_bytes(number(head, 18)?);
    if *head.get(4)? != OF_64_BITS || machine != libc::EM_X86_64 {
        return Some(true);
    }
    let (at, count) = (u64::from_le_bytes(number(head, 32)?), u16::from_le_bytes(number(head, 56)?));
    let mut room = [0u8; HEADERS * HEADER];
    let headers = part(file, head, at, room.get_mut(..usize::from(count).min(HEADERS) * HEADER)?)?;
    for header in headers.chunks_exact(HEADER) {
        if u32::from_le_bytes(number(header, 0)?) == libc::PT_INTERP {
            let (at, bytes) =
                (u64::from_le_bytes(number(header, 8)?), u64::from_le_bytes(number(header, 32)?));
            let mut name = [0u8; 256];
            let name = part(file, head, at, name.get_mut(..usize::try_from(bytes).ok()?)?)?;
            return Some(!is_loader(base_name(CStr::from_bytes_until_nul(name).ok()?)));
        }
    }
    // Statically linked, or the loader itself, which is handed the program.
    Some(!is_called_loader)
}

/// A part of a file: of what was read already, or into this room.
fn part<'r>(file: &File, head: &'r [u8], at: u64, room: &'r mut [u8]) -> Option<&'r [u8]> {
    let known = usize::try_from(at).ok().and_then(|at| head.get(at..at.checked_add(room.len())?));
    if known.is_some() {
        return known;
    }
    let read = file.read_at(room, at)?;
    room.get(..read)
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..)?.first_chunk().copied()
}
