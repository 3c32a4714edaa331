use super::*;

fn zeroed() -> ReportPage {
    // SAFETY: the page consists of atomics and integers only, for which zero is a value.
    unsafe { core::mem::zeroed() }
}

#[test]
fn a_page_without_stamp_is_not_read() {
    assert!(zeroed().read().is_none());
}

#[test]
fn a_region_adds_its_wall_time_and_its_useful_time() {
    let page = zeroed();
    page.stamp();
    let slot = page.slot(0).unwrap();
    slot.enter(4, 1, 1_000);
    slot.add_wait(30);
    slot.add_wait(20);
    slot.leave(1_100, 4, 400);
    slot.enter(1, 1, 1_200);
    slot.leave_alone(10, 0);
    slot.add_promised();
    slot.enter(4, 2, 2_000);
    let (_, slots) = page.read().unwrap();
    let copy = slots[0].unwrap();
    assert_eq!((copy.regions, copy.wall, copy.capacity, copy.useful), (2, 110, 410, 360));
    assert_eq!((copy.team, copy.entered, copy.waits_at_entry), (4, 2_000, 50));
    assert_eq!((copy.last_team, copy.team_since, copy.promised), (4, 2_000, 1));
    assert_eq!(copy.mechanism, 2);
    slot.set_mechanism(3);
    slot.enter(4, 1, 3_000);
    let copy = page.read().unwrap().1[0].unwrap();
    assert_eq!((copy.last_team, copy.team_since, copy.mechanism), (4, 2_000, 1));
}

#[test]
fn what_forbids_gathering_is_told_by_name() {
    let page = zeroed();
    page.stamp();
    let mut name = [0; NAME_BYTES];
    name[..10].copy_from_slice(b"GOMP_tasks");
    page.set_ungathered(10);
    page.set_forbids(&name);
    let totals = page.read().unwrap().0;
    assert_eq!((totals.ungathered, totals.forbids), (10, name));
}

#[test]
fn a_writer_that_died_in_a_write_costs_its_own_slot_only() {
    let page = zeroed();
    page.stamp();
    page.slots[0].seq.store(1, Ordering::Relaxed);
    let (_, slots) = page.read().unwrap();
    assert!(slots[0].is_none() && slots[1].is_some());
}

use proptest::{collection, num::u8};

proptest::proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in collection::vec(u8::ANY, crate::PAGE_BYTES)) {
        #[repr(C, align(4096))]
        struct Raw([u8; crate::PAGE_BYTES]);
        let mut raw = Box::new(Raw([0; crate::PAGE_BYTES]));
        raw.0.copy_from_slice(&bytes);
        raw.0[..4].copy_from_slice(&MAGIC.to_le_bytes());
        raw.0[4..8].copy_from_slice(&VERSION.to_le_bytes());
        // SAFETY: Raw has the page's size and alignment, and any bytes are values of its atomics.
        let page = unsafe { &*(&raw const *raw).cast::<ReportPage>() };
        proptest::prop_assert!(page.read().is_some());
    }
}
