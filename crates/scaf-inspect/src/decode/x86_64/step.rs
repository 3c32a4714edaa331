//! What an instruction reads, writes and computes, vector registers included: for the analysis of effects.

use super::instruction::{FLAGS, Instruction, OTHERS, is_immediate, is_read, is_written, number};
use crate::decode::RegisterSet;
use crate::decode::operation::Flow;
use crate::decode::step::{Kind, Order, Spot, Step};
use iced_x86::{
    Code, ConditionCode as C, InstructionInfo, Mnemonic as M, OpAccess, OpKind, Register as Name,
};
use std::cell::RefCell;
use std::sync::LazyLock;

/// Where the canary of stack protectors stands, from the thread's base on.
const CANARY: u64 = 0x28;

thread_local! {
    static INFO: RefCell<iced_x86::InstructionInfoFactory> =
        RefCell::new(iced_x86::InstructionInfoFactory::new());
}

/// The kinds of all mnemonics, as far as their names tell.
static KINDS: LazyLock<Vec<Kind>> =
    LazyLock::new(|| M::values().map(|it| by_name(&format!("{it:?}"))).collect());

static X87: LazyLock<Vec<bool>> =
    LazyLock::new(|| M::values().map(|it| format!("{it:?}").starts_with('F')).collect());

fn by_name(name: &str) -> Kind {
    let bare = name.to_ascii_lowercase();
    let bare = bare.strip_prefix('v').filter(|rest| !rest.starts_with("err")).unwrap_or(&bare);
    let begins = |starts: &[&str]| starts.iter().any(|start| bare.starts_with(start));
    let is = |names: &[&str]| names.contains(&bare);
    let floats = |stem: &str| {
        let rest = bare.strip_prefix(stem);
        rest.is_some_and(|rest| ["sd", "ss", "pd", "ps"].contains(&rest))
    };
    let integers = |stem: &str| {
        let rest = bare.strip_prefix(stem);
        rest.is_some_and(|rest| {
            ["b", "w", "d", "q", "sb", "sw", "sd", "sq", "ub", "uw", "ud", "uq"].contains(&rest)
        })
    };
    // Those that saturate have one letter more.
    let wraps = |stem: &str| integers(stem) && bare.len() == stem.len() + 1;
    if begins(&["fmadd", "fnmadd", "fmsub", "fnmsub"]) && bare.len() > 8 {
        // Of a*b - c the sum isn't added up further.
        let adds = begins(&["fmadd", "fnmadd"]);
        let order: String = bare.chars().filter(char::is_ascii_digit).collect();
        return match order.as_str() {
            "132" if adds => Kind::Fused { addend: 1 },
            "213" if adds => Kind::Fused { addend: 2 },
            "231" if adds => Kind::Fused { addend: 0 },
            _ => Kind::Other,
        };
    }
    if is(&["add", "inc"]) || floats("add") || wraps("padd") {
        Kind::Add
    } else if is(&["sub", "dec"]) || floats("sub") || wraps("psub") {
        Kind::Subtract
    } else if is(&["imul", "mul"]) || floats("mul") || integers("pmull") {
        Kind::Multiply
    } else if is(&["and", "pand", "pandd", "pandq", "andps", "andpd"]) {
        Kind::And
    } else if is(&["or", "por", "pord", "porq", "orps", "orpd"]) {
        Kind::Or
    } else if is(&["xor", "pxor", "pxord", "pxorq", "xorps", "xorpd"]) {
        Kind::Xor
    } else if floats("min") || floats("max") {
        if begins(&["min"]) { Kind::Least(Order::Floats) } else { Kind::Most(Order::Floats) }
    } else if integers("pmin") || integers("pmax") {
        let bytes = match bare.chars().last() {
            Some('b') => 1,
            Some('w') => 2,
            Some('d') => 4,
            _ => 8,
        };
        let is_signed = bare.get(4..5) == Some("s");
        let order = if is_signed { Order::Signed(bytes) } else { Order::Unsigned(bytes) };
        if begins(&["pmin"]) { Kind::Least(order) } else { Kind::Most(order) }
    } else if is(&["lea"]) {
        Kind::Address
    } else if is(&["shl", "sal", "shlx", "psllw", "pslld", "psllq"]) {
        Kind::Shift
    } else if is(&["shr", "shrx"]) {
        Kind::ShiftRight { by_sign: false }
    } else if is(&["sar", "sarx"]) {
        Kind::ShiftRight { by_sign: true }
    } else if is(&["neg"]) {
        Kind::Negate
    } else if is(&["div", "idiv"]) {
        Kind::Divide
    } else if is(&["cmp", "comisd", "comiss", "ucomisd", "ucomiss"]) {
        Kind::Compare
    } else if is(&["test"]) {
        Kind::Test
    } else if is(&["push"]) {
        Kind::Push
    } else if is(&["pop"]) {
        Kind::Pop
    } else if is(&["leave"]) {
        Kind::Leave
    } else if is(&["cdqe", "cwde", "cbw"]) {
        Kind::Widen
    } else if is(&["xadd"]) {
        Kind::ExchangeAdd
    } else if is(&["xchg"]) {
        Kind::Exchange
    } else if is(&["cmpxchg"]) {
        Kind::CompareExchange
    } else if is(&["nop", "endbr64", "pause", "zeroupper", "zeroall", "mfence", "lfence", "sfence"])
        || begins(&["prefetch"])
    {
        Kind::Nothing
    } else if is(&["mov", "movzx", "movsx", "movsxd", "movaps", "movups", "movapd", "movupd", "movd", "movq"])
        || is(&["movss", "movsd", "lddqu", "movnti", "movntps", "movntpd", "movntdq"])
        || begins(&["movdqa", "movdqu"])
    {
        Kind::Move
    } else if begins(&["pshuf", "shuf", "perm", "unpck", "punpck", "extract", "pextr", "insert", "pinsr"])
        || begins(&[
            "psrldq",
            "pslldq",
            "palignr",
            "broadcast",
            "pbroadcast",
            "movddup",
            "movhlps",
            "movlhps",
        ])
        || begins(&["movshdup", "movsldup", "movhp", "movlp"])
    {
        Kind::Lanes
    } else if begins(&["cpuid", "rdpid", "rdtsc", "rdfsbase", "rdgsbase", "wrfsbase", "wrgsbase", "rdrand"])
        || begins(&["rdseed", "cmpxchg8b", "cmpxchg16b", "xbegin", "in", "out", "ldmxcsr", "fldcw", "fldenv"])
        || is(&["lsl", "sgdt", "sidt", "sldt", "str", "swapgs", "xrstor", "fxrstor", "ldtilecfg"])
        || is(&["stmxcsr", "fnstenv", "fstenv", "fnsave", "fsave", "fxsave", "fxsave64"])
        || begins(&["xsave"])
    {
        if begins(&["insert", "incssp"]) { Kind::Other } else { Kind::Forbidden }
    } else {
        Kind::Other
    }
}

