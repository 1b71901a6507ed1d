//! Resolves regions and instructions.

use einlang_tir::message::{Message, MessagePart};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::types::{Elem, Ident};

use super::code::{
    ArgCode, CombineCode, Dest, InstCode, Kind, MessageCode, OpenRef, Operand, ReadCode,
    ReduceCode, RegionCode, StartCode, SubscriptCode, SymbolCode, TensorRef,
};
use super::index::VarRef;
use super::prepare::{Prepare, by_data};
use crate::stop::Stop;

impl Prepare<'_> {
    pub(super) fn insts(&mut self, region: &Region, params: Vec<Dest>) -> Result<RegionCode, Stop> {
        let mut insts = Vec::with_capacity(region.insts.len());
        for inst in &region.insts {
            let kind = self.kind(inst)?;
            let dests = inst.results.iter().map(|def| self.dest(def)).collect();
            insts.push(InstCode { dests, kind, loc: inst.loc });
        }
        let results = self.args(&region.results)?;
        Ok(RegionCode { params, insts, results })
    }

    fn kind(&mut self, inst: &Inst) -> Result<Kind, Stop> {
        Ok(match &inst.kind {
            InstKind::Op(op, args) => self.op(*op, args, result_elem(inst))?,
            InstKind::Index(expr) => {
                Kind::Index { expr: self.index(expr)?, elem: result_elem(inst) }
            }
            InstKind::Read(read) => Kind::Read(self.read(read)?),
            InstKind::If { condition, then, otherwise } => Kind::If {
                condition: self.operand(condition)?,
                then: self.region(then)?,
                otherwise: self.region(otherwise)?,
            },
            InstKind::Switch { on, cases, otherwise } => {
                let (on, elem) = self.typed(on)?;
                let cases = cases
                    .iter()
                    .map(|(number, region)| Ok((*number, self.region(region)?)))
                    .collect::<Result<_, Stop>>()?;
                Kind::Switch { on, elem, cases, otherwise: self.region(otherwise)? }
            }
            InstKind::Reduce(reduction) => self.reduction(reduction, inst)?,
            InstKind::Group(group) => {
                let code = self.group(group, false)?;
                self.code.groups.push(code);
                Kind::Group(self.code.groups.len() - 1)
            }
            InstKind::Call { function, args } => match self.functions.get(function) {
                Some(number) => Kind::Call { function: *number, args: self.args(args)? },
                None => return self.unknown(&format!("function `{}`", function.as_str())),
            },
            InstKind::HostCall { function, args } => {
                let args = args.iter().map(|arg| self.typed(arg)).collect::<Result<_, Stop>>()?;
                let scalars = inst.results.iter().filter_map(Def::as_scalar);
                let elems = scalars.map(|value| value.elem).collect();
                Kind::HostCall { function: function.clone(), args, elems }
            }
            InstKind::Deriv { of, by } => Kind::Deriv(self.deriv(of, by)),
            InstKind::Param { var, value } => {
                let (value, elem) = self.typed(value)?;
                Kind::Param { slot: self.var_slot(*var), value, elem }
            }
            InstKind::Converged(var) => Kind::Converged(self.open(*var)?),
            InstKind::Assert { condition, message } => Kind::Assert {
                condition: self.operand(condition)?,
                message: self.message(message)?,
            },
            InstKind::Trap { trap, message } => {
                Kind::Trap { trap: *trap, message: self.message(message)? }
            }
        })
    }

    fn message(&self, message: &Message) -> Result<Vec<MessageCode>, Stop> {
        let part = |part: &MessagePart| match part {
            MessagePart::Text(text) => Ok(MessageCode::Text(text.clone())),
            MessagePart::Value(arg, spec) => {
                let (operand, elem) = self.typed(arg)?;
                Ok(MessageCode::Value(operand, elem, spec.clone()))
            }
        };
        message.0.iter().map(part).collect()
    }

    fn op(&mut self, op: Op, args: &[Arg], result: Elem) -> Result<Kind, Stop> {
        let mut operands = [Operand::Const(0); 3];
        let mut elems = [result; 2];
        for (at, arg) in args.iter().take(3).enumerate() {
            let (operand, elem) = self.typed(arg)?;
            operands[at] = operand;
            if let Some(slot) = elems.get_mut(at) {
                *slot = elem;
            }
        }
        Ok(Kind::Op { op, elems, result, args: operands })
    }

    fn read(&mut self, read: &Read) -> Result<ReadCode, Stop> {
        let name = &read.place.tensor;
        let at = read.place.at.iter().map(|subscript| match subscript {
            Subscript::Index(expr) => Ok(SubscriptCode::Index(self.index(expr)?)),
            Subscript::Value(arg) => {
                let (operand, elem) = self.typed(arg)?;
                Ok(SubscriptCode::Value(operand, elem))
            }
        });
        let at = at.collect::<Result<Vec<_>, Stop>>()?;
        Ok(ReadCode {
            tensor: self.tensor(name)?,
            at,
            default: read.default.as_ref().map(|region| self.region(region)).transpose()?,
            proved: read.proved,
            own: self.around.iter().any(|names| names.contains(name)),
            by_data: by_data(&read.place.at),
        })
    }

    fn reduction(&mut self, reduction: &Reduction, inst: &Inst) -> Result<Kind, Stop> {
        let combine = match &reduction.combine {
            Combiner::Op(op) => {
                let elem = result_elem(inst);
                let pairwise = *op == Op::Add && elem.is_float() && reduction.flags.reassociable;
                CombineCode::Op { op: *op, elem, pairwise }
            }
            Combiner::Region(region) => CombineCode::Region(self.region(region)?),
        };
        let start = match &reduction.start {
            Start::Identity(args) | Start::Init(args) => StartCode::From(self.args(args)?),
            Start::First => StartCode::First,
        };
        // Only the bounds see what is outside: the dimensions are bound from here on.
        let dims = reduction.domain.dims();
        let slots: Vec<u32> = dims.iter().map(|dim| self.var_slot(*dim)).collect();
        let domain = self.domain(&reduction.domain, slots, true)?;
        let guard = reduction.guard.as_ref().map(|guard| self.region(guard)).transpose()?;
        let grouped = self.grouped(reduction, &domain);
        let body = self.region(&reduction.body)?;
        Ok(Kind::Reduce(Box::new(ReduceCode { domain, guard, body, combine, start, grouped })))
    }

    fn open(&self, var: einlang_index::Var) -> Result<OpenRef, Stop> {
        match self.var(var)? {
            VarRef::Open(open) => Ok(open),
            VarRef::Symbol(number) => match self.code.symbols.get(number as usize) {
                Some(SymbolCode::Until(group)) => Ok(OpenRef::Global(*group)),
                _ => self.unknown("the group of a `converged`"),
            },
            _ => self.unknown("the group of a `converged`"),
        }
    }

    fn deriv(&self, of: &Place, by: &Place) -> String {
        format!("@{} / @{}", of.tensor.as_str(), by.tensor.as_str())
    }

    fn tensor(&self, name: &Ident) -> Result<TensorRef, Stop> {
        match self.tensors.get(name) {
            Some(tensor) => Ok(*tensor),
            None => self.unknown(&format!("`{}`", name.as_str())),
        }
    }

    fn operand(&self, arg: &Arg) -> Result<Operand, Stop> {
        Ok(self.typed(arg)?.0)
    }

    fn typed(&self, arg: &Arg) -> Result<(Operand, Elem), Stop> {
        match arg {
            Arg::Const(constant) => Ok((Operand::Const(constant.bits()), constant.elem())),
            Arg::Value(value) => match self.values.get(&value.number) {
                Some(slot) => Ok((Operand::Slot(*slot), value.elem)),
                None => self.unknown(&format!("%{}", value.number)),
            },
            Arg::Tensor(name) => self.unknown(&format!("the scalar `{}`", name.as_str())),
        }
    }

    fn args(&self, args: &[Arg]) -> Result<Vec<ArgCode>, Stop> {
        let code = |arg: &Arg| match arg {
            Arg::Tensor(name) => Ok(ArgCode::Tensor(self.tensor(name)?)),
            _ => Ok(ArgCode::Scalar(self.operand(arg)?)),
        };
        args.iter().map(code).collect()
    }
}

/// The type of an instruction's scalar result.
fn result_elem(inst: &Inst) -> Elem {
    inst.results.iter().find_map(Def::as_scalar).map_or(Elem::Bool, |value| value.elem)
}
