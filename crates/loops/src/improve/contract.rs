//! `contract_products`: a product that is added to something becomes one operation, `fma`.
//!
//! It rounds once instead of twice, so results differ in their last bits from those of the oracle,
//! within the error that the sum has anyway; a schedule has to ask for it. A sum of products that may
//! be reassociated becomes a chain of `fma` over blocks of terms, whose sums are added one
//! after the other: an association by positions alone. A schedule with `chains` asks for that in lanes
//! only, for all sums of floats there: lanes are what hides how long each addition takes.

use einlang_index::{MinMax, Quasi, Var, Vars};
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Value;
use einlang_tir::types::Elem;
use rustc_hash::FxHashMap as HashMap;

use super::rewrite::{blocks, next_value_of, uses};
use crate::decide::block_of_terms;
use crate::ir::{Block, Combine, Fold, FoldStart, Kernel, Operand, Range, Role, Stmt};

/// Contracts the products of a kernel: all of them, or those in sums in lanes.
pub(super) fn contract_products(kernel: &mut Kernel, all: bool) {
    let next = next_value_of(kernel);
    let mut counts = HashMap::default();
    uses(&mut kernel.body, &mut counts);
    let known = HashMap::default();
    let mut contract =
        Contract { next, counts, vars: &mut kernel.vars, known, all, in_lanes: false };
    contract.block(&mut kernel.body);
}

struct Contract<'k> {
    next: u32,
    counts: HashMap<u32, usize>,
    vars: &'k mut Vars,
    /// The sizes that are bound to numbers here.
    known: HashMap<Var, i64>,
    /// Whether products outside of sums are contracted, and sums outside of lanes.
    all: bool,
    in_lanes: bool,
}

/// Whether products of a type may be contracted.
fn is_contracted(elem: Elem) -> bool {
    matches!(elem, Elem::F32 | Elem::F64)
}

