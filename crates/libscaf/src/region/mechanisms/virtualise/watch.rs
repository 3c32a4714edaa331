//! A thread that looks after virtualised regions: one that gets nowhere gets help ([`super::help`]). It is
//! there while such regions run, and for a second after the last. It looks every [`PERIOD_MS`]: where parts
//! are left and none was taken since the last look, threads may wait for each other. If they just take their
//! time, help does no harm.

use super::help::help;
use crate::region::frame::Frame;
use crate::sys::thread::{give_way, pause, spawn};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::report::SLOTS;
use scaf_team::post::Post;

/// Time between two looks, in milliseconds.
const PERIOD_MS: i64 = 50;
/// Looks in a row without a new region after which the thread ends.
const IDLE_LOOKS: u32 = 20;
static UP: AtomicU32 = AtomicU32::new(0);
/// Regions put before the watch so far.
static PUT: AtomicU32 = AtomicU32::new(0);
static POSTS: [Post; SLOTS] = [const { Post::new() }; SLOTS];

/// Calls the watch in if needed; `false` if the system has no thread for it.
#[inline(always)]
pub fn is_up() -> bool {
    UP.load(Ordering::SeqCst) != 0 || call_in()
}

pub fn is_here() -> bool {
    UP.load(Ordering::Relaxed) != 0
}

#[cold]
fn call_in() -> bool {
    if UP.swap(1, Ordering::SeqCst) != 0 || spawn(watch, null_mut()) {
        return true;
    }
    UP.store(0, Ordering::SeqCst);
    false
}

#[inline(always)]
pub fn put(slot: usize, frame: &Frame) {
    if let Some(post) = POSTS.get(slot) {
        PUT.fetch_add(1, Ordering::Relaxed);
        post.put((&raw const *frame).expose_provenance());
        // The watch may have ended since it was found there.
        is_up();
    }
}

#[inline(always)]
pub fn take_back(slot: usize, frame: &Frame) {
    if let Some(post) = POSTS.get(slot) {
        // The watch may be at it.
        post.take_back((&raw const *frame).addr(), give_way);
    }
}

pub fn after_fork() {
    UP.store(0, Ordering::Relaxed);
    for post in &POSTS {
        post.clear();
    }
}

/// What the last look found at each post: parts left, and when the region was entered.
static LAST: [(AtomicU32, AtomicU64); SLOTS] = [const { (AtomicU32::new(0), AtomicU64::new(0)) }; SLOTS];

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    let mut idle = 0;
    let mut put = PUT.load(Ordering::Relaxed);
    loop {
        pause(PERIOD_MS);
        let busy = look();
        let now = PUT.load(Ordering::Relaxed);
        idle = if busy || now != put { 0 } else { idle + 1u32 };
        put = now;
        if idle >= IDLE_LOOKS {
            UP.store(0, Ordering::SeqCst);
            // A master that came before that may have found us here; a later one calls in another watch.
            if !look() || UP.swap(1, Ordering::SeqCst) != 0 {
                return null_mut();
            }
            idle = 0;
        }
    }
}

fn look() -> bool {
    let mut any = false;
    for (post, (parts, entered)) in POSTS.iter().zip(&LAST) {
        any |= post.look(|region| {
            // SAFETY: the post's master waits at the region's end for as long as this takes.
            let frame = unsafe { &*core::ptr::with_exposed_provenance::<Frame>(region) };
            let waiting = frame.parts.waiting(frame.team_if_known());
            let same = parts.swap(waiting, Ordering::Relaxed) == waiting
                && entered.swap(frame.entered, Ordering::Relaxed) == frame.entered;
            if same && waiting != 0 {
                help(frame);
            }
        });
    }
    any
}
