//! Tangents of branches, loops and calls: the code inside is written once more, with the tangents
//! of its values.

use super::dual::Dual;
use crate::ad::fault::R;
use crate::host::{Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic};
use crate::types::Ident;

impl Dual<'_, '_> {
    pub(super) fn control(&mut self, inst: &HostInst) -> R<()> {
        let args: Vec<HostArg> = inst.args().into_iter().cloned().collect();
        let kind = match &inst.kind {
            HostKind::If(_, then, otherwise) => {
                let condition = self.arg(&args[0]);
                HostKind::If(condition, self.arm(then)?, self.arm(otherwise)?)
            }
            HostKind::Switch(_, cases, otherwise) => {
                let on = self.arg(&args[0]);
                let mut arms = Vec::with_capacity(cases.len());
                for (number, case) in cases {
                    arms.push((*number, self.arm(case)?));
                }
                HostKind::Switch(on, arms, self.arm(otherwise)?)
            }
            HostKind::Match(on, arms, otherwise) => self.matched(on, arms, otherwise.as_ref())?,
            HostKind::For(lo, hi, carried, body) => {
                let (lo, hi) = (self.arg(lo), self.arg(hi));
                let given = self.carried(carried);
                HostKind::For(lo, hi, given, self.body(body, 1)?)
            }
            HostKind::While(carried, condition, body) => {
                let given = self.carried(carried);
                let mut condition = self.body(condition, 0)?;
                condition.results.truncate(1);
                HostKind::While(given, condition, self.body(body, 0)?)
            }
            HostKind::Call(name, given) => {
                let callee = self.callee(name, &self.active(given))?;
                HostKind::Call(callee, self.carried(given))
            }
            HostKind::Apply(callee, given) => self.applied(callee, given, &inst.results)?,
            HostKind::Try(body) => return self.attempt(inst, body),
            _ => return Ok(()),
        };
        let results = self.doubled_defs(&inst.results);
        self.out.push(HostInst { results, kind, loc: inst.loc });
        Ok(())
    }

    /// Values followed by the tangents of those that have one.
    pub(super) fn carried(&mut self, args: &[HostArg]) -> Vec<HostArg> {
        let mut given = self.args(args);
        if self.quiet {
            return given;
        }
        for arg in args {
            if self.host.carries(&self.host.type_of(arg)) {
                given.push(self.tangent_or_zero(arg));
            }
        }
        given
    }

    /// The function that is called in place of another one: it takes tangents, or prints nothing.
    pub(super) fn callee(&mut self, name: &Ident, active: &[bool]) -> R<Ident> {
        let name = self.host.deeper(name, false);
        match self.quiet {
            true => self.host.quiet_function(&name, self.loc),
            false => self.host.dual_function(&name, active, self.loc),
        }
    }

    /// Which operands have a tangent.
    pub(super) fn active(&self, args: &[HostArg]) -> Vec<bool> {
        args.iter().map(|arg| self.tangent(arg).is_some()).collect()
    }

    /// New definitions for values and their tangents.
    fn doubled_defs(&mut self, defs: &[HostDef]) -> Vec<HostDef> {
        let mut doubled = match self.copying {
            true => self.copied_defs(defs),
            // The values are there already; what is computed here is not looked at.
            false => defs.iter().map(|def| self.host.new_def(def.ty.clone())).collect(),
        };
        if self.quiet {
            return doubled;
        }
        for def in defs {
            if self.host.carries(&def.ty) {
                let fresh = self.host.new_def(def.ty.clone());
                if !self.still.contains(&def.number) {
                    self.tangents.insert(def.number, HostArg::Value(fresh.number));
                }
                doubled.push(fresh);
            }
        }
        doubled
    }

    /// A block without parameters that yields its results and their tangents.
    fn arm(&mut self, block: &Block) -> R<Block> {
        self.body(block, usize::MAX)
    }

    /// A block with its tangents. Parameters from the given one on have tangents.
    pub(super) fn body(&mut self, block: &Block, first: usize) -> R<Block> {
        let outer = (std::mem::take(&mut self.out), std::mem::replace(&mut self.copying, true));
        let (counted, carried) = block.params.split_at(first.min(block.params.len()));
        let mut params = self.copied_defs(counted);
        params.extend(self.doubled_defs(carried));
        let done = block.insts.iter().try_for_each(|inst| self.inst(inst));
        let results = match done {
            Ok(()) => self.carried(&block.results),
            Err(_) => Vec::new(),
        };
        let insts = std::mem::replace(&mut self.out, outer.0);
        self.copying = outer.1;
        done.map(|()| Block { params, insts, results })
    }