impl Instruction {
    pub fn step(&self) -> Step {
        INFO.with_borrow_mut(|factory| self.look(factory.info(&self.0)))
    }

    fn look(&self, info: &InstructionInfo) -> Step {
        let i = &self.0;
        let flow = self.flow();
        let mut operands: Vec<Spot> = (0..i.op_count()).map(|at| self.spot(at)).collect();
        let mut kind = if flow == Flow::Next { self.kind(&mut operands) } else { Kind::Nothing };
        let mut reads = RegisterSet::default();
        let mut writes = RegisterSet::default();
        let has_memory = operands.contains(&Spot::Memory);
        let in_address =
            |name: Name| has_memory && name.is_gpr() && [i.memory_base(), i.memory_index()].contains(&name);
        let is_operand = |name: Name| {
            (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Register && i.op_register(at) == name)
        };
        for at in 0..i.op_count().min(5) {
            let part = i.op_kind(at) == OpKind::Register
                && i.op_register(at).is_gpr()
                && i.op_register(at).size() < 4
                && kind != Kind::Flag
                && info.op_access(at) == OpAccess::Write;
            // What is written on a condition may keep its value.
            let kept = info.op_access(at) == OpAccess::CondWrite;
            if i.op_kind(at) == OpKind::Register && (is_read(info.op_access(at)) || part || kept) {
                reads.insert(number(i.op_register(at)));
            }
        }
        for used in info.used_registers().iter().filter(|used| !used.register().is_segment_register()) {
            let implied = !is_operand(used.register()) && !in_address(used.register());
            if implied && is_read(used.access()) {
                reads.insert(number(used.register()));
            }
            if is_written(used.access()) {
                writes.insert(number(used.register()));
            }
        }
        // The decoder doesn't name the x87's registers.
        if X87.get(i.mnemonic() as usize) == Some(&true) {
            reads.insert(OTHERS);
            writes.insert(OTHERS);
        }
        if kind == Kind::Nothing && flow == Flow::Next {
            (reads, writes) = Default::default();
        }
        if matches!(kind, Kind::Constant(_)) {
            reads = RegisterSet::default();
        }
        if self.keeps_upper_lanes_only() {
            // Scalar code looks at none but the lowest lane.
            reads = RegisterSet::default();
            if let Some(Spot::Register(source)) = operands.last() {
                reads.insert(*source);
            }
        }
        if i.rflags_read() != 0 {
            reads.insert(FLAGS);
        }
        if i.rflags_modified() != 0 {
            writes.insert(FLAGS);
        }
        let accesses = |wanted: &dyn Fn(OpAccess) -> bool| {
            kind != Kind::Nothing && info.used_memory().iter().any(|memory| wanted(memory.access()))
        };
        let (loads, stores) = (accesses(&is_read), accesses(&is_written));
        if i.op_mask() != Name::None || i.zeroing_masking() {
            kind = Kind::Other;
        }
        if stores && !has_memory && kind == Kind::Other {
            // To where no operand says.
            kind = Kind::Forbidden;
        }
        Step {
            address: i.ip(),
            next: i.next_ip(),
            flow,
            target: if flow == Flow::Next { crate::decode::Target::Unknown } else { self.target() },
            condition: self.condition(),
            is_unsigned: matches!(i.condition_code(), C::a | C::ae | C::b | C::be),
            kind,
            form: self.form(),
            extends: matches!(i.mnemonic(), M::Movsx | M::Movsxd | M::Movzx | M::Cdqe | M::Cwde | M::Cbw),
            memory: has_memory.then(|| self.memory()),
            operands,
            reads,
            writes,
            loads,
            stores,
            locked: i.has_lock_prefix() || (i.mnemonic() == M::Xchg && has_memory),
            bytes: self.fewest_bytes(),
            thread_local: has_memory && self.is_thread_local(),
        }
    }

