//! Loops of a program's own that spin on memory, made to yield: at each, a few instructions around the branch
//! back, its *mark*, are replaced by a jump to a *stub*. That carries out the same instructions, and calls us
//! where the branch is taken. Where there is no room for that, the mark is near the loop's beginning, and the
//! stub calls us each time.
//!
//! The inspection finds loops and marks in the program's file, and has made sure that nothing jumps to within
//! the first [`JUMP_BYTES`] of a mark. The client makes the stubs. This is the x86-64 both agree on.

/// What the memory of stubs is called, so that the inspection knows this code, which stands in no file.
pub const NAME: &core::ffi::CStr = c"scaf-yields";
/// The first byte of a jump to a stub.
pub const JUMP: u8 = 0xe9;
/// Bytes of such a jump.
pub const JUMP_BYTES: usize = 5;
/// Most bytes of a mark.
pub const MOST_BYTES: usize = 32;
/// Bytes that a stub has room in.
pub const STUB_BYTES: usize = 96;

/// Some whole instructions in a row, of which at most one is a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The address of the first.
    pub at: u64,
    /// Bytes, [`JUMP_BYTES`] to [`MOST_BYTES`].
    pub length: u8,
    /// Where the branch begins, in bytes from `at`; `length` if there is none among them.
    pub branch: u8,
    /// Whether we are called before all of them, and not where the branch is taken.
    pub first: bool,
    /// Where up to two displacements of 4 bytes stand that count from the instruction's end, in bytes from
    /// `at`; 0 is none.
    pub fields: [u8; 2],
    /// [`sum`] of the bytes.
    pub sum: u32,
}

/// Set beside a branch's place where [`Mark::first`] is.
const FIRST: u8 = 0x80;

/// FNV-1a, in 32 bits.
pub fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// A branch as it stands in a program.
#[derive(Clone, Copy)]
struct Branch {
    /// The condition, 0 to 15; `None` for a jump.
    condition: Option<u8>,
    /// Its bytes.
    length: usize,
    /// From its end to where it leads.
    distance: i32,
}

impl Branch {
    fn read(code: &[u8]) -> Option<Branch> {
        let word = |at: usize| Some(i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?));
        let byte = || Some(i32::from(code.get(1)?.cast_signed()));
        let (condition, length, distance) = match *code {
            [first @ 0x70..=0x7f, ..] => (Some(first & 15), 2, byte()?),
            [0x0f, second @ 0x80..=0x8f, ..] => (Some(second & 15), 6, word(2)?),
            [0xeb, ..] => (None, 2, byte()?),
            [JUMP, ..] => (None, 5, word(1)?),
            _ => return None,
        };
        Some(Branch { condition, length, distance })
    }
}

impl Mark {
    /// As it is handed on.
    pub fn words(&self) -> [u64; 2] {
        let [first, second] = self.fields;
        let [a, b, c, d] = self.sum.to_le_bytes();
        let branch = self.branch | if self.first { FIRST } else { 0 };
        [self.at, u64::from_le_bytes([self.length, branch, first, second, a, b, c, d])]
    }

    /// The mark that was handed on so; `None` if these words are none.
    pub fn from_words([at, shape]: [u64; 2]) -> Option<Mark> {
        let [length, branch, first, second, a, b, c, d] = shape.to_le_bytes();
        let (branch, is_first) = (branch & !FIRST, branch & FIRST != 0);
        let fits = |field: &u8| *field == 0 || u32::from(*field) + 4 <= u32::from(length);
        let fields = [first, second];
        let sound = (JUMP_BYTES..=MOST_BYTES).contains(&usize::from(length))
            && branch <= length
            && (is_first || branch < length)
            && fields.iter().all(fits);
        sound.then_some(Mark {
            at,
            length,
            branch,
            first: is_first,
            fields,
            sum: u32::from_le_bytes([a, b, c, d]),
        })
    }

    /// The stub that stands for these bytes, to lie at `stub`; whom it calls is said by the 8 bytes at
    /// `slot`. `None` if the bytes aren't the mark's, or something is out of reach.
    pub fn stub(&self, code: &[u8], stub: u64, slot: u64) -> Option<[u8; STUB_BYTES]> {
        let code = code.get(..usize::from(self.length)).filter(|code| sum(code) == self.sum)?;
        let (before, rest) = code.split_at_checked(usize::from(self.branch))?;
        let mut text = Text { bytes: [0xcc; STUB_BYTES], length: 0, at: stub };
        let end = self.at.wrapping_add(code.len() as u64);
        if self.first {
            text.call(slot)?;
        }
        text.copy(self, before, 0)?;
        if rest.is_empty() {
            text.jump(end)?;
            return Some(text.bytes);
        }
        let branch = Branch::read(rest)?;
        let behind = rest.get(branch.length..)?;
        let behind_branch = usize::from(self.branch) + branch.length;
        let leads = self.at.wrapping_add(behind_branch as u64).wrapping_add_signed(branch.distance.into());
        match branch.condition {
            Some(condition) => text.put(&[0x0f, 0x80 | condition])?,
            None => text.put(&[JUMP])?,
        }
        let to_wait = text.length;
        if self.first {
            text.put_distance(leads)?;
        } else {
            // Filled in below.
            text.put(&[0; 4])?;
        }
        text.copy(self, behind, behind_branch)?;
        text.jump(end)?;
        if self.first {
            return Some(text.bytes);
        }
        let wait = (text.length - to_wait - 4) as u32;
        text.bytes.get_mut(to_wait..to_wait + 4)?.copy_from_slice(&wait.to_le_bytes());
        text.call(slot)?;
        text.jump(leads)?;
        Some(text.bytes)
    }

