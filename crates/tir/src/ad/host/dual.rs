//! Tangents of straight-line host code.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Host;
use crate::ad::fault::{Fault, R};
use crate::host::{Effect, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic};
use crate::op::Op;
use crate::types::{Elem, Ident, Loc};

/// Code with tangents, as it is written.
pub(super) struct Dual<'h, 'a> {
    pub(super) host: &'h mut Host<'a>,
    /// Values that were copied, by the value they are a copy of.
    pub(super) copies: HashMap<u32, HostArg>,
    /// The tangents that are not zero, by the value they belong to.
    pub(super) tangents: HashMap<u32, HostArg>,
    /// Integers that were made of floats with a tangent.
    pub(super) rounded: HashSet<u32>,
    /// The tangent of a definition whose points are perturbed where they are made, by its mark.
    pub(super) seed: Option<(String, HostArg)>,
    /// What is perturbed, as modules define it and as tangents of them do again, and its tangent.
    pub(super) defined: Option<(Vec<(Ident, Ident)>, HostArg)>,
    /// Parameters whose tangents are zero, though they are passed.
    pub(super) still: HashSet<u32>,
    /// Whether values have to be computed once more, because this is another block.
    pub(super) copying: bool,
    /// Whether nothing but values is wanted: no tangents, and nothing is printed.
    pub(super) quiet: bool,
    pub(super) out: Vec<HostInst>,
    pub(super) loc: Loc,
}

impl<'h, 'a> Dual<'h, 'a> {
    pub(super) fn new(host: &'h mut Host<'a>, loc: Loc) -> Dual<'h, 'a> {
        let (copies, tangents) = (HashMap::default(), HashMap::default());
        Dual {
            host,
            copies,
            tangents,
            rounded: HashSet::default(),
            seed: None,
            defined: None,
            still: HashSet::default(),
            copying: false,
            quiet: false,
            out: Vec::new(),
            loc,
        }
    }

    /// A new value.
    pub(super) fn value(&mut self, ty: HostType, kind: HostKind) -> HostArg {
        let def = self.host.new_def(ty);
        let value = HostArg::Value(def.number);
        self.out.push(HostInst { results: vec![def], kind, loc: self.loc });
        value
    }

    /// The operand as it is called here.
    pub(super) fn arg(&self, arg: &HostArg) -> HostArg {
        match arg {
            HostArg::Value(number) => self.copies.get(number).unwrap_or(arg).clone(),
            _ => arg.clone(),
        }
    }

    pub(super) fn args(&self, args: &[HostArg]) -> Vec<HostArg> {
        args.iter().map(|arg| self.arg(arg)).collect()
    }

    pub(super) fn tangent(&self, arg: &HostArg) -> Option<HostArg> {
        match arg {
            HostArg::Value(number) => self.tangents.get(number).cloned(),
            _ => None,
        }
    }

    pub(super) fn tangent_or_zero(&mut self, arg: &HostArg) -> HostArg {
        if let Some(tangent) = self.tangent(arg) {
            return tangent;
        }
        let (ty, value) = (self.host.type_of(arg), self.arg(arg));
        self.value(ty, HostKind::Intrinsic(Intrinsic::ZerosLike, vec![value]))
    }

    /// The operand's tangent if its type has one, else the operand.
    pub(super) fn part(&mut self, arg: &HostArg) -> HostArg {
        match self.host.carries(&self.host.type_of(arg)) {
            true => self.tangent_or_zero(arg),
            false => self.arg(arg),
        }
    }

    /// New results for a copy of an instruction.
    pub(super) fn copied_defs(&mut self, defs: &[HostDef]) -> Vec<HostDef> {
        let mut copied = Vec::with_capacity(defs.len());
        for def in defs {
            let fresh = self.host.new_def(def.ty.clone());
            self.copies.insert(def.number, HostArg::Value(fresh.number));
            copied.push(fresh);
        }
        copied
    }

    fn is_active(&self, args: &[HostArg]) -> bool {
        args.iter().any(|arg| self.tangent(arg).is_some())
    }

    /// What is perturbed as a module defines it, with its tangent.
    fn defined_in(&self, module: &Ident) -> Option<(Ident, HostArg)> {
        let (copies, seed) = self.defined.as_ref()?;
        Some((self.host.copy_in(module, copies)?.clone(), seed.clone()))
    }

