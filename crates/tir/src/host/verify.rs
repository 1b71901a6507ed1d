//! The verifier of the host IR.
//!
//! | invariant | what it says |
//! |---|---|
//! | `unique_names` | no two types, modules or functions share a name; the entry exists |
//! | `known_types` | every struct and enum that is mentioned is declared |
//! | `defined_values` | a value is defined once in the program, before its uses |
//! | `typed_insts` | operands and results are what the instruction asks for |
//! | `typed_blocks` | blocks take and yield what their surroundings expect |
//! | `complete_matches` | a `match` names each variant once and covers all of them |
//! | `runnable_modules` | a `run` names a module and passes its inputs; every module is well formed and calls functions that exist |
//! | `fitting_rules` | the rule of a function is a function that takes and gives what it should |
//! | `labelled_fields` | labels name a variant, one name per field |

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::verify_inst::{check_inst, expected_blocks};
use super::{Block, HostArg, HostDef, HostInst, HostType, Program, TypeDecl};
use crate::region::{Inst, InstKind};
use crate::types::{Elem, Ident};
use crate::verify::{Problem, Problems, verify};

/// Checks every invariant; an empty list means that the program is well formed.
pub fn verify_program(program: &Program) -> Vec<Problem> {
    let mut problems = Problems::default();
    unique_names(program, &mut problems);
    known_types(program, &mut problems);
    modules(program, &mut problems);
    labelled_fields(program, &mut problems);
    fitting_rules(program, &mut problems);
    let mut check = Check {
        program,
        values: HashMap::default(),
        defined: HashSet::default(),
        place: String::new(),
        problems: &mut problems,
    };
    for function in &program.functions {
        check.place = format!("function `{}`", function.name.as_str());
        let params: Vec<HostType> =
            function.body.params.iter().map(|param| param.ty.clone()).collect();
        check.block(&function.body, Some((params, function.results.clone())));
    }
    problems.into_vec()
}

fn unique_names(program: &Program, problems: &mut Problems) {
    let mut seen: HashSet<(&str, &str)> = HashSet::default();
    let types = program.types.iter().map(|decl| ("type", decl.name().as_str()));
    let modules = program.modules.iter().map(|module| ("module", module.name.as_str()));
    let functions = program.functions.iter().map(|function| ("function", function.name.as_str()));
    for (kind, name) in types.chain(modules).chain(functions) {
        if !seen.insert((kind, name)) {
            problems.add("unique_names", format!("{kind} `{name}`"), "the name is used twice");
        }
    }
    if let Some(entry) = &program.entry
        && !seen.contains(&("function", entry.as_str()))
    {
        let message = format!("there is no function `{}`", entry.as_str());
        problems.add("unique_names", "the entry", message);
    }
}

fn known_types(program: &Program, problems: &mut Problems) {
    for decl in &program.types {
        let fields: Vec<&HostType> = match decl {
            TypeDecl::Struct { fields, .. } => fields.iter().map(|field| &field.1).collect(),
            TypeDecl::Enum { variants, .. } => variants.iter().flat_map(|v| &v.fields).collect(),
        };
        for ty in fields {
            report_unknown(program, ty, decl.name(), problems);
        }
    }
}

fn report_unknown(program: &Program, ty: &HostType, entity: &Ident, problems: &mut Problems) {
    if let Some(name) = program.unknown(ty) {
        let message = format!("there is no type `{}`", name.as_str());
        problems.add("known_types", format!("`{}`", entity.as_str()), message);
    }
}

fn modules(program: &Program, problems: &mut Problems) {
    for module in &program.modules {
        for problem in verify(module) {
            problems.add(
                "runnable_modules",
                format!("module `{}`", module.name),
                problem.to_string(),
            );
        }
        module.for_each_inst(&mut |inst| {
            if let Err(message) = callable(program, inst) {
                problems.add("runnable_modules", format!("module `{}`", module.name), message);
            }
        });
    }
}

/// Labels name a variant, one name per field.
fn labelled_fields(program: &Program, problems: &mut Problems) {
    for labels in &program.labels {
        let variants = program.variants(&labels.of).unwrap_or_default();
        let variant = variants.iter().find(|variant| variant.name == labels.variant);
        if variant.is_none_or(|variant| variant.fields.len() != labels.names.len()) {
            let entity = format!("`{}`", labels.variant.as_str());
            problems.add("labelled_fields", entity, "the labels do not fit a variant");
        }
    }
}

/// Rules take and give what the functions say that they are rules of.
fn fitting_rules(program: &Program, problems: &mut Problems) {
    for function in &program.functions {
        let Some(rule) = &function.rule else { continue };
        let found = program.functions.iter().find(|other| other.name == rule.function);
        let takes: Vec<&HostType> = function.body.params.iter().map(|param| &param.ty).collect();
        let spoken = takes.iter().enumerate().filter(|(at, _)| !rule.silent.contains(at));
        let spoken: Vec<&HostType> = spoken.map(|(_, ty)| *ty).collect();
        let results: Vec<&HostType> = function.results.iter().collect();
        let between = if rule.reverse { &results } else { &spoken };
        let wanted = [&takes[..], between, &results].concat();
        let gives = match (rule.reverse, &spoken[..]) {
            (false, _) => function.results.clone(),
            (true, [one]) => vec![(*one).clone()],
            (true, all) => vec![HostType::Tuple(all.iter().copied().cloned().collect())],
        };
        let fits = found.is_some_and(|found| {
            found.body.params.iter().map(|param| &param.ty).eq(wanted.iter().copied())
                && found.results == gives
        });
        if !fits {
            let entity = format!("function `{}`", function.name.as_str());
            problems.add("fitting_rules", entity, "its rule takes or gives something else");
        }
    }
}