    fn form(&self) -> u32 {
        let i = &self.0;
        let is_second = |at: u32| {
            matches!(i.op_register(at), Name::AH | Name::BH | Name::CH | Name::DH)
                && i.op_kind(at) == OpKind::Register
        };
        if (0..i.op_count()).any(is_second) {
            return 0;
        }
        let more = (i.rounding_control() as u32) << 2
            | u32::from(i.zeroing_masking()) << 1
            | u32::from(i.is_broadcast());
        let code = match i.code() {
            Code::Cdqe => Code::Movsxd_r64_rm32,
            Code::Cwde => Code::Movsx_r32_rm16,
            code => code,
        };
        code as u32 | more << 16
    }

    fn fewest_bytes(&self) -> usize {
        let i = &self.0;
        let of = |at: u32| match i.op_kind(at) {
            OpKind::Register if i.op_register(at).is_gpr() => i.op_register(at).size(),
            OpKind::Memory if i.mnemonic() != M::Lea => i.memory_size().size(),
            _ => 8,
        };
        // What these take isn't named, or is part of a vector.
        let taken = match i.mnemonic() {
            M::Cbw | M::Pextrb | M::Vpextrb => 1,
            M::Cwde | M::Pextrw | M::Vpextrw => 2,
            M::Cdqe => 4,
            _ => 8,
        };
        (0..i.op_count()).map(of).chain([taken]).filter(|bytes| *bytes > 0).min().unwrap_or(8).min(8)
    }

