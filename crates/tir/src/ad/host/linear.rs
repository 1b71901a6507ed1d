//! Whether the rule of a host function is linear in its differentials.
//!
//! Every value is free of differentials, linear in them, or zero. A record or list has one degree
//! for all its parts; where parts differ nothing is known, and the rule is refused. A function value
//! is followed by its identity and what it captured; one of unknown identity may be any of its type
//! in the program.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use super::Host;
use crate::ad::linear::{Degree, joined_degrees, module_degrees, op_degree};
use crate::constant::Const;
use crate::host::{
    Block, HostArg, HostDef, HostFn, HostInst, HostKind, HostRule, HostType, Intrinsic,
};
use crate::types::{Ident, Loc};

/// Why a rule is not known to be linear.
pub(super) enum Trouble {
    /// It is not.
    NotLinear(Loc),
    /// It may be.
    Unknown(Loc),
}

type Found<T> = Result<T, Trouble>;

/// The rounds after which what a loop carries has its degree.
const ROUNDS: usize = 3;

/// So many functions that captured functions are followed into each other.
const DEEPEST: usize = 4;

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Known {
    Degree(Degree),
    /// A function, and what it captured.
    Function(Rc<(Ident, Vec<Known>)>),
}

impl Known {
    /// What it captured is what a function depends on.
    fn degree(&self) -> Degree {
        match self {
            Known::Degree(degree) => *degree,
            Known::Function(function) => {
                let linear = function.1.iter().any(|known| known.degree() == Degree::Linear);
                if linear { Degree::Linear } else { Degree::Free }
            }
        }
    }

    fn depth(&self) -> usize {
        match self {
            Known::Degree(_) => 0,
            Known::Function(of) => 1 + of.1.iter().map(Known::depth).max().unwrap_or_default(),
        }
    }
}

/// Whether the rule of a function is linear in the tangents, or in the cotangent.
pub(super) fn check_rule(host: &Host<'_>, function: &HostFn, rule: &HostRule) -> Found<()> {
    let found = host.program.functions.iter().find(|f| f.name == rule.function);
    let Some(found) = found else { return Ok(()) };
    let params = &found.body.params;
    let fixed = function.body.params.len();
    let differentials = fixed..params.len() - function.results.len().min(params.len());
    let degree =
        |(at, def): (usize, &HostDef)| match differentials.contains(&at) && host.carries(&def.ty) {
            true => Degree::Linear,
            false => Degree::Free,
        };
    let given = params.iter().enumerate().map(degree).map(Known::Degree).collect();
    let (values, types, known) = (HashMap::default(), HashMap::default(), HashMap::default());
    let mut check = Check { host, values, types, known };
    let gives = check.call(&rule.function, given, found.loc)?;
    match gives.iter().any(|known| known.degree() == Degree::Free) {
        true => Err(Trouble::NotLinear(found.loc)),
        false => Ok(()),
    }
}

struct Check<'h, 'a> {
    host: &'h Host<'a>,
    values: HashMap<u32, Known>,
    /// The types of function values.
    types: HashMap<u32, HostType>,
    /// The results of functions by their arguments; of those that are open, what is known so far.
    known: HashMap<(Ident, Vec<Known>), Vec<Known>>,
}

impl Check<'_, '_> {
    fn known(&self, arg: &HostArg) -> Known {
        let free = Known::Degree(Degree::Free);
        match arg {
            HostArg::Const(constant) if constant.as_float() == Some(0.0) => {
                Known::Degree(Degree::Zero)
            }
            HostArg::Const(constant) if *constant == Const::zero(constant.elem()) => {
                Known::Degree(Degree::Zero)
            }
            HostArg::Value(number) => self.values.get(number).cloned().unwrap_or(free),
            _ => free,
        }
    }

    fn all_known(&self, args: &[HostArg]) -> Vec<Known> {
        args.iter().map(|arg| self.known(arg)).collect()
    }

    fn degree(&self, arg: &HostArg) -> Degree {
        self.known(arg).degree()
    }

    fn degrees(&self, args: &[HostArg]) -> Vec<Degree> {
        args.iter().map(|arg| self.degree(arg)).collect()
    }

    fn define(&mut self, defs: &[HostDef], degrees: impl IntoIterator<Item = Degree>) {
        self.define_known(defs, degrees.into_iter().map(Known::Degree));
    }

