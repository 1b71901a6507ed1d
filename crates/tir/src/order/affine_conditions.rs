//! Truth values that are affine conditions: comparisons of index expressions and integers.
//! An index is taken to fit `i32`, as every extent of the language does; narrower types may wrap
//! and tell nothing.

use einlang_index::{Domain, Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::module::{Condition, Relation};
use crate::op::Op;
use crate::region::{Arg, Inst, InstKind};
use crate::types::Elem;

/// What is known of the values of the enclosing regions.
#[derive(Clone, Debug, Default)]
pub struct Known {
    indices: HashMap<u32, Quasi>,
    conditions: HashMap<u32, Vec<Condition>>,
}

impl Known {
    /// Takes note of what an instruction defines.
    pub fn learn(&mut self, inst: &Inst) {
        let Some(result) = inst.results.first().and_then(|def| def.as_scalar()) else { return };
        match &inst.kind {
            InstKind::Index(expr) if matches!(result.elem, Elem::I32 | Elem::I64) => {
                self.indices.insert(result.number, expr.clone());
            }
            InstKind::Op(Op::And, args) => {
                let parts: Option<Vec<_>> = args.iter().map(|arg| self.conditions(arg)).collect();
                if let Some(parts) = parts {
                    self.conditions.insert(result.number, parts.concat());
                }
            }
            InstKind::Op(op, args) => {
                if let ([a, b], Some(relation)) = (&args[..], relation(*op))
                    && let (Some(left), Some(right)) = (self.index(a), self.index(b))
                {
                    let condition = Condition { left, relation, right };
                    self.conditions.insert(result.number, vec![condition]);
                }
            }
            _ => {}
        }
    }

    /// The operand as an index expression.
    fn index(&self, arg: &Arg) -> Option<Quasi> {
        match arg {
            Arg::Const(constant) => i64::try_from(constant.as_int()?).ok().map(Quasi::from),
            Arg::Value(value) => self.indices.get(&value.number).cloned(),
            Arg::Tensor(_) => None,
        }
    }

    fn conditions(&self, arg: &Arg) -> Option<Vec<Condition>> {
        match arg {
            Arg::Value(value) => self.conditions.get(&value.number).cloned(),
            _ => None,
        }
    }

    /// The points where the truth value may be `holds`; everything when it is not affine.
    pub fn domain(&self, arg: &Arg, holds: bool, dims: &[Var]) -> Option<Domain> {
        let mut domain = Domain::everything(dims);
        for condition in self.conditions(arg)? {
            domain = domain.intersect(&condition.domain(dims).ok()?).ok()?;
        }
        if holds { Some(domain) } else { domain.complement().ok() }
    }
}

fn relation(op: Op) -> Option<Relation> {
    match op {
        Op::Eq => Some(Relation::Eq),
        Op::Lt => Some(Relation::Lt),
        Op::Le => Some(Relation::Le),
        Op::Gt => Some(Relation::Gt),
        Op::Ge => Some(Relation::Ge),
        _ => None,
    }
}
