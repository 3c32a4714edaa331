//! The two shared pages of one client, as sealed memfds: one writer each.

use crate::control::Runtime;
use crate::estimate::Page;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;
use scaf_proto::PAGE_BYTES;
use scaf_proto::experiment::{Experiments, Order};
use scaf_proto::grant::{GrantPage, Mask, Masks, Word};
use scaf_proto::rank::Rank;
use scaf_proto::report::ReportPage;
use scaf_proto::rows::Rows;
use scaf_proto::runtimes::{FILE_BYTES, Kind, Promise, RuntimeCopy};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The daemon's mappings of a client's pages.
pub struct Pages {
    grant: Mapping,
    report: Mapping,
    /// For the client, grant first.
    files: [OwnedFd; 2],
}

impl Pages {
    pub fn create() -> rustix::io::Result<Pages> {
        let grant_fd = memfd(c"scaf-grant")?;
        let grant = Mapping::new(&grant_fd, ProtFlags::READ | ProtFlags::WRITE)?;
        let common = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&grant_fd, common | SealFlags::FUTURE_WRITE)?;
        let report_fd = memfd(c"scaf-report")?;
        // We write to it only while no client has it.
        let report = Mapping::new(&report_fd, ProtFlags::READ | ProtFlags::WRITE)?;
        // The client can't shrink the file under our mapping, which would kill us with SIGBUS.
        rustix::fs::fcntl_add_seals(&report_fd, common)?;
        let pages = Pages { grant, report, files: [grant_fd, report_fd] };
        pages.grant_page().stamp();
        Ok(pages)
    }

    /// The files to send to the client, grant first.
    pub fn files(&self) -> &[OwnedFd; 2] {
        &self.files
    }

    /// Clears them for another client, by stores only: an earlier client may still have them mapped, and
    /// could block a system call on the file by a write from memory that isn't there (FUSE).
    pub fn clean(&self) {
        let grant = self.grant.words().iter().take(size_of::<GrantPage>() / size_of::<u64>());
        grant.chain(self.report.words()).for_each(|word| word.store(0, Ordering::Release));
        self.grant_page().stamp();
    }

    /// Publishes a grant, and wakes the client's threads that sleep until it changes: 0.3 us without any.
    pub fn publish(&self, word: Word, masks: &Masks) {
        let page = self.grant_page();
        page.publish(word, masks);
        // SAFETY: the word is inside our mapping, which lives as long as self, and is only ever accessed
        // atomically.
        let word = unsafe { AtomicU32::from_ptr(page.futex_word().cast_mut()) };
        // A shared futex, because the client maps the page elsewhere. If it fails, sleepers time out.
        let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
    }

    pub fn record(&self, masks: &[Mask]) {
        self.grant_page().record(masks);
    }

    pub fn set_marks(&self, marks: Option<&[[u64; 2]]>) {
        self.grant_page().set_marks(marks);
    }

    /// The program's threads are about to be narrowed; `false` if it is making a child, and they must not be.
    pub fn begin_moves(&self) -> bool {
        self.grant_page().moves().begin(self.report_page().starts())
    }

    /// Narrows them, whatever it does.
    pub fn while_moving<R>(&self, narrow: impl FnOnce() -> R) -> R {
        self.grant_page().moves().begin_anyway();
        let result = narrow();
        self.end_moves();
        result
    }

    pub fn end_moves(&self) {
        self.grant_page().moves().end();
    }

    /// Copies the report page; `None` while the client hasn't stamped it.
    pub fn read(&self) -> Option<Page> {
        self.report_page().read()
    }

    /// The report page's rows; hostile like the rest of it.
    pub fn rows(&self) -> &Rows {
        self.report_page().rows()
    }

    pub fn experiments(&self) -> &Experiments {
        self.report_page().experiments()
    }

    pub fn rank(&self) -> &Rank {
        self.report_page().rank()
    }

    /// The runtimes that the client says it has.
    pub fn runtimes(&self) -> Vec<Runtime> {
        self.reported_runtimes().map(|runtime| shown(&runtime)).collect()
    }

    /// The same as on the page; hostile like the rest of it.
    pub fn reported_runtimes(&self) -> impl Iterator<Item = RuntimeCopy> + '_ {
        self.report_page().runtimes().read()
    }

    pub fn renew(&self, until_ns: u64) {
        self.grant_page().renew(until_ns);
    }

    pub fn order(&self, order: Order) {
        self.grant_page().order(order);
    }

    fn report_page(&self) -> &ReportPage {
        // SAFETY: the mapping is readable and writable, has a page's size and alignment, and lives as long as
        // self. ReportPage consists of atomics, so the client may write at the same time.
        unsafe { &*self.report.at.as_ptr().cast::<ReportPage>() }
    }

    fn grant_page(&self) -> &GrantPage {
        // SAFETY: the mapping is readable and writable, has a page's size and alignment, and lives as long as
        // self. GrantPage consists of atomics, which only this process writes: the file is sealed.
        unsafe { &*self.grant.at.as_ptr().cast::<GrantPage>() }
    }
}

