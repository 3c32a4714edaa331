//! The two pages that the client shares with the daemon, at addresses that never change. Both lie in the
//! library's own zeroed memory. Attaching maps the daemon's pages over them, detaching maps zero pages over
//! them: a thread within a region always finds a page, and a zero grant means unmanaged. So the hot path
//! needs neither a pointer nor a check.

use core::cell::UnsafeCell;
use scaf_proto::PAGE_BYTES;
use scaf_proto::grant::GrantPage;
use scaf_proto::report::ReportPage;

#[repr(C, align(4096))]
pub struct Page(UnsafeCell<[u8; PAGE_BYTES]>);

// SAFETY: the pages are used through their types below, which consist of atomics.
unsafe impl Sync for Page {}

pub static GRANT: Page = Page(UnsafeCell::new([0; PAGE_BYTES]));
static REPORT: Page = Page(UnsafeCell::new([0; PAGE_BYTES]));

#[inline(always)]
pub fn grant() -> &'static GrantPage {
    const { assert!(size_of::<GrantPage>() <= PAGE_BYTES && align_of::<GrantPage>() <= 4096) };
    // SAFETY: the page is there for ever, and large enough; any bytes are a value of the type's atomics.
    unsafe { &*GRANT.0.get().cast() }
}

#[inline(always)]
pub fn report() -> &'static ReportPage {
    const { assert!(size_of::<ReportPage>() <= PAGE_BYTES && align_of::<ReportPage>() <= 4096) };
    // SAFETY: the page is there for ever, and large enough; any bytes are a value of the type's atomics.
    unsafe { &*REPORT.0.get().cast() }
}

/// Maps both of the daemon's pages, or neither and returns `false` if the kernel refuses.
pub fn map(grant_fd: i32, report_fd: i32) -> bool {
    // The report page comes first: a grant must not be seen before there is a page to report on.
    let both = over(&REPORT, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, report_fd)
        && over(&GRANT, libc::PROT_READ, libc::MAP_SHARED, grant_fd);
    if !both {
        unmap();
    }
    both
}

pub fn unmap() {
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    over(&GRANT, libc::PROT_READ | libc::PROT_WRITE, private, -1);
    over(&REPORT, libc::PROT_READ | libc::PROT_WRITE, private, -1);
}

fn over(page: &'static Page, access: i32, kind: i32, fd: i32) -> bool {
    // SAFETY: MAP_FIXED replaces one whole page of the library's; whatever is mapped there, its bytes are
    // read and written as atomics.
    unsafe {
        libc::mmap(page.0.get().cast(), PAGE_BYTES, access, kind | libc::MAP_FIXED, fd, 0) != libc::MAP_FAILED
    }
}