impl Contract<'_> {
    fn fresh(&mut self, elem: Elem) -> Value {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Value { number, elem }
    }

    fn block(&mut self, block: &mut Block) {
        let mut products: HashMap<u32, [Operand; 2]> = HashMap::default();
        let mut gone: Vec<u32> = Vec::new();
        let mut stmts = Vec::with_capacity(block.stmts.len());
        let known = self.known.clone();
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::Bind { var, expr } = &stmt {
                self.known.remove(var);
                self.known.extend(expr.as_constant().map(|value| (*var, value)));
            }
            let outer = self.in_lanes;
            self.in_lanes |= matches!(&stmt, Stmt::Loop(of) if matches!(of.role, Role::Lane(_)));
            blocks(&mut stmt, &mut |block| self.block(block));
            self.in_lanes = outer;
            if let Stmt::Fold(fold) = &mut stmt {
                self.fold(fold);
            }
            if let Stmt::Op { result, op, args, .. } = &stmt
                && is_contracted(result.elem)
                && self.all
            {
                match (op, &args[..]) {
                    (Op::Mul, [a, b]) if self.counts.get(&result.number) == Some(&1) => {
                        products.insert(result.number, [*a, *b]);
                    }
                    (Op::Add | Op::Sub, [a, b]) => {
                        if let Some(number) =
                            self.added(*result, *op, [*a, *b], &products, &mut stmts)
                        {
                            gone.push(number);
                            continue;
                        }
                    }
                    _ => {}
                }
            }
            stmts.push(stmt);
        }
        let is_gone = |stmt: &Stmt| matches!(stmt, Stmt::Op { op: Op::Mul, result, .. } if gone.contains(&result.number));
        stmts.retain(|stmt| !is_gone(stmt));
        block.stmts = stmts;
        self.known = known;
    }

    /// Adds a product to something; the product that is not needed any more.
    fn added(
        &mut self,
        result: Value,
        op: Op,
        [a, b]: [Operand; 2],
        products: &HashMap<u32, [Operand; 2]>,
        out: &mut Vec<Stmt>,
    ) -> Option<u32> {
        let product = |operand: &Operand| match operand {
            Operand::Value(value) => products.get(&value.number).map(|p| (value.number, *p)),
            Operand::Const(_) => None,
        };
        let ((number, [x, y]), other, first) = match (product(&a), product(&b)) {
            (_, Some(found)) => (found, a, false),
            (Some(found), None) => (found, b, true),
            (None, None) => return None,
        };
        let (mut x, mut other) = (x, other);
        if op == Op::Sub {
            let turned = if first { &mut other } else { &mut x };
            let negative = self.fresh(result.elem);
            out.push(Stmt::Op { result: negative, op: Op::Neg, args: vec![*turned], site: None });
            *turned = negative.into();
        }
        out.push(Stmt::Op { result, op: Op::Fma, args: vec![x, y, other], site: None });
        Some(number)
    }

    /// Makes a sum of products a chain.
    fn fold(&mut self, fold: &mut Fold) {
        let sums = matches!(fold.combine, Combine::Op(Op::Add) | Combine::Pairs(Op::Add));
        let free = matches!(fold.combine, Combine::Pairs(_));
        let simple = fold.guard.is_none() && fold.key.is_none() && fold.resume.is_none();
        let ([result], FoldStart::From(_), true) = (&fold.results[..], &fold.start, sums && simple)
        else {
            return;
        };
        let elem = result.elem;
        let lanes = self.in_lanes && free && is_contracted(elem);
        if !self.all && !lanes {
            return;
        }
        let counts = chosen(&mut fold.body, &self.counts);
        let factors = self.product(&mut fold.body, elem);
        let [term] = fold.body.results[..] else { return };
        if factors.is_none() && !lanes {
            if let Some(stmt) = counts {
                put_back(&mut fold.body, stmt);
            }
            return;
        }
        let counts = counts.and_then(|stmt| condition(&stmt));
        let parts = if free { self.parts(fold) } else { None };
        let terms = std::mem::take(&mut fold.body.stmts);
        let chain = match factors {
            Some(factors) => self.chain(elem, terms, Op::Fma, &factors, counts),
            None => self.chain(elem, terms, Op::Add, &[term], counts),
        };
        fold.body = Block::default();
        let Some((over, part)) = parts else {
            fold.combine = chain;
            return;
        };
        let inner = self.fresh(elem);
        let body = Block::default();
        let nothing = Const::float(elem, -0.0);
        let inner_fold = Fold {
            results: vec![inner],
            ranges: vec![part],
            within: fold.within.take(),
            guard: None,
            body,
            combine: chain,
            start: FoldStart::From(vec![nothing.into()]),
            resume: None,
            key: None,
        };
        fold.ranges = vec![over];
        fold.combine = Combine::Op(Op::Add);
        fold.body =
            Block { stmts: vec![Stmt::Fold(Box::new(inner_fold))], results: vec![inner.into()] };
    }

    /// The factors that a block yields the product of, and nothing else of it.
    fn product(&self, body: &mut Block, elem: Elem) -> Option<[Operand; 2]> {
        let [Operand::Value(term)] = &body.results[..] else { return None };
        let Some(Stmt::Op { result, op: Op::Mul, args, .. }) = body.stmts.last() else {
            return None;
        };
        let [x, y] = args[..] else { return None };
        let once = self.counts.get(&term.number) == Some(&1);
        if result.number != term.number || !once || !is_contracted(elem) {
            return None;
        }
        body.stmts.pop();
        Some([x, y])
    }

    /// The blocks of a long sum: their numbers, and the terms of one.
    fn parts(&mut self, fold: &Fold) -> Option<(Range, Range)> {
        let ([range], [result]) = (&fold.ranges[..], &fold.results[..]) else { return None };
        let block = block_of_terms(result.elem.bits() / 8);
        let trip = range.hi.sub(&range.lo).ok()?;
        let mut known = true;
        trip.for_each_var(&mut |var| known &= self.known.contains_key(&var));
        let number = trip.eval(&|var| self.known.get(&var).copied().unwrap_or(0));
        if known && number.is_ok_and(|n| n <= i128::from(block)) {
            return None;
        }
        let name = self.vars.name(range.var).unwrap_or("k").trim_end_matches('\'').to_owned();
        let var = self.vars.index(&name);
        let first = range.lo.add_scaled(&Quasi::from(var), block).ok()?;
        let end = first.add_constant(block).ok()?;
        let hi = MinMax::min_of([range.hi.clone(), end]).ok()?;
        let n_blocks = trip.ceil_div(block).ok()?;
        let over = Range { var, lo: MinMax::from(0), hi: n_blocks, down: false };
        Some((over, Range { var: range.var, lo: first, hi, down: false }))
    }

    /// Adds a term, or the product of two factors, to the state. What they are made of stands right
    /// before, so that it need not be kept while other states have their turn.
    /// Where a condition does not hold the state stays.
    fn chain(
        &mut self,
        elem: Elem,
        mut stmts: Vec<Stmt>,
        op: Op,
        with: &[Operand],
        counts: Option<Operand>,
    ) -> Combine {
        let (state, mut result) = (self.fresh(elem), self.fresh(elem));
        let mut args = with.to_vec();
        args.push(state.into());
        stmts.push(Stmt::Op { result, op, args, site: None });
        if let Some(counts) = counts {
            let args = vec![counts, result.into(), state.into()];
            result = self.fresh(elem);
            stmts.push(Stmt::Op { result, op: Op::Select, args, site: None });
        }
        let block = Block { stmts, results: vec![result.into()] };
        Combine::Block { left: vec![state], right: Vec::new(), block }
    }
}

/// Takes away that a term is nothing under a condition, which is its last statement.
fn chosen(body: &mut Block, counts: &HashMap<u32, usize>) -> Option<Stmt> {
    let [Operand::Value(term)] = &body.results[..] else { return None };
    let Some(Stmt::Op { result, op: Op::Select, args, .. }) = body.stmts.last() else {
        return None;
    };
    let [_, yes, Operand::Const(no)] = args[..] else { return None };
    let nothing = no.as_float().is_some_and(|no| no == 0.0 && no.is_sign_negative());
    if !nothing || result.number != term.number || counts.get(&term.number) != Some(&1) {
        return None;
    }
    body.results = vec![yes];
    body.stmts.pop()
}

/// Makes a term nothing under its condition again.
fn put_back(body: &mut Block, stmt: Stmt) {
    if let Stmt::Op { result, .. } = &stmt {
        body.results = vec![(*result).into()];
    }
    body.stmts.push(stmt);
}

/// The condition under which a term counts.
fn condition(stmt: &Stmt) -> Option<Operand> {
    match stmt {
        Stmt::Op { args, .. } => args.first().copied(),
        _ => None,
    }
}
