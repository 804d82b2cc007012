//! Translated blocks: which sites they have, and what is called when they are executed.
//!
//! What a block's callbacks are given lives as long as the process, since the emulator does not say when it forgets a block.
//! Equal blocks are given the same, so a program that generates code at the same place again and again takes no more memory.

use crate::api::{Api, Insn, Tb};
use crate::block::{Block, Use};
use crate::decode::{Decoded, Flow, aarch64, x86_64};
use crate::layout::{ARCH_X86_64, BEFORE, CODE};
use crate::sites::{Place, Sites};
use crate::sys;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How much of what follows a block is kept.
const BEHIND: usize = 32;

/// What translation shares.
#[derive(Default)]
pub struct Translation {
    /// The sites.
    pub sites: Sites,
    blocks: HashSet<&'static Block>,
    uses: HashSet<&'static Use>,
}

static TRANSLATION: LazyLock<Mutex<Translation>> = LazyLock::new(Mutex::default);

/// Where this process has the program's address 0.
pub static GUEST_BASE: AtomicU64 = AtomicU64::new(0);

/// Where this process has what the program calls `address`.
pub fn host(address: u64) -> u64 {
    address.wrapping_add(GUEST_BASE.load(Ordering::Relaxed))
}

/// Locks what translation shares. Inside it is the image's lock only.
pub fn lock() -> MutexGuard<'static, Translation> {
    TRANSLATION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One instruction of a block that is translated.
struct Instruction {
    handle: Insn,
    address: u64,
    start: usize,
    end: usize,
    found: Option<Decoded>,
}

/// What the program's architecture asks of translation.
#[derive(Clone, Copy)]
pub struct Rules {
    /// `layout::ARCH_...`
    pub arch: u32,
    /// Forms that are left out.
    pub leave_out: u32,
    /// Whether calls are followed.
    pub callers: bool,
}

/// A block was translated.
pub fn translated(api: &Api, rules: Rules, tb: Tb) {
    let mut code = Vec::new();
    let instructions = read(api, rules, tb, &mut code);
    let (Some(first), Some(last)) = (instructions.first(), instructions.last()) else {
        return;
    };
    let host = api.host_address(first.handle);
    if host != 0 {
        GUEST_BASE.store(host.wrapping_sub(first.address), Ordering::Relaxed);
    }
    let mut translation = lock();
    for (at, instruction) in instructions.iter().enumerate() {
        let Some(found) = instruction.found else { continue };
        let Some(site) = translation.find_site(&instructions, at, &code) else {
            continue;
        };
        let used = translation.intern_use(Use {
            site,
            address: instruction.address,
            at: u32::try_from(at).unwrap_or(0),
            from: u32::try_from(instructions.len() - at).unwrap_or(0),
            found,
        });
        api.on_site(instruction.handle, used);
    }
    let flow = match &code[last.start..last.end] {
        _ if !rules.callers => Flow::Next,
        last_code if rules.arch == ARCH_X86_64 => x86_64::flow(last_code, last.address),
        last_code => aarch64::flow(last_code, last.address),
    };
    let size = |i: &Instruction| u8::try_from(i.end - i.start).unwrap_or(u8::MAX);
    let block = translation.intern_block(Block {
        first: first.address,
        tail: (last.address, size(last)),
        instructions: u32::try_from(instructions.len()).unwrap_or(0),
        first_size: size(first),
        tail_repeats: rules.arch == ARCH_X86_64 && x86_64::repeats(&code[last.start..last.end]),
        flow,
    });
    api.on_block(tb, block);
}

fn read(api: &Api, rules: Rules, tb: Tb, code: &mut Vec<u8>) -> Vec<Instruction> {
    let mut instructions = Vec::new();
    for at in 0..api.instructions(tb) {
        let Some(handle) = api.instruction(tb, at) else { break };
        let start = code.len();
        api.code(handle, code);
        let bytes = &code[start..];
        let found = if rules.arch == ARCH_X86_64 {
            x86_64::site(bytes)
        } else {
            aarch64::site(bytes)
        };
        instructions.push(Instruction {
            handle,
            address: api.address(handle),
            start,
            end: code.len(),
            found: found.filter(|f| f.form.bit() & rules.leave_out == 0),
        });
    }
    instructions
}

impl Translation {
    fn find_site(&mut self, instructions: &[Instruction], at: usize, code: &[u8]) -> Option<u32> {
        let site = &instructions[at];
        // Whole instructions, as many as there is room for.
        let before = instructions[..at].iter().find(|i| site.start - i.start <= BEFORE);
        let before = before.map_or(site.start, |i| i.start);
        let last = instructions[at..].iter().rfind(|i| i.end - site.start <= CODE);
        let end = last.map_or(site.end, |i| i.end);
        let mut rest = code[site.start..end].to_vec();
        let base = GUEST_BASE.load(Ordering::Relaxed);
        if end == code.len() {
            let behind = site.address.wrapping_add(rest.len() as u64);
            rest.extend(read_behind(behind.wrapping_add(base), CODE - rest.len()));
        }
        let mapping = self.sites.maps.find(site.address.wrapping_add(base), base);
        self.sites.find(&Place {
            address: site.address,
            mapping,
            instruction: &code[site.start..site.end],
            before: &code[before..site.start],
            code: &rest,
        })
    }

    fn intern_use(&mut self, used: Use) -> &'static Use {
        if let Some(known) = self.uses.get(&used) {
            return known;
        }
        let kept: &'static Use = Box::leak(Box::new(used));
        self.uses.insert(kept);
        kept
    }

    fn intern_block(&mut self, block: Block) -> &'static Block {
        if let Some(known) = self.blocks.get(&block) {
            return known;
        }
        let kept: &'static Block = Box::leak(Box::new(block));
        self.blocks.insert(kept);
        kept
    }
}

/// Code behind a block, to the end of its page at most.
fn read_behind(address: u64, room: usize) -> Vec<u8> {
    let page = sys::page_size();
    let to_end = page - address % page;
    // Behind a block that ends with its page is another page, which may not be there.
    let wanted = usize::try_from(to_end).unwrap_or(0).min(BEHIND).min(room);
    let mut bytes = vec![0; wanted];
    let read = sys::peek(address, &mut bytes);
    bytes.truncate(read);
    bytes
}
