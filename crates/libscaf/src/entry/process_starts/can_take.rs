//! Whether the client library can be preloaded into a program: a 64-bit one for this processor whose loader
//! is glibc's. `scaf run` decides the same for the program that it starts (`crates/scaf/src/target.rs`).

use crate::runtimes::linker::base_name;
use crate::sys::arch;
use crate::sys::errno::keeping_errno;
use crate::sys::file::{File, can_be_executed};
use crate::sys::glibc::fstat;
use crate::sys::memory;
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

/// What the look at a program needs. It isn't on the stack: who starts a program may have a small one.
#[repr(C)]
pub struct Room {
    pub path: [u8; PATH],
    head: [u8; HEAD],
    headers: [u8; HEADERS * HEADER],
    name: [u8; 256],
}

/// Looks with such room; `None` if there is no memory.
pub fn with_room<R>(look: impl FnOnce(&mut Room) -> R) -> Option<R> {
    let block = memory::map(size_of::<Room>())?;
    // SAFETY: the mapping has as many bytes, all zero, which are a value, and nobody else has it.
    unsafe {
        let result = look(&mut *block.cast());
        memory::unmap(block, size_of::<Room>());
        Some(result)
    }
}

/// A program as it is asked for.
#[derive(Clone, Copy)]
pub enum Program<'p> {
    /// By its path.
    At(&'p CStr),
    /// By its name, to be searched for in these folders, with colons between them.
    Named(&'p CStr, &'p [u8]),
}

/// Whether the client library can't be preloaded into the program, or nobody can tell, because the file can't
/// be opened. What isn't a program of a known format is as it was before.
pub fn is_foreign(program: Program<'_>, room: &mut Room) -> bool {
    match find(program, &mut room.path) {
        Some(Found::File(file, is_loader)) => look(file, is_loader, room).unwrap_or(false),
        found => found.is_some(),
    }
}

enum Found {
    /// The program's file, and whether it is called as a loader.
    File(File, bool),
    /// It is there, and can't be opened.
    Closed,
}

fn find(program: Program<'_>, room: &mut [u8]) -> Option<Found> {
    let closed = |path: &CStr| can_be_executed(path).then_some(Found::Closed);
    let (name, folders) = match program {
        Program::At(path) => {
            let opened = open(path).map(|file| Found::File(file, is_loader(base_name(path))));
            return opened.or_else(|| closed(path));
        }
        Program::Named(name, folders) => (name.to_bytes(), folders),
    };
    folders.split(|byte| *byte == b':').find_map(|folder| {
        let path = join(folder, name, room)?;
        match open(path) {
            // Others are passed over, as by the C library.
            Some(file) => is_executable(&file).then(|| Found::File(file, is_loader(name))),
            None => closed(path),
        }
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

fn look(mut file: File, mut is_called_loader: bool, room: &mut Room) -> Option<bool> {
    for _ in 0..DEPTH {
        // Mostly with all headers, and the loader's name behind them.
        let read = file.read_at(&mut room.head, 0)?;
        let head = room.head.get(..read)?;
        if head.starts_with(b"\x7fELF") {
            return is_foreign_elf(&file, head, is_called_loader, (&mut room.headers, &mut room.name));
        }
        let path = interpreter(head)?;
        let path = copy(&[path], &mut room.name)?;
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

fn is_foreign_elf(
    file: &File,
    head: &[u8],
    is_called_loader: bool,
    (headers, name): (&mut [u8], &mut [u8]),
) -> Option<bool> {
    const OF_64_BITS: u8 = 2;
    let machine = u16::from_le_bytes(number(head, 18)?);
    if *head.get(4)? != OF_64_BITS || machine != arch::ELF_MACHINE {
        return Some(true);
    }
    let (at, count) = (u64::from_le_bytes(number(head, 32)?), u16::from_le_bytes(number(head, 56)?));
    let headers = part(file, head, at, headers.get_mut(..usize::from(count).min(HEADERS) * HEADER)?)?;
    for header in headers.chunks_exact(HEADER) {
        if u32::from_le_bytes(number(header, 0)?) == libc::PT_INTERP {
            let (at, bytes) =
                (u64::from_le_bytes(number(header, 8)?), u64::from_le_bytes(number(header, 32)?));
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