/// Whether a call of a module fits a function of the program.
fn callable(program: &Program, inst: &Inst) -> Result<(), String> {
    let InstKind::HostCall { function, args } = &inst.kind else { return Ok(()) };
    let name = function.as_str();
    let callee = program.functions.iter().find(|callee| callee.name == *function);
    let callee = callee.ok_or_else(|| format!("there is no function `{name}`"))?;
    let scalar = |elem: Option<Elem>| elem.map(HostType::Scalar);
    let params = callee.body.params.iter().map(|param| Some(param.ty.clone()));
    let results = inst.results.iter().map(|def| scalar(def.as_scalar().map(|value| value.elem)));
    let fits = params.eq(args.iter().map(|arg| scalar(arg.elem())))
        && results.eq(callee.results.iter().cloned().map(Some));
    if fits { Ok(()) } else { Err(format!("`{name}` takes or gives something else")) }
}

impl Program {
    /// A struct or enum that a type mentions and the program does not declare.
    fn unknown<'t>(&self, ty: &'t HostType) -> Option<&'t Ident> {
        match ty {
            HostType::Scalar(_) | HostType::Str | HostType::Tensor(..) => None,
            HostType::List(of) => self.unknown(of),
            HostType::Tuple(types) => types.iter().find_map(|ty| self.unknown(ty)),
            HostType::Fn(params, results) => {
                params.iter().chain(results).find_map(|ty| self.unknown(ty))
            }
            HostType::Struct(name) => self.fields(name).is_none().then_some(name),
            HostType::Enum(name) => self.variants(name).is_none().then_some(name),
        }
    }

    /// The types of a struct's fields.
    pub(super) fn fields(&self, struct_name: &Ident) -> Option<Vec<HostType>> {
        self.types.iter().find_map(|decl| match decl {
            TypeDecl::Struct { name, fields } if name == struct_name => {
                Some(fields.iter().map(|field| field.1.clone()).collect())
            }
            _ => None,
        })
    }

    /// The variants of an enum.
    pub(super) fn variants(&self, enum_name: &Ident) -> Option<&[super::Variant]> {
        self.types.iter().find_map(|decl| match decl {
            TypeDecl::Enum { name, variants } if name == enum_name => Some(&variants[..]),
            _ => None,
        })
    }
}

/// The parameters and results that surroundings expect of a block.
pub(super) type Signature = (Vec<HostType>, Vec<HostType>);

/// What is visible while functions are walked.
pub(super) struct Check<'a> {
    pub(super) program: &'a Program,
    values: HashMap<u32, HostType>,
    defined: HashSet<u32>,
    place: String,
    problems: &'a mut Problems,
}

impl Check<'_> {
    fn report(&mut self, invariant: &'static str, message: impl Into<String>) {
        self.problems.add(invariant, &self.place, message);
    }

    /// The type of an operand, if it is visible.
    pub(super) fn type_of(&self, arg: &HostArg) -> Option<HostType> {
        match arg {
            HostArg::Const(constant) => Some(HostType::Scalar(constant.elem())),
            HostArg::Str(_) => Some(HostType::Str),
            HostArg::Value(number) => self.values.get(number).cloned(),
        }
    }

    /// The types of operands, if all are visible.
    pub(super) fn types_of(&self, args: &[HostArg]) -> Option<Vec<HostType>> {
        args.iter().map(|arg| self.type_of(arg)).collect()
    }

    fn define(&mut self, def: &HostDef) {
        if !self.defined.insert(def.number) {
            self.report("defined_values", format!("%{} is defined twice", def.number));
        }
        if let Some(name) = self.program.unknown(&def.ty) {
            self.report("known_types", format!("there is no type `{}`", name.as_str()));
        }
        self.values.insert(def.number, def.ty.clone());
    }

    fn uses(&mut self, args: &[&HostArg]) {
        for arg in args {
            if self.type_of(arg).is_none() {
                self.report("defined_values", format!("{arg} is not defined here"));
            }
        }
    }

    fn block(&mut self, block: &Block, signature: Option<Signature>) {
        block.params.iter().for_each(|def| self.define(def));
        block.insts.iter().for_each(|inst| self.inst(inst));
        self.uses(&block.results.iter().collect::<Vec<_>>());
        if let Some((params, results)) = signature {
            if !block.params.iter().map(|def| &def.ty).eq(&params) {
                self.report("typed_blocks", "a block has the wrong parameters");
            }
            if self.types_of(&block.results).is_some_and(|types| types != results) {
                self.report("typed_blocks", "a block yields the wrong results");
            }
        }
        let inner = block.insts.iter().flat_map(|inst| &inst.results);
        for def in block.params.iter().chain(inner) {
            self.values.remove(&def.number);
        }
    }

    fn inst(&mut self, inst: &HostInst) {
        self.uses(&inst.args());
        if let Err((invariant, message)) = check_inst(self, inst) {
            self.report(invariant, message);
        }
        let signatures = expected_blocks(self, inst);
        for (at, block) in inst.blocks().into_iter().enumerate() {
            self.block(block, signatures.as_ref().and_then(|list| list.get(at).cloned()));
        }
        inst.results.iter().for_each(|def| self.define(def));
    }
}