    /// A `match`: the tangents of what a variant holds are in the variant's tangent.
    fn matched(
        &mut self,
        on: &HostArg,
        arms: &[(Ident, Block)],
        otherwise: Option<&Block>,
    ) -> R<HostKind> {
        let active = self.tangent(on);
        let value = self.arg(on);
        let mut written = Vec::with_capacity(arms.len());
        for (variant, block) in arms {
            let outer = (std::mem::take(&mut self.out), std::mem::replace(&mut self.copying, true));
            let params = self.copied_defs(&block.params);
            if let Some(tangent) = &active {
                self.fields_of(tangent, variant, &block.params);
            }
            let done = block.insts.iter().try_for_each(|inst| self.inst(inst));
            let results = if done.is_ok() { self.carried(&block.results) } else { Vec::new() };
            let insts = std::mem::replace(&mut self.out, outer.0);
            self.copying = outer.1;
            done?;
            written.push((variant.clone(), Block { params, insts, results }));
        }
        let otherwise = otherwise.map(|block| self.arm(block)).transpose()?;
        Ok(HostKind::Match(value, written, otherwise))
    }

    /// Takes the tangents of a variant's fields out of the tangent.
    fn fields_of(&mut self, tangent: &HostArg, variant: &Ident, fields: &[HostDef]) {
        let floats: Vec<HostDef> =
            fields.iter().filter(|field| self.host.carries(&field.ty)).cloned().collect();
        if floats.is_empty() {
            return;
        }
        let params: Vec<HostDef> =
            fields.iter().map(|field| self.host.new_def(field.ty.clone())).collect();
        let held = fields.iter().zip(&params).filter(|(field, _)| floats.contains(field));
        let results = held.map(|(_, param)| HostArg::Value(param.number)).collect();
        let found = (variant.clone(), Block { params, insts: Vec::new(), results });
        // The tangent is of the same variant, so this arm only fills the table.
        let outer = std::mem::take(&mut self.out);
        let mut zeros = Vec::with_capacity(floats.len());
        for field in &floats {
            let value = self.arg(&HostArg::Value(field.number));
            let kind = HostKind::Intrinsic(Intrinsic::ZerosLike, vec![value]);
            zeros.push(self.value(field.ty.clone(), kind));
        }
        let insts = std::mem::replace(&mut self.out, outer);
        let never = Block { params: Vec::new(), insts, results: zeros };
        let results: Vec<HostDef> =
            floats.iter().map(|field| self.host.new_def(field.ty.clone())).collect();
        for (field, result) in floats.iter().zip(&results) {
            self.tangents.insert(field.number, HostArg::Value(result.number));
        }
        let kind = HostKind::Match(tangent.clone(), vec![found], Some(never));
        self.out.push(HostInst { results, kind, loc: self.loc });
    }

    /// A `try`: where it gave a value, its code is followed once more for the tangent.
    fn attempt(&mut self, inst: &HostInst, body: &Block) -> R<()> {
        let [def] = &inst.results[..] else { return Ok(()) };
        let HostType::Enum(name) = &def.ty else { return Ok(()) };
        let result = HostArg::Value(def.number);
        if self.copying {
            let mut block = self.arm(body)?;
            block.results.truncate(1);
            let results = self.copied_defs(std::slice::from_ref(def));
            self.out.push(HostInst { results, kind: HostKind::Try(block), loc: inst.loc });
        }
        let gives_floats = !self.quiet
            && body.results.iter().any(|arg| self.host.carries(&self.host.type_of(arg)));
        if !gives_floats {
            return Ok(());
        }
        let value = self.arg(&result);
        let mut found = self.arm(body)?;
        let types: Vec<HostType> = body.results.iter().map(|arg| self.host.type_of(arg)).collect();
        found.params = types.into_iter().map(|ty| self.host.new_def(ty)).collect();
        let tangents = found.results.split_off(body.results.len());
        let outer = std::mem::replace(&mut self.out, std::mem::take(&mut found.insts));
        let ok = HostKind::Variant(name.clone(), Ident::new("Ok"), tangents);
        found.results = vec![self.value(def.ty.clone(), ok)];
        found.insts = std::mem::take(&mut self.out);
        let kind = HostKind::Intrinsic(Intrinsic::ZerosLike, vec![value.clone()]);
        let zeros = self.value(def.ty.clone(), kind);
        let insts = std::mem::replace(&mut self.out, outer);
        let failed = Block { params: Vec::new(), insts, results: vec![zeros] };
        let kind = HostKind::Match(value, vec![(Ident::new("Ok"), found)], Some(failed));
        let tangent = self.value(def.ty.clone(), kind);
        self.tangents.insert(def.number, tangent);
        Ok(())
    }
}