    fn define_known(&mut self, defs: &[HostDef], known: impl IntoIterator<Item = Known>) {
        self.values.extend(defs.iter().map(|def| def.number).zip(known));
        let functions = defs.iter().filter(|def| matches!(def.ty, HostType::Fn(..)));
        self.types.extend(functions.map(|def| (def.number, def.ty.clone())));
    }

    /// The results of a function.
    fn call(&mut self, name: &Ident, given: Vec<Known>, loc: Loc) -> Found<Vec<Known>> {
        if given.iter().any(|known| known.depth() > DEEPEST) {
            return Err(Trouble::Unknown(loc));
        }
        let key = (name.clone(), given);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let found = self.host.program.functions.iter().find(|f| f.name == *name);
        let Some(function) = found else { return Err(Trouble::Unknown(loc)) };
        let open = vec![Known::Degree(Degree::Zero); function.results.len()];
        self.known.insert(key.clone(), open);
        let outer = std::mem::take(&mut self.values);
        for _ in 0..ROUNDS {
            self.define_known(&function.body.params, key.1.iter().cloned());
            self.insts(&function.body)?;
            let results = self.all_known(&function.body.results);
            if self.known.insert(key.clone(), results.clone()) == Some(results) {
                break;
            }
        }
        self.values = outer;
        Ok(self.known.get(&key).cloned().unwrap_or_default())
    }

    /// The results of a function value.
    fn apply(&mut self, callee: &HostArg, args: &[HostArg], loc: Loc) -> Found<Vec<Known>> {
        let given = self.all_known(args);
        if let Known::Function(function) = self.known(callee) {
            return self.call(&function.0, [&function.1[..], &given].concat(), loc);
        }
        let ty = match callee {
            HostArg::Value(number) => self.types.get(number).cloned(),
            _ => None,
        };
        let (Some(ty), false) = (ty, self.degree(callee) == Degree::Linear) else {
            return Err(Trouble::Unknown(loc));
        };
        let HostType::Fn(_, gives) = &ty else { return Err(Trouble::Unknown(loc)) };
        let mut joined = vec![Degree::Zero; gives.len()];
        if given.iter().all(|known| known.degree() == Degree::Free) {
            return Ok(vec![Known::Degree(Degree::Free); gives.len()]);
        }
        for (name, captured) in self.host.candidates(&ty) {
            let captured = vec![Known::Degree(Degree::Free); captured.len()];
            // Another function may be the one that comes here.
            let found = self
                .call(&name, [captured, given.clone()].concat(), loc)
                .map_err(|_| Trouble::Unknown(loc))?;
            for (joined, found) in joined.iter_mut().zip(found) {
                let both = joined_degrees([*joined, found.degree()]);
                *joined = both.ok_or(Trouble::Unknown(loc))?;
            }
        }
        Ok(joined.into_iter().map(Known::Degree).collect())
    }

