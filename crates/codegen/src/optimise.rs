//! The host's target, the passes over a kernel, and its object.

#![allow(unsafe_code)]

use std::sync::OnceLock;

use einlang_interp::native::CodeForm;
use inkwell::OptimizationLevel;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMContextSetDiscardValueNames;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine,
};
use inkwell::values::FunctionValue;

use crate::tiers::{Quality, Sums};

/// What is known of this computer.
struct Host {
    cpu: String,
    features: String,
    /// Whether any access can be masked.
    has_masks: bool,
}

fn host() -> Result<&'static Host, String> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    let made = HOST.get_or_init(|| {
        Target::initialize_native(&InitializationConfig::default())?;
        let features = TargetMachine::get_host_cpu_features().to_string();
        let has = |feature: &&str| features.split(',').any(|has| has == *feature);
        let has_masks = ["+avx512f", "+avx512bw", "+avx512vl"].iter().all(has);
        Ok(Host { cpu: TargetMachine::get_host_cpu_name().to_string(), features, has_masks })
    });
    made.as_ref().map_err(String::clone)
}

/// What code depends on besides its kernel: the processor, what it can do, and LLVM.
pub(crate) fn target() -> Result<String, String> {
    let Host { cpu, features, .. } = host()?;
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    Ok(format!("LLVM {major}.{minor}.{patch}\n{cpu} {features}"))
}

/// Whether loads and stores of any vector can be masked at no cost.
pub(crate) fn has_masks() -> bool {
    host().is_ok_and(|host| host.has_masks)
}

/// A context for code that nobody reads: values need no names, which take time to make.
pub(crate) fn nameless() -> Context {
    let context = Context::create();
    // SAFETY: the context is alive, and nothing is in it yet.
    unsafe { LLVMContextSetDiscardValueNames(context.raw(), 1) };
    context
}

/// Gives a function another name.
pub(crate) fn rename(module: &Module<'_>, from: &str, to: &str) {
    if let Some(function) = module.get_function(from) {
        function.as_global_value().set_name(to);
    }
}

/// A machine that translates. Quick code is translated without a search for registers, but for sums of tiles, which
/// would be in memory: finding theirs takes less time than such sums lose in their first run.
fn machine(quality: Quality, sums: Sums) -> Result<TargetMachine, String> {
    let host = host()?;
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let made = target.create_target_machine(
        &triple,
        &host.cpu,
        &host.features,
        match (quality, sums) {
            (Quality::Quick, Sums::OfTiles) => OptimizationLevel::Less,
            (Quality::Quick, _) => OptimizationLevel::None,
            (Quality::Thorough, _) => OptimizationLevel::Default,
        },
        RelocMode::PIC,
        CodeModel::Default,
    );
    made.ok_or_else(|| "this computer is no target of LLVM".to_owned())
}

/// Tells every function of a module about the host: without that there are no wide vectors.
fn describe(module: &Module<'_>) -> Result<(), String> {
    let host = host()?;
    let context = module.get_context();
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        let texts = [
            ("target-cpu", host.cpu.as_str()),
            ("target-features", host.features.as_str()),
            ("prefer-vector-width", "512"),
        ];
        for (name, value) in texts {
            let attribute = context.create_string_attribute(name, value);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
    }
    Ok(())
}

fn optimise(module: &Module<'_>, machine: &TargetMachine, quality: Quality) -> Result<(), String> {
    describe(module)?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.verify().map_err(|e| format!("the code is not well formed: {}", e.to_string()))?;
    if quality == Quality::Quick {
        module.get_functions().for_each(improve_after_all);
    }
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(true);
    // Sums are vectors as they are emitted, and little else is found for how long it takes to look.
    options.set_loop_slp_vectorization(has(module, SMALL));
    options.set_loop_unrolling(true);
    module.run_passes(passes(module, quality), machine, options).map_err(|e| e.to_string())
}

/// Lets AddressSanitizer test every access.
fn sanitise(module: &Module<'_>, machine: &TargetMachine) -> Result<(), String> {
    let kind = Attribute::get_named_enum_kind_id("sanitize_address");
    let attribute = module.get_context().create_enum_attribute(kind, 0);
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let options = PassBuilderOptions::create();
    module.run_passes("asan", machine, options).map_err(|e| e.to_string())
}

/// The attribute of functions with loops that somebody chose to run as lanes or several rounds at once.
/// They need neither the search for vectors nor copies of their loops, which take most of the time of the
/// usual passes.
pub(crate) const CHOSEN: &str = "einlang-chosen";

/// The attribute of functions with small buffers on the stack. What is done with them is written out, and
/// operations that lie side by side become vectors.
pub(crate) const SMALL: &str = "einlang-small";

/// The attributes of LLVM for functions without any passes. The first needs the second.
const AS_IT_IS: [&str; 2] = ["optnone", "noinline"];

/// A kernel of more instructions gets few passes in any case: it is not one hot loop, and more would take
/// longer than most runs of it.
const LARGE: usize = 3000;

/// Few passes: slots become registers, formulas are inlined, what does not change leaves its loops.
const FEW: &str = "cgscc(inline),\
    function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
    loop-mssa(loop-rotate,licm),simplifycfg,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(licm),dse,adce)";

