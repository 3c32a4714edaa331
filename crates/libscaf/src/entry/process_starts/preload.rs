//! LD_PRELOAD in the environment of a program that is about to start. Others' libraries stay there.

use super::can_take::{Program, copy, is_foreign, with_room};
use crate::runtimes::linker::{LinkMap, module_of};
use crate::sys::file::can_be_read;
use crate::sys::memory;
use core::ffi::{CStr, c_char};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A list of C strings that ends with null: arguments, or an environment.
pub type List = *const *const c_char;

const VARIABLE: &[u8] = b"LD_PRELOAD=";
const OURS: &[u8] = b"libscaf.so";
/// In containers these are preloaded behind us: before glibc 2.34 functions that we need are there.
const WITH_OURS: [&[u8]; 2] = [b"libpthread.so.0", b"libdl.so.2"];

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// This library's file, as the loader was told.
static FILE: AtomicPtr<c_char> = AtomicPtr::new(null_mut());

fn own_file() -> *const c_char {
    let known = FILE.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: the map of this library, which is never unloaded.
    let name = |(map, _): (*mut LinkMap, usize)| unsafe { (*map).name };
    let found = module_of(own_file as *const () as usize).map_or(null(), name);
    FILE.store(found.cast_mut(), Ordering::Relaxed);
    found
}

/// The program's environment as it is now.
pub fn now() -> List {
    // SAFETY: the C library's variable; whoever changes it while others start programs has no right result.
    unsafe { environ.cast_const().cast() }
}

/// The value of a variable of the program's environment.
pub fn value_of(name_and_sign: &[u8]) -> Option<&'static [u8]> {
    // SAFETY: the environment is a list of C strings, which stay for as long as this call takes.
    unsafe { strings(now()).find_map(|(_, entry)| entry.to_bytes().strip_prefix(name_and_sign)) }
}

/// # Safety
/// Null or a list of C strings that ends with null, and that stays as it is meanwhile.
unsafe fn strings<'l>(list: List) -> impl Iterator<Item = (List, &'l CStr)> {
    let mut at = list;
    core::iter::from_fn(move || {
        // SAFETY: the list ends with null, as the caller says.
        unsafe {
            if at.is_null() || (*at).is_null() {
                return None;
            }
            let entry = (at, CStr::from_ptr(*at));
            at = at.add(1);
            Some(entry)
        }
    })
}

fn libraries(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| b" :".contains(byte)).filter(|library| !library.is_empty())
}

fn is_ours(library: &[u8]) -> bool {
    let is_file = || {
        let file = own_file();
        // SAFETY: null, or the dynamic linker's text.
        !file.is_null() && unsafe { CStr::from_ptr(file) }.to_bytes() == library
    };
    library.rsplit(|byte| *byte == b'/').next() == Some(OURS) || is_file()
}

/// Whether the program can't take the library that is in this value: it is none of ours, or its loader won't
/// find the file, in another root folder or with another user's rights.
fn has_to_go(library: &[u8], program: Program<'_>) -> bool {
    let has_to_go = with_room(|room| {
        let is_path = library.contains(&b'/');
        let is_missing = is_path && copy(&[library], &mut room.path).is_some_and(|path| !can_be_read(path));
        is_missing || is_foreign(program, room)
    });
    has_to_go.unwrap_or(false)
}

/// Calls `start` with an environment for the program if it can't have this one, else with none.
/// # Safety
/// The environment is null or a list of C strings that ends with null.
pub unsafe fn fitting<R>(program: Program<'_>, environment: List, start: impl Fn(Option<List>) -> R) -> R {
    // SAFETY: as the caller says.
    if unsafe { has_ours(environment, program) } {
        let mut result = None;
        // SAFETY: as the caller says.
        unsafe { with_another(environment, &mut |list| result = Some(start(list))) };
        if let Some(result) = result {
            return result;
        }
    }
    start(None)
}

/// Whether a list has us, and the program can't take us.
unsafe fn has_ours(environment: List, program: Program<'_>) -> bool {
    // SAFETY: as the caller says.
    let mut values = unsafe { strings(environment) }.filter_map(|(_, entry)| value(entry));
    let ours = values.find_map(|value| libraries(value).find(|library| is_ours(library)));
    ours.is_some_and(|library| has_to_go(library, program))
}

fn value(entry: &CStr) -> Option<&[u8]> {
    entry.to_bytes().strip_prefix(VARIABLE)
}