    fn insts(&mut self, block: &Block) -> Found<()> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &HostInst) -> Found<()> {
        let loc = inst.loc;
        let degree = match &inst.kind {
            HostKind::Op(op, args) => {
                op_degree(*op, &self.degrees(args)).ok_or(Trouble::NotLinear(loc))?
            }
            HostKind::Tuple(args)
            | HostKind::Struct(_, args)
            | HostKind::Variant(_, _, args)
            | HostKind::List(args) => self.joined(args, loc)?,
            HostKind::Field(of, _) => self.degree(of),
            HostKind::Intrinsic(intrinsic, args) => self.intrinsic(*intrinsic, args, loc)?,
            HostKind::Run(name, args) => {
                let module = self.host.program.modules.iter().find(|m| m.name == name.as_str());
                let Some(module) = module else { return Err(Trouble::Unknown(loc)) };
                let found = module_degrees(module, &self.degrees(args))
                    .map_err(|own| Trouble::NotLinear(if own.0.is_some() { own } else { loc }))?;
                self.define(&inst.results, found);
                return Ok(());
            }
            HostKind::Call(name, args) => {
                let found = self.call(name, self.all_known(args), loc)?;
                self.define_known(&inst.results, found);
                return Ok(());
            }
            HostKind::Closure(name, args) => {
                let known = Known::Function(Rc::new((name.clone(), self.all_known(args))));
                self.define_known(&inst.results, [known]);
                return Ok(());
            }
            HostKind::Apply(callee, args) => {
                let found = self.apply(callee, args, loc)?;
                self.define_known(&inst.results, found);
                return Ok(());
            }
            HostKind::If(on, ..) | HostKind::Switch(on, ..) | HostKind::Match(on, ..) => {
                return self.chosen(inst, on);
            }
            HostKind::For(_, _, carried, body) => {
                return self.repeated(inst, carried, &[body], 1);
            }
            HostKind::While(carried, condition, body) => {
                return self.repeated(inst, carried, &[condition, body], 0);
            }
            HostKind::Try(body) => {
                self.insts(body)?;
                self.joined(&body.results, loc)?
            }
            _ => self.free(&inst.args(), loc)?,
        };
        self.define(&inst.results, inst.results.iter().map(|_| degree));
        Ok(())
    }

    fn joined(&self, args: &[HostArg], loc: Loc) -> Found<Degree> {
        joined_degrees(self.degrees(args)).ok_or(Trouble::Unknown(loc))
    }

    /// Something that no differential may go through.
    fn free(&self, args: &[&HostArg], loc: Loc) -> Found<Degree> {
        match args.iter().any(|arg| self.degree(arg) == Degree::Linear) {
            true => Err(Trouble::Unknown(loc)),
            false => Ok(Degree::Free),
        }
    }

    fn intrinsic(&self, intrinsic: Intrinsic, args: &[HostArg], loc: Loc) -> Found<Degree> {
        let first = args.first().map_or(Degree::Free, |arg| self.degree(arg));
        match (intrinsic, args) {
            (
                Intrinsic::ListGet
                | Intrinsic::ListShaped
                | Intrinsic::ListToTensor
                | Intrinsic::TensorToList
                | Intrinsic::ZipRecords
                | Intrinsic::Element
                | Intrinsic::Scalar
                | Intrinsic::Point
                | Intrinsic::Jacobian
                | Intrinsic::Cast,
                _,
            ) => Ok(first),
            (Intrinsic::ListPush | Intrinsic::ListConcat, _) => self.joined(args, loc),
            (Intrinsic::ListSet, [list, _, value]) => {
                self.joined(&[list.clone(), value.clone()], loc)
            }
            (Intrinsic::ZerosLike, _) => Ok(Degree::Zero),
            (
                Intrinsic::Extent
                | Intrinsic::ListLen
                | Intrinsic::ListExtent
                | Intrinsic::TypeOf
                | Intrinsic::OneHot
                | Intrinsic::Print,
                _,
            ) => Ok(Degree::Free),
            _ => self.free(&args.iter().collect::<Vec<_>>(), loc),
        }
    }

    /// Branches: what they choose by is free.
    fn chosen(&mut self, inst: &HostInst, on: &HostArg) -> Found<()> {
        if self.degree(on) == Degree::Linear {
            return Err(match inst.kind {
                HostKind::Match(..) => Trouble::Unknown(inst.loc),
                _ => Trouble::NotLinear(inst.loc),
            });
        }
        for block in inst.blocks() {
            self.insts(block)?;
        }
        let mut degrees = Vec::with_capacity(inst.results.len());
        for at in 0..inst.results.len() {
            let found = inst.blocks().into_iter().filter_map(|block| block.results.get(at));
            let found: Vec<Degree> = found.map(|arg| self.degree(arg)).collect();
            degrees.push(joined_degrees(found).ok_or(Trouble::NotLinear(inst.loc))?);
        }
        self.define(&inst.results, degrees);
        Ok(())
    }

    /// A loop: what it carries has one degree in all rounds.
    fn repeated(
        &mut self,
        inst: &HostInst,
        carried: &[HostArg],
        blocks: &[&Block],
        n_counters: usize,
    ) -> Found<()> {
        let mut degrees = self.degrees(carried);
        for _ in 0..ROUNDS {
            for block in blocks {
                let params = block.params.get(n_counters..).unwrap_or_default();
                self.define(params, degrees.iter().copied());
                self.insts(block)?;
            }
            let (Some(body), [first, ..]) = (blocks.last(), blocks) else { return Ok(()) };
            let ends = blocks.len() > 1 && self.degrees(&first.results).contains(&Degree::Linear);
            if ends {
                return Err(Trouble::NotLinear(inst.loc));
            }
            for (degree, result) in degrees.iter_mut().zip(&body.results) {
                let both = joined_degrees([*degree, self.degree(result)]);
                *degree = both.ok_or(Trouble::NotLinear(inst.loc))?;
            }
        }
        self.define(&inst.results, degrees);
        Ok(())
    }
}