    fn spot(&self, at: u32) -> Spot {
        match self.0.op_kind(at) {
            OpKind::Register if number(self.0.op_register(at)) != OTHERS => {
                Spot::Register(number(self.0.op_register(at)))
            }
            OpKind::Memory => Spot::Memory,
            kind if is_immediate(kind) => Spot::Constant(self.0.immediate(at) as i64),
            _ => Spot::Other,
        }
    }

    fn kind(&self, operands: &mut Vec<Spot>) -> Kind {
        let i = &self.0;
        let kind = KINDS.get(i.mnemonic() as usize).copied().unwrap_or(Kind::Other);
        let last_two = operands.len().checked_sub(2).and_then(|from| operands.get(from..));
        let same = last_two.is_some_and(|two| two[0] == two[1] && matches!(two[0], Spot::Register(_)));
        match i.mnemonic() {
            M::Inc | M::Dec => operands.push(Spot::Constant(1)),
            M::Pcmpeqd | M::Vpcmpeqd | M::Pcmpeqb | M::Pcmpeqw | M::Pcmpeqq if same => {
                return Kind::Constant(-1);
            }
            M::Pandn | M::Vpandn | M::Andnps | M::Andnpd if same => return Kind::Constant(0),
            _ => {}
        }
        match kind {
            Kind::Subtract | Kind::Xor if same => Kind::Constant(0),
            Kind::Test if same => {
                operands[1] = Spot::Constant(0);
                Kind::Compare
            }
            // One operand: the pair of registers isn't followed further.
            Kind::Multiply if i.op_count() == 1 => Kind::Other,
            Kind::Move if i.is_string_instruction() => Kind::Fill,
            Kind::Move if i.mnemonic() == M::Movsd || i.mnemonic() == M::Movss => self.blend(operands),
            Kind::Move if i.mnemonic() == M::Vmovsd || i.mnemonic() == M::Vmovss => self.blend(operands),
            Kind::Other if i.is_string_instruction() && i.mnemonic() != M::Lodsb => match i.mnemonic() {
                M::Movsb | M::Movsw | M::Movsq | M::Stosb | M::Stosw | M::Stosd | M::Stosq => Kind::Fill,
                _ => Kind::Other,
            },
            Kind::Other if self.condition().is_some() && operands.len() == 2 => Kind::Select,
            Kind::Other if self.condition().is_some() => Kind::Flag,
            kind => kind,
        }
    }

    /// A scalar's move from register to register keeps the other lanes; to or from memory it doesn't.
    fn blend(&self, operands: &[Spot]) -> Kind {
        if operands.contains(&Spot::Memory) { Kind::Move } else { Kind::Lanes }
    }

    fn keeps_upper_lanes_only(&self) -> bool {
        use M::{
            Cvtsd2ss, Cvtsi2sd, Cvtsi2ss, Cvtss2sd, Rcpss, Roundsd, Roundss, Rsqrtss, Sqrtsd, Sqrtss,
            Vcvtsd2ss, Vcvtsi2sd, Vcvtsi2ss, Vcvtss2sd, Vcvtusi2sd, Vcvtusi2ss, Vroundsd, Vroundss, Vsqrtsd,
            Vsqrtss,
        };
        matches!(
            self.0.mnemonic(),
            Cvtsd2ss
                | Cvtsi2sd
                | Cvtsi2ss
                | Cvtss2sd
                | Rcpss
                | Rsqrtss
                | Sqrtsd
                | Sqrtss
                | Vcvtsd2ss
                | Vcvtsi2sd
                | Vcvtsi2ss
                | Vcvtss2sd
                | Vcvtusi2sd
                | Vcvtusi2ss
                | Vsqrtsd
                | Vsqrtss
        ) || matches!(self.0.mnemonic(), Roundsd | Roundss | Vroundsd | Vroundss)
            && self.0.op_kind(self.0.op_count() - 2) == OpKind::Memory
    }

    /// Whether it reads or writes what each thread has of its own, other than a canary.
    fn is_thread_local(&self) -> bool {
        let i = &self.0;
        let own = matches!(i.memory_segment(), Name::FS | Name::GS);
        let canary = i.memory_displacement64() == CANARY
            && i.memory_base() == Name::None
            && i.memory_index() == Name::None;
        own && !canary
    }
}
