//! `hold_budget`: a kernel that would keep more of its trajectories than it may traps instead.
//!
//! Whoever runs it knows the site, and runs the kernel that computes segments again. Memory is
//! counted before a trajectory gets any, so nothing is lost but what comes before it; an open axis is
//! counted while it grows.

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Value;
use einlang_tir::types::{Elem, Ident};
use rustc_hash::FxHashSet as HashSet;

use super::rewrite::next_value_of;
use crate::checkpoint::OVER_BUDGET;
use crate::ir::{Buffer, BufferId, Condition, Kernel, Layout, Operand, SiteId, Stmt, UntilLoop};

/// Makes a kernel trap where the buffers of these tensors take more than so many bytes together.
pub(crate) fn hold_budget(kernel: &mut Kernel, names: &HashSet<Ident>, bytes: u64) {
    let next = next_value_of(kernel);
    let site = kernel.add_site(OVER_BUDGET, Default::default());
    let stmts = std::mem::take(&mut kernel.body.stmts);
    let mut holding = Holding { kernel, names, bytes: bytes as f64, site, next, total: None };
    let mut held = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Alloc(buffer) => {
                holding.count(buffer, &mut held);
                held.push(Stmt::Alloc(buffer));
            }
            Stmt::Loop(mut of) => {
                if let Some(until) = &of.until {
                    let mut first = holding.grown(until);
                    first.append(&mut of.body.stmts);
                    of.body.stmts = first;
                }
                let until = of.until.clone();
                held.push(Stmt::Loop(of));
                if let Some(until) = until {
                    holding.count_open(&until, &mut held);
                }
            }
            other => held.push(other),
        }
    }
    kernel.body.stmts = held;
}

struct Holding<'k> {
    kernel: &'k Kernel,
    names: &'k HashSet<Ident>,
    bytes: f64,
    site: SiteId,
    next: u32,
    /// The bytes so far.
    total: Option<Value>,
}

impl Holding<'_> {
    fn value(&mut self, elem: Elem) -> Value {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Value { number, elem }
    }

    fn op(&mut self, op: Op, args: Vec<Operand>, elem: Elem, out: &mut Vec<Stmt>) -> Value {
        let result = self.value(elem);
        out.push(Stmt::Op { result, op, args, site: None });
        result
    }

    /// A size as a float: products of sizes do not wrap.
    fn float(&mut self, expr: &Quasi, out: &mut Vec<Stmt>) -> Value {
        let size = self.value(Elem::I64);
        out.push(Stmt::Index { result: size, expr: expr.clone() });
        self.op(Op::Cast, vec![size.into()], Elem::F64, out)
    }

    fn of_names(&self, buffer: BufferId) -> Option<Buffer> {
        let found = self.kernel.buffer(buffer)?;
        self.names.contains(&found.name).then(|| found.clone())
    }

    /// The bytes of a buffer, without those of an open axis.
    fn size(&mut self, buffer: &Buffer, out: &mut Vec<Stmt>) -> Value {
        let bytes = f64::from(buffer.elem.bits().div_ceil(8));
        let mut size: Operand = Const::float(Elem::F64, bytes).into();
        for dim in &buffer.dims {
            let extent = match dim.layout {
                Layout::Full => self.float(&dim.extent, out).into(),
                Layout::Mod(width) => Const::float(Elem::F64, width as f64).into(),
                Layout::Open => continue,
            };
            size = self.op(Op::Mul, vec![size, extent], Elem::F64, out).into();
        }
        self.op(Op::Add, vec![size, Const::float(Elem::F64, 0.0).into()], Elem::F64, out)
    }

    fn count(&mut self, buffer: BufferId, out: &mut Vec<Stmt>) {
        let Some(buffer) = self.of_names(buffer) else { return };
        if buffer.dims.iter().any(|dim| dim.layout == Layout::Open) {
            return;
        }
        let size = self.size(&buffer, out);
        self.add(size, out);
    }

    fn add(&mut self, size: Value, out: &mut Vec<Stmt>) {
        let total = match self.total {
            None => size,
            Some(before) => self.op(Op::Add, vec![before.into(), size.into()], Elem::F64, out),
        };
        self.total = Some(total);
        self.hold(total, out);
    }

    /// Counts what an open axis has become.
    fn count_open(&mut self, until: &UntilLoop, out: &mut Vec<Stmt>) {
        for buffer in &until.buffers {
            let Some(buffer) = self.of_names(*buffer) else { continue };
            let plane = self.size(&buffer, out);
            let planes = self.float(&Quasi::from(until.extent), out);
            let args = vec![plane.into(), planes.into()];
            let size = self.op(Op::Mul, args, Elem::F64, out);
            self.add(size, out);
        }
    }

    fn hold(&mut self, bytes: Value, out: &mut Vec<Stmt>) {
        let most = Const::float(Elem::F64, self.bytes).into();
        let fits = self.op(Op::Le, vec![bytes.into(), most], Elem::Bool, out);
        out.push(Stmt::Assert { condition: Condition::Value(fits.into()), site: self.site });
    }

    /// What is asked in each round of an open axis.
    fn grown(&mut self, until: &UntilLoop) -> Vec<Stmt> {
        let mut out = Vec::new();
        let mut plane: Option<Value> = None;
        for buffer in &until.buffers {
            let Some(buffer) = self.of_names(*buffer) else { continue };
            let size = self.size(&buffer, &mut out);
            plane = Some(match plane {
                None => size,
                Some(sum) => self.op(Op::Add, vec![sum.into(), size.into()], Elem::F64, &mut out),
            });
        }
        if let Some(plane) = plane {
            let planes = self.float(&Quasi::from(until.extent), &mut out);
            let args = vec![plane.into(), planes.into()];
            let bytes = self.op(Op::Mul, args, Elem::F64, &mut out);
            self.hold(bytes, &mut out);
        }
        out
    }
}