    /// The jump to its stub.
    pub fn jump(&self, stub: u64) -> Option<[u8; JUMP_BYTES]> {
        let [a, b, c, d] = distance(self.at.wrapping_add(JUMP_BYTES as u64), stub)?.to_le_bytes();
        Some([JUMP, a, b, c, d])
    }
}

/// From one address to another.
fn distance(from: u64, to: u64) -> Option<i32> {
    i32::try_from(to.wrapping_sub(from).cast_signed()).ok()
}

/// A stub as far as it is written.
struct Text {
    bytes: [u8; STUB_BYTES],
    length: usize,
    at: u64,
}

impl Text {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.length..self.length.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        self.length += bytes.len();
        Some(())
    }

    /// Puts the distance to an address from behind it.
    fn put_distance(&mut self, to: u64) -> Option<()> {
        let from = self.at.wrapping_add(self.length as u64 + 4);
        self.put(&distance(from, to)?.to_le_bytes())
    }

    fn jump(&mut self, to: u64) -> Option<()> {
        self.put(&[JUMP])?;
        self.put_distance(to)
    }

    /// Puts a call of whom `slot` says. A function may keep values in the 128 bytes below its stack pointer.
    fn call(&mut self, slot: u64) -> Option<()> {
        // lea rsp, [rsp - 128]; call [rip + slot]; lea rsp, [rsp + 128]
        self.put(&[0x48, 0x8d, 0x64, 0x24, 0x80, 0xff, 0x15])?;
        self.put_distance(slot)?;
        self.put(&[0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0])
    }

    /// Puts instructions that stand `offset` bytes behind the mark's beginning; what counts from their place
    /// is made to fit.
    fn copy(&mut self, mark: &Mark, code: &[u8], offset: usize) -> Option<()> {
        let begin = self.length;
        self.put(code)?;
        let old = mark.at.wrapping_add(offset as u64);
        let new = self.at.wrapping_add(begin as u64);
        for field in mark.fields.iter().map(|field| usize::from(*field)).filter(|field| *field != 0) {
            let Some(within) = field.checked_sub(offset).filter(|within| *within < code.len()) else {
                continue;
            };
            let bytes = self.bytes.get_mut(begin + within..begin + within + 4)?;
            let leads = i64::from(i32::from_le_bytes(bytes.try_into().ok()?));
            let moved = i32::try_from(leads.checked_add(old.wrapping_sub(new).cast_signed())?).ok()?;
            bytes.copy_from_slice(&moved.to_le_bytes());
        }
        Some(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark(at: u64, code: &[u8], branch: u8, fields: [u8; 2]) -> Mark {
        let length = code.len() as u8;
        Mark { at, length, branch, first: branch == length, fields, sum: sum(code) }
    }

    #[test]
    fn a_loop_by_a_flag_of_its_module_is_carried_out_elsewhere() {
        // 1000: mov eax, [rip + 0x100]; test eax, eax; je 1000; nop
        let code = [0x8b, 0x05, 0, 1, 0, 0, 0x85, 0xc0, 0x74, 0xf6, 0x90];
        let stub = mark(0x1000, &code, 8, [2, 0]).stub(&code, 0x2000, 0x3000).unwrap();
        let expected = [
            0x8b, 0x05, 0x00, 0xf1, 0xff, 0xff, // mov eax, [rip + 0x100 - 0x1000]
            0x85, 0xc0, // test eax, eax
            0x0f, 0x84, 6, 0, 0, 0,    // je over the jump back
            0x90, // what stands behind the branch
            0xe9, 0xf7, 0xef, 0xff, 0xff, // jmp 100b
            0x48, 0x8d, 0x64, 0x24, 0x80, // lea rsp, [rsp - 128]
            0xff, 0x15, 0xe1, 0x0f, 0, 0, // call [3000]
            0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, // lea rsp, [rsp + 128]
            0xe9, 0xd4, 0xef, 0xff, 0xff, // jmp 1000
        ];
        assert_eq!(stub[..expected.len()], expected);
        assert!(stub[expected.len()..].iter().all(|byte| *byte == 0xcc));
    }

    #[test]
    fn a_loop_without_room_at_its_end_calls_from_its_beginning() {
        // 1000: mov rax, [rdi]; test rax, rax
        let code = [0x48, 0x8b, 0x07, 0x48, 0x85, 0xc0];
        let stub = mark(0x1000, &code, 6, [0; 2]).stub(&code, 0x2000, 0x1800).unwrap();
        let expected = [
            0x48, 0x8d, 0x64, 0x24, 0x80, // lea rsp, [rsp - 128]
            0xff, 0x15, 0xf5, 0xf7, 0xff, 0xff, // call [1800]
            0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, // lea rsp, [rsp + 128]
            0x48, 0x8b, 0x07, 0x48, 0x85, 0xc0, // the same
            0xe9, 0xe8, 0xef, 0xff, 0xff, // jmp 1006
        ];
        assert_eq!(stub[..expected.len()], expected);
        // 1000: cmp dword ptr [rdi], 0; jne 1020
        let code = [0x83, 0x3f, 0x00, 0x75, 0x1b];
        let mark = Mark { first: true, ..mark(0x1000, &code, 3, [0; 2]) };
        let stub = mark.stub(&code, 0x2000, 0x1800).unwrap();
        let expected = [
            0x83, 0x3f, 0x00, // cmp dword ptr [rdi], 0
            0x0f, 0x85, 0x04, 0xf0, 0xff, 0xff, // jne 1020
            0xe9, 0xe4, 0xef, 0xff, 0xff, // jmp 1005
        ];
        assert_eq!(stub[19..][..expected.len()], expected);
    }

    #[test]
    fn other_bytes_have_no_stub() {
        let code = [0x83, 0x38, 0, 0x74, 0xfb];
        let mark = mark(0x1000, &code, 3, [0; 2]);
        assert!(mark.stub(&code, 0x2000, 0x2800).is_some());
        assert!(mark.stub(&[0xcc, 0x38, 0, 0x74, 0xfb], 0x2000, 0x2800).is_none());
        assert!(mark.stub(&code[..4], 0x2000, 0x2800).is_none());
        assert!(mark.stub(&code, 0x1_0000_0000, 0x1_0000_0800).is_none());
        assert!(mark.jump(0x1_0000_0000).is_none());
        assert_eq!(mark.jump(0x1000), Some([0xe9, 0xfb, 0xff, 0xff, 0xff]));
    }

    proptest! {
        #[test]
        fn marks_are_handed_on_whole(
            at: u64, length in 5u8..=32, branch in 0u8..5, first: bool, fields: [u8; 2], sum: u32,
        ) {
            let fields = fields.map(|field| field % (length - 3));
            let mark = Mark { at, length, branch, first, fields, sum };
            prop_assert_eq!(Mark::from_words(mark.words()), Some(mark));
        }

        #[test]
        fn nothing_that_is_handed_over_is_too_much(words: [u64; 2], code: Vec<u8>, stub: u64, slot: u64) {
            if let Some(mark) = Mark::from_words(words) {
                let mark = Mark { sum: sum(code.get(..mark.length.into()).unwrap_or(&[])), ..mark };
                let _: Option<_> = mark.stub(&code, stub, slot);
            }
        }

        #[test]
        fn whatever_branch_it_is_leads_where_it_led(
            condition in 0u8..16,
            near: bool,
            conditional: bool,
            back in 6i8..100,
            gap in -(1i64 << 30)..1 << 30,
        ) {
            let at = 0x4000_0000_0000u64;
            let distance = -i32::from(back);
            let mut code = vec![0x48, 0x39, 0xc8];
            match (conditional, near) {
                (true, false) => code.extend([0x70 | condition, -back as u8]),
                (false, false) => code.extend([0xeb, -back as u8]),
                (true, true) => code.extend([0x0f, 0x80 | condition]),
                (false, true) => code.push(0xe9),
            }
            if near {
                code.extend(distance.to_le_bytes());
            }
            let place = at.wrapping_add_signed(gap);
            let stub = mark(at, &code, 3, [0; 2]).stub(&code, place, place + 0x800).unwrap();
            let read = |from: usize| i64::from(i32::from_le_bytes(stub[from..from + 4].try_into().unwrap()));
            let (opcode, end) = if conditional { (2, 9) } else { (1, 8) };
            prop_assert_eq!(stub[3], if conditional { 0x0f } else { 0xe9 });
            let wait = end + read(3 + opcode) as usize;
            // call, then the two changes of the stack pointer, then the jump back.
            let back_end = wait + 5 + 6 + 8 + 5;
            let leads = (place + back_end as u64).wrapping_add_signed(read(back_end - 4));
            prop_assert_eq!(leads, (at + code.len() as u64).wrapping_add_signed(distance.into()));
            let on = (place + end as u64 + 5).wrapping_add_signed(read(end + 1));
            prop_assert_eq!(on, at + code.len() as u64);
        }
    }
}
