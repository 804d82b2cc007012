//! One instruction, as far as the rules look at it; of a locked one, how it locks and what it does to its word.

use serde::{Deserialize, Serialize};

/// A general register by its number: 0 to 15 on x86-64, 0 to 30 on AArch64. The stack pointer is [`SP`].
pub type Reg = u8;

/// The stack pointer, of both architectures.
pub const SP: Reg = 32;

/// How many registers there are with the stack pointer.
pub const REGS: usize = 33;

/// A place in memory, by the registers that its address is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    pub base: Option<Reg>,
    pub index: Option<Reg>,
    /// What the index is multiplied by.
    pub scale: u8,
    /// The displacement; the whole address where there is neither base nor index.
    pub displacement: i64,
    /// Relative to a thread's own memory: FS or GS.
    pub thread_local: bool,
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A number.
    Imm(i64),
    Mem(Memory),
    /// Something else: a vector register, a flag.
    Unknown,
}

/// Arithmetic that the rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// A shift, a multiplication, or whatever else gives a number that depends on its operands.
    Mixed,
}

/// A condition on the flags, with x86's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cond {
    /// Equal, or zero.
    Equal,
    /// Not equal, or not zero.
    NotEqual,
    /// Less, less or equal, greater, greater or equal, of signed or unsigned numbers.
    Ordered,
    Sign,
    Carry,
    /// Another flag.
    Other,
}

/// What a compare-and-branch of AArch64 looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegTest {
    /// The register is zero.
    Zero,
    /// The register is not zero.
    NotZero,
    BitClear,
    BitSet,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A register gets a value.
    Move {
        to: Reg,
        from: Operand,
    },
    /// An operation; without a destination it is a comparison (Sub) or a test (And).
    Compute {
        op: Op,
        /// Where the result goes.
        to: Option<Reg>,
        /// The first operand.
        a: Operand,
        /// The second operand.
        b: Operand,
        /// Whether it sets the flags.
        flags: bool,
    },
    /// Memory gets a value.
    Store {
        to: Memory,
        from: Operand,
    },
    /// Memory is changed by plain arithmetic: a load and a store.
    Modify {
        place: Memory,
    },
    /// A load-exclusive or load-acquire-exclusive.
    LoadExclusive {
        /// The register that gets the value.
        to: Reg,
        from: Memory,
    },
    /// A register becomes 1 where the condition holds, else 0.
    Set {
        to: Reg,
        cond: Cond,
    },
    /// A register gets one of two values, by a condition.
    Select {
        to: Reg,
        cond: Cond,
        a: Operand,
        b: Operand,
    },
    /// A branch on flags.
    Branch {
        cond: Cond,
        target: u64,
    },
    /// A branch on a register.
    BranchOn {
        reg: Reg,
        test: RegTest,
        target: u64,
    },
    /// A jump to an address, or to what is written at it; without one the target is computed.
    Jump(Option<u64>),
    /// A call of a function at an address, or of that whose address is written there; without one the target is computed.
    Call(Option<u64>),
    Return,
    /// A trap: UD2, INT3, HLT, BRK, UDF.
    Trap,
    SystemCall,
    /// PAUSE, YIELD, WFE, ISB: a thread waits in a loop.
    Pause,
    /// A locked read-modify-write, or a fence.
    Locked(Locked),
    /// Anything else.
    Other {
        /// A register that it writes, if it writes one.
        writes: Option<Reg>,
        /// Whether it changes the flags.
        flags: bool,
        loads: bool,
        stores: bool,
    },
    /// No instruction.
    Invalid,
}

/// A locked read-modify-write, or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locked {
    pub form: Form,
    pub operation: Operation,
    /// Bytes of its word.
    pub width: u8,
    /// Its word; none for a fence that has no operand.
    pub place: Option<Memory>,
    /// What it adds, stores, or combines with. A subtraction of a number has the number negated.
    pub operand: Operand,
    /// Whether the operand is subtracted: SUB with a register.
    pub subtracts: bool,
    /// AND, or a bit reset: it clears.
    pub clears: bool,
    /// The register that gets the old value.
    pub old: Option<Reg>,
    /// Whether flags show the result afterwards: the new value of an ADD, success of a CMPXCHG, the old bit of a BTS.
    pub flags: bool,
    /// The status register of a store-exclusive.
    pub status: Option<Reg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub address: u64,
    /// Its bytes.
    pub length: u8,
    pub what: What,
}

impl Step {
    /// The address after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(self.length.into())
    }

    /// Where a direct branch, jump or call leads.
    pub fn target(&self) -> Option<u64> {
        match self.what {
            What::Branch { target, .. } | What::BranchOn { target, .. } => Some(target),
            What::Jump(target) | What::Call(target) => target,
            _ => None,
        }
    }

    /// Whether a basic block ends with it.
    pub fn ends_block(&self) -> bool {
        matches!(
            self.what,
            What::Branch { .. }
                | What::BranchOn { .. }
                | What::Jump(_)
                | What::Call(_)
                | What::Return
                | What::Trap
                | What::SystemCall
                | What::Invalid
        )
    }
}

/// How an instruction locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A LOCK prefix.
    Lock,
    /// XCHG with memory.
    Xchg,
    /// An LSE atomic.
    Lse,
    /// A store-exclusive.
    Exclusive,
    Fence,
}

/// What an instruction does to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Adds or subtracts, and gives no old value: ADD, SUB, INC, DEC, ADC, SBB, NEG.
    Add,
    /// Adds and gives the old value: XADD, LDADD.
    FetchAdd,
    Exchange,
    /// Compares and exchanges: CMPXCHG, CMPXCHG8B, CMPXCHG16B, CAS, CASP.
    CompareExchange,
    /// AND, OR, XOR, NOT, LDCLR, LDSET, LDEOR.
    Logic,
    /// BTS, BTR, BTC.
    Bit,
    /// Minimum or maximum.
    MinMax,
    /// A store-exclusive: what its loop does is in the class.
    StoreExclusive,
    /// Orders memory and nothing else.
    Fence,
}