/// The same for small buffers.
const FEW_AND_SIDE_BY_SIDE: &str = "cgscc(inline),\
    function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
    loop-mssa(loop-rotate,licm),simplifycfg,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(licm),slp-vectorizer,instcombine<no-verify-fixpoint>,dse,adce)";

/// Hardly any passes: slots become registers, so that there is less to translate. Formulas are called: each is
/// translated once, and constants of vectors, of which they are full, take long. More would not pay: code that is
/// translated quickly keeps in memory what lives longer than a block, so it is none the faster for values that were
/// moved out of loops.
const QUICK: &str = "function(sroa,early-cse,simplifycfg)";

/// How many instructions a function has.
pub(crate) fn n_instructions(function: FunctionValue<'_>) -> usize {
    function.get_basic_blocks().iter().map(|block| block.get_instructions().count()).sum()
}

/// Lets a function be translated as it is: no loop in it computes anything, it only calls those that do.
pub(crate) fn leave_as_it_is(context: &Context, function: FunctionValue<'_>) {
    for name in AS_IT_IS {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

/// Whether a function is translated as it is.
pub(crate) fn is_left_as_it_is(function: FunctionValue<'_>) -> bool {
    let kind = Attribute::get_named_enum_kind_id(AS_IT_IS[0]);
    function.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}

/// Lets a function have passes that was to be translated as it is: they leave a quarter of it, which takes less time
/// than to translate the rest quickly.
fn improve_after_all(function: FunctionValue<'_>) {
    let kind = Attribute::get_named_enum_kind_id(AS_IT_IS[0]);
    function.remove_enum_attribute(AttributeLoc::Function, kind);
}

/// Takes away functions that are defined elsewhere or called by nobody.
pub(crate) fn drop_others(module: &Module<'_>) -> Result<(), String> {
    let passes = "elim-avail-extern,globaldce";
    let done = module.run_passes(
        passes,
        &machine(Quality::Quick, Sums::Usual)?,
        PassBuilderOptions::create(),
    );
    done.map_err(|e| e.to_string())
}

/// The passes for a module.
fn passes(module: &Module<'_>, quality: Quality) -> &'static str {
    if quality == Quality::Quick {
        return QUICK;
    }
    let n: usize = module.get_functions().map(n_instructions).sum();
    match has(module, CHOSEN) || n > LARGE {
        true if has(module, SMALL) => FEW_AND_SIDE_BY_SIDE,
        true => FEW,
        false => "default<O2>",
    }
}

/// Whether some function of a module has an attribute.
fn has(module: &Module<'_>, attribute: &str) -> bool {
    let has = |f: FunctionValue<'_>| f.get_string_attribute(AttributeLoc::Function, attribute);
    module.get_functions().any(|function| has(function).is_some())
}

/// The object of a module.
pub(crate) fn object(
    module: &Module<'_>,
    sanitised: bool,
    (quality, sums): (Quality, Sums),
) -> Result<Vec<u8>, String> {
    let machine = machine(quality, sums)?;
    // Before other passes, which take for granted that no access is outside.
    if sanitised {
        sanitise(module, &machine)?;
    }
    optimise(module, &machine, quality)?;
    let buffer = machine.write_to_memory_buffer(module, FileType::Object);
    Ok(buffer.map_err(|e| e.to_string())?.as_slice().to_vec())
}

/// The text of a module in a form.
pub(crate) fn show(module: &Module<'_>, form: CodeForm) -> Result<String, String> {
    let machine = machine(Quality::Thorough, Sums::Usual)?;
    if form == CodeForm::Emitted {
        return Ok(module.print_to_string().to_string());
    }
    optimise(module, &machine, Quality::Thorough)?;
    if form == CodeForm::Optimised {
        return Ok(module.print_to_string().to_string());
    }
    let buffer = machine.write_to_memory_buffer(module, FileType::Assembly);
    let buffer = buffer.map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(buffer.as_slice()).into_owned())
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// A sum that goes around a loop.
    const SUM: &str = "define double @sum(ptr %of, i64 %n) {
entry:
  br label %top
top:
  %at = phi i64 [ 0, %entry ], [ %next, %top ]
  %sum = phi double [ 0.0, %entry ], [ %more, %top ]
  %place = getelementptr double, ptr %of, i64 %at
  %term = load double, ptr %place
  %more = fadd double %sum, %term
  %next = add i64 %at, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %top, label %end
end:
  ret double %more
}
\0";

    fn size(quality: Quality, sums: Sums) -> usize {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(SUM.as_bytes(), "sum");
        let module = context.create_module_from_ir(text).expect("it parses");
        object(&module, false, (quality, sums)).expect("it compiles").len()
    }

    #[test]
    fn quick_code_keeps_sums_of_tiles_in_registers() {
        let (usual, tiles) =
            (size(Quality::Quick, Sums::Usual), size(Quality::Quick, Sums::OfTiles));
        assert!(tiles < usual, "{tiles} bytes instead of {usual}");
        let thorough = [Sums::Usual, Sums::OfTiles].map(|sums| size(Quality::Thorough, sums));
        assert_eq!(thorough[0], thorough[1], "it always does");
    }
}
