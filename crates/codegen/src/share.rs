//! The functions of a large kernel, compiled on several processors.
//!
//! Everything in a context of LLVM belongs to one thread. So each thread emits the whole kernel, which is
//! quick, keeps its share of the functions and makes an object of them. Functions of other shares are found
//! when the objects are linked.

use inkwell::module::{Linkage, Module};
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{FunctionValue, InstructionOpcode};

use crate::chains::VECTOR_BITS;
use crate::jit::ENTRY;
use crate::optimise::{is_left_as_it_is, n_instructions};
use crate::tiers::Quality;

/// Kernels of fewer instructions are compiled by one thread.
pub(crate) const LARGE: usize = 2000;

/// How many times longer than others instructions take that have vectors, where code is made quickly.
const VECTOR: usize = 16;

/// How many times quicker functions are that are translated as they are.
const QUICK: usize = 6;

/// The time for a longer function grows with the square of its length.
const LONG: usize = 6000;

/// How many instructions a module has, where each costs the usual time.
pub(crate) fn n_instructions_of(module: &Module<'_>) -> usize {
    module.get_functions().map(cost).sum()
}

/// How many instructions cost as much as a function.
fn cost(function: FunctionValue<'_>) -> usize {
    match is_left_as_it_is(function) {
        true => n_instructions(function) / QUICK,
        false => {
            let n = n_instructions(function);
            n.saturating_mul(n.max(LONG)) / LONG
        }
    }
}

/// The same for code that is made quickly. Its passes leave few loads and stores; vectors are translated slowly,
/// one register after the other.
fn quick_cost(function: FunctionValue<'_>) -> usize {
    let blocks = function.get_basic_blocks();
    let all = blocks.iter().flat_map(|block| block.get_instructions());
    let cost = all.map(|instruction| match instruction.get_opcode() {
        InstructionOpcode::Alloca
        | InstructionOpcode::Load
        | InstructionOpcode::Store
        | InstructionOpcode::GetElementPtr => 0,
        _ if instruction.get_type().is_vector_type() => {
            VECTOR * n_registers(instruction.get_type())
        }
        _ => 1,
    });
    cost.sum()
}

/// How many registers a value of a type needs.
fn n_registers(ty: AnyTypeEnum<'_>) -> usize {
    let AnyTypeEnum::VectorType(vector) = ty else { return 1 };
    let bits = match vector.get_element_type() {
        BasicTypeEnum::FloatType(float) => float.get_bit_width(),
        BasicTypeEnum::IntType(int) => int.get_bit_width(),
        _ => 64,
    };
    (vector.get_size() * bits).div_ceil(VECTOR_BITS) as usize
}

/// The shares of a module: the names of the functions that belong together. The function of the kernel is in
/// the first; there is one share if the kernel is small or has no pieces.
pub(crate) fn shares(module: &Module<'_>, most: usize, quality: Quality) -> Vec<Vec<String>> {
    let cost = if quality == Quality::Quick { quick_cost } else { cost };
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut first = 0;
    for function in module.get_functions() {
        let n = cost(function);
        match piece_name(function) {
            Some(name) => all.push((n, name)),
            None => first += n,
        }
    }
    let total: usize = first + all.iter().map(|(n, _)| n).sum::<usize>();
    if total < LARGE || most < 2 || all.is_empty() {
        return vec![Vec::new()];
    }
    // The largest first, each to the share that has least.
    all.sort_by(|a, b| b.cmp(a));
    let mut shares = vec![(0, Vec::new()); most.min(1 + total / LARGE)];
    shares[0].0 = first;
    for (n, name) in all {
        if let Some(least) = shares.iter_mut().min_by_key(|(size, _)| *size) {
            least.0 += n;
            least.1.push(name);
        }
    }
    shares.retain(|(size, _)| *size > 0);
    shares.into_iter().map(|(_, names)| names).collect()
}

/// Leaves a share of the functions in a module, and of the others only their names. The names of pieces get
/// that of the kernel, since no two kernels may have the same.
pub(crate) fn keep(module: &Module<'_>, names: &[String], is_first: bool, kernel: &str) {
    for function in module.get_functions() {
        let is_kept = match piece_name(function) {
            Some(name) => {
                let of_kernel = name.replace(ENTRY, kernel);
                function.as_global_value().set_name(&of_kernel);
                function.set_linkage(Linkage::External);
                names.contains(&name)
            }
            None => is_first || !is_kernel(function, kernel),
        };
        if !is_kept {
            function.set_linkage(Linkage::AvailableExternally);
        }
    }
}

fn is_kernel(function: FunctionValue<'_>, kernel: &str) -> bool {
    function.get_name().to_bytes() == kernel.as_bytes()
}

/// The name of a piece.
fn piece_name(function: FunctionValue<'_>) -> Option<String> {
    let name = function.get_name().to_str().ok()?;
    let is_piece = name.strip_prefix(ENTRY)?.starts_with("_piece_");
    is_piece.then(|| name.to_owned())
}