    /// Writes an instruction, if values are copied, and the tangents of its results.
    pub(super) fn inst(&mut self, inst: &HostInst) -> R<()> {
        self.loc = inst.loc;
        match &inst.kind {
            HostKind::If(..)
            | HostKind::Switch(..)
            | HostKind::Match(..)
            | HostKind::For(..)
            | HostKind::While(..)
            | HostKind::Try(_)
            | HostKind::Call(..)
            | HostKind::Apply(..) => return self.control(inst),
            HostKind::Intrinsic(intrinsic, _)
                if intrinsic.effect() == Effect::World && inst.results.is_empty() =>
            {
                return Ok(());
            }
            HostKind::Intrinsic(Intrinsic::HostDeriv, _) => {
                return Err(Fault::unsupported("another derivative of this kind", inst.loc));
            }
            _ => {}
        }
        let args: Vec<HostArg> = inst.args().into_iter().cloned().collect();
        if self.copying {
            let given = self.args(&args);
            let results = self.copied_defs(&inst.results);
            let kind = with_args(inst, given);
            self.out.push(HostInst { results, kind, loc: inst.loc });
        }
        match &inst.kind {
            HostKind::Op(op, _) => self.operation(inst, *op, &args),
            HostKind::Intrinsic(Intrinsic::Point, _) => self.point(inst, &args),
            HostKind::Run(name, _) if let Some((by, seed)) = self.defined_in(name) => {
                self.beside_copy(inst, &by, &seed)
            }
            _ if !self.is_active(&args) => Ok(()),
            HostKind::Run(..) => self.beside_run(inst, &args),
            HostKind::Intrinsic(intrinsic, _) => self.intrinsic(inst, *intrinsic, &args),
            HostKind::Tuple(_)
            | HostKind::Struct(..)
            | HostKind::Variant(..)
            | HostKind::List(_)
            | HostKind::Closure(..)
            | HostKind::Field(..) => self.same_on_tangents(inst, &args),
            _ => Ok(()),
        }
    }

    /// What takes values apart or puts them together does so with tangents.
    fn same_on_tangents(&mut self, inst: &HostInst, args: &[HostArg]) -> R<()> {
        let [def] = &inst.results[..] else { return Ok(()) };
        if !self.host.carries(&def.ty) {
            return Ok(());
        }
        let parts = args.iter().map(|arg| self.part(arg)).collect();
        let tangent = self.value(def.ty.clone(), with_args(inst, parts));
        self.tangents.insert(def.number, tangent);
        Ok(())
    }

    fn intrinsic(&mut self, inst: &HostInst, intrinsic: Intrinsic, args: &[HostArg]) -> R<()> {
        match intrinsic {
            Intrinsic::ListGet
            | Intrinsic::ListPush
            | Intrinsic::ListSet
            | Intrinsic::ListShaped
            | Intrinsic::ListConcat
            | Intrinsic::ListToTensor
            | Intrinsic::TensorToList
            | Intrinsic::ZipRecords
            | Intrinsic::Captures
            | Intrinsic::Element
            | Intrinsic::Scalar => self.same_on_tangents(inst, args),
            Intrinsic::Cast => match self.host.carries(&inst.results[0].ty) {
                true => self.same_on_tangents(inst, args),
                false => {
                    self.rounded.extend(inst.results.iter().map(|def| def.number));
                    Ok(())
                }
            },
            Intrinsic::Jacobian => {
                let [list, of, by] = args else { return Ok(()) };
                let given = vec![self.tangent_or_zero(list), self.arg(of), self.arg(by)];
                let [def] = &inst.results[..] else { return Ok(()) };
                let kind = HostKind::Intrinsic(Intrinsic::Jacobian, given);
                let tangent = self.value(def.ty.clone(), kind);
                self.tangents.insert(def.number, tangent);
                Ok(())
            }
            Intrinsic::CallPython if inst.results.iter().any(|def| self.host.carries(&def.ty)) => {
                Err(Fault::in_python(args.first(), inst.loc))
            }
            _ => Ok(()),
        }
    }

    /// A point of a definition is perturbed after it is made.
    fn point(&mut self, inst: &HostInst, args: &[HostArg]) -> R<()> {
        let ([value, HostArg::Str(mark), at @ ..], [def]) = (args, &inst.results[..]) else {
            return Ok(());
        };
        let own = self.tangent(value);
        let seed = self.seed.as_ref().filter(|seed| seed.0 == *mark);
        let Some(seed) = seed.map(|seed| seed.1.clone()) else {
            self.tangents.extend(own.map(|tangent| (def.number, tangent)));
            return Ok(());
        };
        let mut tangent = self.seed_of(&def.ty, seed, at)?;
        if let Some(own) = own {
            tangent = self.added(&def.ty, &own, &tangent)?;
        }
        self.tangents.insert(def.number, tangent);
        Ok(())
    }

    fn operation(&mut self, inst: &HostInst, op: Op, args: &[HostArg]) -> R<()> {
        let [def] = &inst.results[..] else { return Ok(()) };
        let HostType::Scalar(elem) = def.ty else { return Ok(()) };
        let is_rounded =
            |arg: &HostArg| matches!(arg, HostArg::Value(n) if self.rounded.contains(n));
        let rounded = args.iter().any(is_rounded);
        if !self.is_active(args) && !rounded || elem == Elem::Bool {
            return Ok(());
        }
        if !elem.is_float() {
            self.rounded.insert(def.number);
            return Ok(());
        }
        if rounded {
            return Err(Fault::through_integer(inst.loc));
        }
        let tangent = self.beside_op(inst, op, args, elem)?;
        self.tangents.extend(tangent.map(|tangent| (def.number, tangent)));
        Ok(())
    }
}

/// The instruction with other operands, in the order of [`HostInst::args`].
pub(super) fn with_args(inst: &HostInst, args: Vec<HostArg>) -> HostKind {
    let mut copy = inst.clone();
    copy.args_mut().into_iter().zip(args).for_each(|(place, arg)| *place = arg);
    copy.kind
}