fn shown(runtime: &RuntimeCopy) -> Runtime {
    let name = match runtime.kind {
        Kind::Libgomp => "OpenMP (GCC)",
        Kind::Libomp => "OpenMP (LLVM)",
        Kind::Libiomp => "OpenMP (Intel)",
        Kind::Tbb => "oneTBB",
        Kind::OpenBlas => "OpenBLAS",
        Kind::Mkl => "MKL",
        Kind::Blis => "BLIS",
        Kind::Api => "its own pools",
    };
    let promise = match runtime.promise {
        Promise::Regions => "each region follows the grant in its own way",
        Promise::Follows => "calls follow the grant, and never use more threads than were set for it",
        Promise::Exact => {
            "keeps its number of threads, for its results' sake; its affinity follows the grant"
        }
        Promise::Left => "keeps its number of threads; its affinity follows the grant",
        Promise::Notified => "is notified of the grant, and follows it by itself",
    };
    let end = runtime.file.iter().position(|byte| *byte == 0).unwrap_or(FILE_BYTES);
    let file = String::from_utf8_lossy(&runtime.file[..end]);
    let escaped =
        |c: char| -> String { if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() } };
    Runtime {
        name: name.into(),
        file: if file.is_empty() { "the program".into() } else { file.chars().map(escaped).collect() },
        threads: runtime.threads,
        most: runtime.most,
        promise: promise.into(),
    }
}

struct Mapping {
    at: NonNull<c_void>,
}

impl Mapping {
    fn new(fd: &OwnedFd, prot: ProtFlags) -> rustix::io::Result<Mapping> {
        // SAFETY: without MAP_FIXED the kernel chooses unused addresses, so no memory of ours is replaced.
        let at = unsafe { mmap(std::ptr::null_mut(), PAGE_BYTES, prot, MapFlags::SHARED, fd, 0)? };
        NonNull::new(at).map(|at| Mapping { at }).ok_or(rustix::io::Errno::NOMEM)
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has PAGE_BYTES bytes, page alignment, and lives as long as self; any bytes are
        // values of atomics. Callers write only to mappings that are writable.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr().cast(), PAGE_BYTES / size_of::<u64>()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it with this size, and references into it borrow self.
        let _ = unsafe { munmap(self.at.as_ptr(), PAGE_BYTES) };
    }
}

fn memfd(name: &std::ffi::CStr) -> rustix::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 don't know NOEXEC_SEAL; there a memfd is executable, which does no harm by itself.
    let fd = match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(rustix::io::Errno::INVAL) => rustix::fs::memfd_create(name, flags)?,
        other => other?,
    };
    rustix::fs::ftruncate(&fd, PAGE_BYTES as u64)?;
    Ok(fd)
}

/// The pages where a client has them.
#[cfg(test)]
pub(super) struct AtAClient {
    grant: Mapping,
    report: Mapping,
}

#[cfg(test)]
impl Pages {
    pub(super) fn mapped_as_a_client(&self) -> rustix::io::Result<AtAClient> {
        let grant = Mapping::new(&self.files[0], ProtFlags::READ)?;
        Ok(AtAClient { grant, report: Mapping::new(&self.files[1], ProtFlags::READ | ProtFlags::WRITE)? })
    }
}

#[cfg(test)]
impl AtAClient {
    pub(super) fn fill_report(&self, value: u64) {
        self.report.words().iter().for_each(|word| word.store(value, Ordering::Relaxed));
    }

    pub(super) fn is_stamped_and_else_empty(&self) -> bool {
        // SAFETY: the mapping is readable, page-aligned and lives as long as self; GrantPage is all atomics.
        let is_current = unsafe { &*self.grant.at.as_ptr().cast::<GrantPage>() }.is_current();
        let are_empty = |words: &[AtomicU64]| words.iter().all(|word| word.load(Ordering::Relaxed) == 0);
        is_current && are_empty(&self.grant.words()[1..]) && are_empty(self.report.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtimes_file_is_shown_without_control_characters() {
        let mut file = [0; FILE_BYTES];
        file[..8].copy_from_slice(b"/l\x1b[2J\xffx");
        let (kind, promise) = (Kind::OpenBlas, Promise::Follows);
        let shown = shown(&RuntimeCopy { kind, promise, threads: 1, most: 2, at_work: 0, file });
        assert_eq!(shown.file, "/l\\u{1b}[2J\u{fffd}x");
        assert_eq!((shown.name.as_str(), shown.threads, shown.most), ("OpenBLAS", 1, 2));
    }
}