/// Calls `start` with the list without us, on the stack: a child that has its parent's memory would never
/// give other memory back. Only a list that doesn't fit there gets some.
unsafe fn with_another(environment: List, start: &mut dyn FnMut(Option<List>)) {
    #[inline(never)]
    fn on_stack<const WORDS: usize>(work: &mut dyn FnMut(&mut [usize])) {
        work(&mut [0; WORDS]);
    }
    // SAFETY: as the caller says.
    let (count, longest) = unsafe { strings(environment) }.fold((0, 0), |(count, longest), (_, entry)| {
        (count + 1, value(entry).map_or(longest, |value| longest.max(value.len())))
    });
    // The list's end, and the variable.
    let words = count + 2 + (VARIABLE.len() + longest) / size_of::<usize>();
    // SAFETY: as the caller says.
    let mut work = |room: &mut [usize]| start(unsafe { without_ours(environment, count, room) });
    match words {
        ..=256 => on_stack::<256>(&mut work),
        257..=8_192 => on_stack::<8_192>(&mut work),
        _ => {
            let bytes = words.saturating_mul(size_of::<usize>());
            let Some(block) = memory::map(bytes) else { return work(&mut []) };
            // SAFETY: a mapping of so many bytes, all zero, that nobody else has.
            unsafe {
                work(core::slice::from_raw_parts_mut(block.cast(), words));
                memory::unmap(block, bytes);
            }
        }
    }
}

/// The environment without us; `None` if there isn't room.
/// # Safety
/// The environment is a list of `count` C strings.
unsafe fn without_ours(environment: List, count: usize, room: &mut [usize]) -> Option<List> {
    let (list, text) = room.split_at_mut_checked(count + 1)?;
    // SAFETY: the bytes of these words; any are a value.
    let mut text =
        unsafe { core::slice::from_raw_parts_mut(text.as_mut_ptr().cast::<u8>(), size_of_val(text)) };
    let mut places = list.iter_mut();
    // SAFETY: as the caller says.
    for (_, entry) in unsafe { strings(environment) } {
        let value = entry.to_bytes().strip_prefix(VARIABLE);
        let kept = match value.filter(|value| libraries(value).any(is_ours)) {
            None => entry.as_ptr(),
            Some(value) => {
                let length = write_others(value, text)?;
                if length == VARIABLE.len() {
                    continue;
                }
                let (variable, rest) = core::mem::take(&mut text).split_at_mut_checked(length + 1)?;
                text = rest;
                variable.as_ptr().cast()
            }
        };
        *places.next()? = kept.expose_provenance();
    }
    *places.next()? = 0;
    Some(room.as_ptr().cast())
}

/// Writes the variable with others' libraries, and a final zero; returns its length without that.
fn write_others(value: &[u8], room: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    let mut put = |bytes: &[u8]| -> Option<()> {
        let place = room.get_mut(length..)?.get_mut(..bytes.len() + 1)?;
        place.iter_mut().zip(bytes.iter().chain(&[0])).for_each(|(cell, byte)| *cell = *byte);
        length += bytes.len();
        Some(())
    };
    put(VARIABLE)?;
    let (mut behind_ours, mut separator): (bool, &[u8]) = (false, b"");
    for library in libraries(value) {
        behind_ours = is_ours(library) || (behind_ours && WITH_OURS.contains(&library));
        if !behind_ours {
            put(separator)?;
            put(library)?;
            separator = b":";
        }
    }
    Some(length)
}

/// Longest value that is changed in the program's own environment.
const MOST: usize = 4_096;
struct Own(core::cell::UnsafeCell<[u8; MOST]>);
// SAFETY: written once, by whoever has set `IS_CHANGED`.
unsafe impl Sync for Own {}
static OWN: Own = Own(core::cell::UnsafeCell::new([0; MOST]));
static IS_CHANGED: AtomicBool = AtomicBool::new(false);

/// For a call that starts the program with this process's own environment, whatever it is: takes us out of
/// that, for good, if the program can't take us. Who has changed the root folder or the user starts others
/// that can't either.
pub fn fit_own(program: Program<'_>) {
    // SAFETY: the environment is a list of C strings. One of its places gets another C string, at once and
    // for good: whoever reads meanwhile has the one or the other.
    unsafe {
        for (at, entry) in strings(now()) {
            let Some(value) = entry.to_bytes().strip_prefix(VARIABLE) else { continue };
            let ours = libraries(value).find(|library| is_ours(library));
            if ours.is_some_and(|library| has_to_go(library, program))
                && !IS_CHANGED.swap(true, Ordering::AcqRel)
            {
                let own = OWN.0.get();
                if write_others(value, &mut *own).is_some() {
                    AtomicPtr::from_ptr(at.cast_mut().cast::<*mut c_char>())
                        .store(own.cast(), Ordering::Release);
                }
            }
        }
    }
}
