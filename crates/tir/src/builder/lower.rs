//! From shared trees to regions.
//!
//! A node that was computed in an enclosing region is visible in the inner ones, but not the
//! other way round: what an arm computes stays in the arm.

use std::collections::BTreeSet;
use std::rc::Rc;

use einlang_index::Var;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::expr::{Combine, Expr, Fold, FoldStart, NodeKind, Sub1};
use super::ix::Ix;
use crate::fresh::Fresh;
use crate::module::Module;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, Reduction, Region, Start, Subscript, Value,
};
use crate::types::{Elem, Ident, Loc};

/// One region under construction: its instructions, and what they computed.
#[derive(Default)]
struct Level {
    insts: Vec<Inst>,
    nodes: HashMap<usize, Arg>,
    folds: HashMap<usize, Vec<Value>>,
}

/// Lowers expressions.
pub(super) struct Lowering<'a> {
    module: &'a mut Module,
    errors: &'a mut Vec<String>,
    /// The indices of reductions that stand in some region already.
    bound: &'a mut HashSet<Var>,
    levels: Vec<Level>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        module: &'a mut Module,
        errors: &'a mut Vec<String>,
        bound: &'a mut HashSet<Var>,
    ) -> Lowering<'a> {
        Lowering { module, errors, bound, levels: Vec::new() }
    }

    /// A region that yields the expressions.
    pub(super) fn region(&mut self, exprs: &[Expr]) -> Region {
        self.levels.push(Level::default());
        let results = exprs.iter().map(|expr| self.expr(expr)).collect();
        let insts = self.levels.pop().map(|level| level.insts).unwrap_or_default();
        Region { params: Vec::new(), insts, results }
    }

    fn emit(&mut self, results: Vec<Def>, kind: InstKind) {
        if let Some(level) = self.levels.last_mut() {
            level.insts.push(Inst { results, kind, loc: Loc::default() });
        }
    }

    fn emit_scalar(&mut self, elem: Elem, kind: InstKind) -> Arg {
        let value = self.module.supply.value(elem);
        self.emit(vec![Def::Scalar(value)], kind);
        value.into()
    }

    fn fail(&mut self, elem: Elem, message: String) -> Arg {
        self.errors.push(message);
        crate::constant::Const::zero(elem).into()
    }

    fn expr(&mut self, expr: &Expr) -> Arg {
        let key = expr.0.key();
        if let Some(known) = self.levels.iter().rev().find_map(|level| level.nodes.get(&key)) {
            return known.clone();
        }
        let arg = self.node(expr);
        if let Some(level) = self.levels.last_mut() {
            level.nodes.insert(key, arg.clone());
        }
        arg
    }

    fn node(&mut self, expr: &Expr) -> Arg {
        let elem = expr.elem();
        let kind = match &expr.0.kind {
            NodeKind::Const(constant) => return (*constant).into(),
            NodeKind::Value(value) => return (*value).into(),
            NodeKind::Error(message) => return self.fail(elem, message.clone()),
            NodeKind::Part(fold, part) => return self.part(fold, *part, elem),
            NodeKind::Index(ix) => match &ix.0 {
                Ok(index) => InstKind::Index(index.clone()),
                Err(error) => return self.fail(elem, error.to_string()),
            },
            NodeKind::Op(op, args) => {
                InstKind::Op(*op, args.iter().map(|arg| self.expr(arg)).collect())
            }
            NodeKind::Read(tensor, at, default) => {
                let place = self.place(tensor, at);
                let default = default.as_ref().map(|expr| self.region(std::slice::from_ref(expr)));
                InstKind::Read(Read { place, default, proved: false })
            }
            NodeKind::If(condition, then, otherwise) => {
                let condition = self.expr(condition);
                let then = self.region(std::slice::from_ref(then));
                InstKind::If {
                    condition,
                    then,
                    otherwise: self.region(std::slice::from_ref(otherwise)),
                }
            }
            NodeKind::Deriv(of, by) => {
                InstKind::Deriv { of: self.place(&of.0, &of.1), by: self.place(&by.0, &by.1) }
            }
        };
        self.emit_scalar(elem, kind)
    }

    fn place(&mut self, tensor: &Ident, at: &[Sub1]) -> Place {
        let at = at.iter().map(|subscript| self.subscript(subscript)).collect();
        Place { tensor: tensor.clone(), at }
    }

    fn subscript(&mut self, subscript: &Sub1) -> Subscript {
        match subscript {
            Sub1::Index(Ix(Ok(index))) => Subscript::Index(index.clone()),
            Sub1::Index(Ix(Err(error))) => {
                self.errors.push(error.to_string());
                Subscript::Index(0.into())
            }
            Sub1::Value(expr) => match self.expr(expr) {
                Arg::Const(constant) => Subscript::Index(known_index(constant)),
                arg => Subscript::Value(arg),
            },
        }
    }

    fn part(&mut self, fold: &Rc<Fold>, part: usize, elem: Elem) -> Arg {
        let key = Rc::as_ptr(fold).addr();
        let known = self.levels.iter().rev().find_map(|level| level.folds.get(&key).cloned());
        let values = known.unwrap_or_else(|| self.fold(fold, key));
        match values.get(part) {
            Some(value) => (*value).into(),
            None => self.fail(elem, "a reduction without this part".to_owned()),
        }
    }

    fn fold(&mut self, fold: &Fold, key: usize) -> Vec<Value> {
        let domain = match &fold.domain {
            Ok(domain) => domain.clone().into(),
            Err(error) => {
                self.errors.push(error.to_string());
                return Vec::new();
            }
        };
        let start = match &fold.start {
            FoldStart::Identity(parts) => Start::Identity(self.exprs(parts)),
            FoldStart::Init(parts) => Start::Init(self.exprs(parts)),
        };
        let combine = match &fold.combine {
            Combine::Op(op) => Combiner::Op(*op),
            Combine::Region(params, parts) => {
                let params = params.iter().map(|value| Def::Scalar(*value)).collect();
                Combiner::Region(Region { params, ..self.region(parts) })
            }
        };
        let guard = fold.guard.as_ref().map(|guard| self.region(std::slice::from_ref(guard)));
        let body = self.region(&fold.terms);
        let reduction = Reduction { domain, guard, body, combine, start, flags: fold.flags };
        let inst = self.unshared(reduction, &fold.terms);
        let values: Vec<Value> = inst.results.iter().filter_map(Def::as_scalar).collect();
        if let Some(level) = self.levels.last_mut() {
            level.insts.push(inst);
            level.folds.insert(key, values.clone());
        }
        values
    }

    /// The instruction of a reduction. One that is used in several regions is bound anew in each
    /// but the first, because an index has one binder.
    fn unshared(&mut self, reduction: Reduction, terms: &[Expr]) -> Inst {
        let is_new = reduction.domain.dims().iter().all(|dim| self.bound.insert(*dim));
        let results = terms.iter().map(|term| self.module.supply.value(term.elem()));
        let results = results.map(Def::Scalar).collect();
        let kind = InstKind::Reduce(Box::new(reduction));
        let inst = Inst { results, kind, loc: Loc::default() };
        if is_new {
            return inst;
        }
        let region = Region { insts: vec![inst.clone()], ..Region::default() };
        match Fresh::new(self.module, &mut BTreeSet::new()).copy(&region) {
            Ok(mut copy) => copy.insts.pop().unwrap_or(inst),
            Err(error) => {
                self.errors.push(error.to_string());
                inst
            }
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<Arg> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }
}

/// A constant subscript as an index expression; one that no tensor has if it does not fit.
fn known_index(constant: crate::constant::Const) -> einlang_index::Quasi {
    constant.as_int().and_then(|number| i64::try_from(number).ok()).unwrap_or(-1).into()
}
