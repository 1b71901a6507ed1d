//! Regions: one statement or a few per instruction.

use einlang_tir::constant::Const;
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{Arg, Def, Inst, InstKind, Region, Value};
use einlang_tir::types::{Elem, Loc};

use super::{Lower, NotLowered, Part, Result};
use crate::ir::{Block, Condition, Fault, Operand, SiteId, Stmt};

/// Regions nested deeper than this stay with the oracle.
const MAX_NESTING: usize = 100;

impl Lower<'_> {
    /// Lowers a region whose parameters are defined.
    pub(super) fn region(&mut self, region: &Region, out: &mut Vec<Stmt>) -> Result<Vec<Part>> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(NotLowered::new("code that nests too deeply"));
        }
        for inst in &region.insts {
            self.inst(inst, out)?;
        }
        self.depth -= 1;
        region.results.iter().map(|arg| self.part(arg)).collect()
    }

    pub(super) fn part(&self, arg: &Arg) -> Result<Part> {
        match arg {
            Arg::Tensor(name) => match self.tensors.get(name) {
                Some(buffer) => Ok(Part::Tensor(*buffer)),
                None => Err(NotLowered::new(format!("`{}` as a whole", name.as_str()))),
            },
            _ => Ok(Part::Scalar(self.operand(arg)?)),
        }
    }

    pub(super) fn operand(&self, arg: &Arg) -> Result<Operand> {
        match arg {
            Arg::Const(constant) => Ok((*constant).into()),
            Arg::Value(value) => match self.values.get(&value.number) {
                Some(operand) => Ok(*operand),
                None => Err(NotLowered::new(format!("%{} without a value", value.number))),
            },
            Arg::Tensor(_) => Err(NotLowered::new("a tensor in the place of a scalar")),
        }
    }

    pub(super) fn operands(&self, args: &[Arg]) -> Result<Vec<Operand>> {
        args.iter().map(|arg| self.operand(arg)).collect()
    }

    /// A new value for what an instruction defines.
    pub(super) fn result(&mut self, inst: &Inst) -> Result<Value> {
        match &inst.results[..] {
            [Def::Scalar(value)] => Ok(self.named(*value)),
            _ => Err(NotLowered::new("an instruction with several results")),
        }
    }

    /// A new value that stands for one of the module.
    pub(super) fn named(&mut self, value: Value) -> Value {
        let fresh = self.fresh(value.elem);
        self.values.insert(value.number, fresh.into());
        fresh
    }

    fn inst(&mut self, inst: &Inst, out: &mut Vec<Stmt>) -> Result<()> {
        match &inst.kind {
            InstKind::Op(op, args) => self.op(*op, args, inst, out),
            InstKind::Index(expr) => {
                let result = self.result(inst)?;
                out.push(Stmt::Index { result, expr: expr.clone() });
                Ok(())
            }
            InstKind::Read(read) => self.read(read, inst, out),
            InstKind::If { condition, then, otherwise } => {
                let condition = Condition::Value(self.operand(condition)?);
                self.branch(condition, then, otherwise, &inst.results, out)
            }
            InstKind::Switch { on, cases, otherwise } => {
                let on = self.operand(on)?;
                self.switch(on, cases, otherwise, &inst.results, out)
            }
            InstKind::Reduce(reduction) => self.fold(reduction, inst, out),
            InstKind::Group(group) => self.group(group, out),
            InstKind::Call { .. } => Err(NotLowered::new("a call that was not inlined")),
            InstKind::HostCall { function, args } => {
                let args = self.operands(args)?;
                let mut results = Vec::with_capacity(inst.results.len());
                for def in &inst.results {
                    let scalar = || NotLowered::new("a call that gives a tensor");
                    results.push(self.named(def.as_scalar().ok_or_else(scalar)?));
                }
                let what = format!("the call of `{}`", function.as_str());
                let site = self.kernel.add_site(what, inst.loc);
                out.push(Stmt::Call { results, function: function.clone(), args, site });
                Ok(())
            }
            InstKind::Deriv { .. } => Err(NotLowered::new("a derivative that was not expanded")),
            InstKind::Param { var, value } => {
                let value = self.operand(value)?;
                let what = self.module.vars.show(*var);
                self.param(*var, value, &what, out)
            }
            InstKind::Converged(var) => {
                let missing = || NotLowered::new("`converged` of an axis that is not known");
                let operand = *self.converged.get(var).ok_or_else(missing)?;
                if let [Def::Scalar(value)] = &inst.results[..] {
                    self.values.insert(value.number, operand);
                }
                Ok(())
            }
            InstKind::Assert { condition, message } => {
                let condition = Condition::Value(self.operand(condition)?);
                let fault = Fault::Stop(Trap::Assertion);
                let site = self.faulty(message.without_values(), inst.loc, fault);
                out.push(Stmt::Assert { condition, site });
                Ok(())
            }
            InstKind::Trap { trap, message } => {
                let fault = Fault::Stop(*trap);
                let site = self.faulty(message.without_values(), inst.loc, fault);
                out.push(Stmt::Trap(site));
                self.unreachable(&inst.results);
                Ok(())
            }
        }
    }

    /// What follows a trap may mention its results, and never sees them.
    fn unreachable(&mut self, results: &[Def]) {
        for value in results.iter().filter_map(Def::as_scalar) {
            self.values.insert(value.number, Const::zero(value.elem).into());
        }
    }

    fn op(&mut self, op: Op, args: &[Arg], inst: &Inst, out: &mut Vec<Stmt>) -> Result<()> {
        let args = self.operands(args)?;
        let result = self.result(inst)?;
        let elem = args.first().map_or(result.elem, Operand::elem);
        let site = op.may_trap(elem, false).then(|| self.kernel.add_site(op.name(), inst.loc));
        out.push(Stmt::Op { result, op, args, site });
        Ok(())
    }

    /// Two regions, one of which is executed.
    pub(super) fn branch(
        &mut self,
        condition: Condition,
        then: &Region,
        otherwise: &Region,
        defs: &[Def],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (results, tensors) = self.prepared(defs, out);
        let then = self.arm(then, &tensors)?;
        let otherwise = self.arm(otherwise, &tensors)?;
        out.push(Stmt::If { results: results.clone(), condition, then, otherwise });
        self.arrived(defs, results);
        Ok(())
    }

    /// New values for scalar results, buffers for tensors.
    fn prepared(
        &mut self,
        defs: &[Def],
        out: &mut Vec<Stmt>,
    ) -> (Vec<Value>, Vec<Option<crate::ir::BufferId>>) {
        let mut results = Vec::new();
        let mut tensors = Vec::new();
        for def in defs {
            match def {
                Def::Scalar(value) => {
                    results.push(self.fresh(value.elem));
                    tensors.push(None);
                }
                Def::Tensor(tensor) => {
                    let buffer = self.buffer(&tensor.name, &tensor.ty);
                    out.push(Stmt::Alloc(buffer));
                    tensors.push(Some(buffer));
                }
            }
        }
        (results, tensors)
    }

    fn arrived(&mut self, defs: &[Def], results: Vec<Value>) {
        for (value, result) in defs.iter().filter_map(Def::as_scalar).zip(results) {
            self.values.insert(value.number, result.into());
        }
    }

    fn arm(&mut self, region: &Region, tensors: &[Option<crate::ir::BufferId>]) -> Result<Block> {
        let (stmts, results) = self.scoped(|lower, out| {
            let parts = lower.region(region, out)?;
            let mut results = Vec::new();
            for (part, tensor) in parts.into_iter().zip(tensors) {
                match (part, tensor) {
                    (Part::Scalar(operand), None) => results.push(operand),
                    (Part::Tensor(from), Some(to)) => out.push(Stmt::Copy { to: *to, from }),
                    _ => return Err(NotLowered::new("arms that give different things")),
                }
            }
            Ok(results)
        })?;
        Ok(Block { stmts, results })
    }

    /// A chain of branches.
    fn switch(
        &mut self,
        on: Operand,
        cases: &[(i64, Region)],
        otherwise: &Region,
        defs: &[Def],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (results, tensors) = self.prepared(defs, out);
        let mut last = self.arm(otherwise, &tensors)?;
        for (number, region) in cases.iter().rev() {
            let then = self.arm(region, &tensors)?;
            let constant = Const::int(on.elem(), (*number).into());
            if constant.as_int() != Some((*number).into()) {
                continue;
            }
            let test = self.fresh(Elem::Bool);
            let args = vec![on, constant.into()];
            let compare = Stmt::Op { result: test, op: Op::Eq, args, site: None };
            let inner: Vec<Value> = results.iter().map(|v| self.fresh(v.elem)).collect();
            let condition = Condition::Value(test.into());
            let chosen = Stmt::If { results: inner.clone(), condition, then, otherwise: last };
            let inner = inner.into_iter().map(Operand::from).collect();
            last = Block { stmts: vec![compare, chosen], results: inner };
        }
        out.append(&mut last.stmts);
        for (value, operand) in defs.iter().filter_map(Def::as_scalar).zip(last.results) {
            self.values.insert(value.number, operand);
        }
        Ok(())
    }

    /// A site at a place.
    pub(super) fn site(&mut self, what: impl Into<String>, loc: Loc) -> SiteId {
        self.kernel.add_site(what, loc)
    }

    /// A site at a place of which it is known what goes wrong there.
    pub(super) fn faulty(&mut self, what: impl Into<String>, loc: Loc, fault: Fault) -> SiteId {
        let site = self.site(what, loc);
        self.kernel.sites[site.0 as usize].fault = fault;
        site
    }
}
