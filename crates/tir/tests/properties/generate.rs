//! Random well-formed modules.

use einlang_index::{Domain, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::module::{
    Axis, Binding, Clause, Condition, Group, Module, Relation, Symbol, SymbolSource, box_of,
};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript, Tensor, Value,
};
use einlang_tir::types::{Elem, Ident, Loc, TensorType};

/// A reproducible stream of choices.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

const ELEMS: [Elem; 4] = [Elem::F32, Elem::F64, Elem::I32, Elem::BF16];

/// What an expression may mention.
#[derive(Clone, Default)]
struct Scope {
    vars: Vec<Var>,
    values: Vec<Value>,
    tensors: Vec<(Ident, Elem, usize)>,
}

struct Generator<'a> {
    dice: &'a mut Dice,
    module: Module,
    n_names: usize,
}

/// A random module.
pub(crate) fn module(dice: &mut Dice) -> Module {
    let mut generator = Generator { dice, module: Module::new("random module"), n_names: 0 };
    let mut scope = Scope::default();
    generator.symbols(&mut scope);
    generator.inputs(&mut scope);
    for _ in 0..1 + generator.dice.below(3) {
        let binding = generator.binding(&mut scope, 2);
        generator.module.outputs.push(binding.name.clone());
        generator.module.groups.push(Group { bindings: vec![binding], until: None });
    }
    generator.module
}

impl Generator<'_> {
    fn symbols(&mut self, scope: &mut Scope) {
        for name in ["N", "odd name", "K"].into_iter().take(1 + self.dice.below(3)) {
            let var = self.module.vars.symbol(name);
            let source = SymbolSource::Argument;
            self.module.symbols.push(Symbol { var, source, loc: Loc::default() });
            self.module.assumptions.push(Condition::new(var, Relation::Ge, 1));
            scope.vars.push(var);
        }
    }

    fn name(&mut self) -> Ident {
        self.n_names += 1;
        let stem = self.dice.pick(&["x", "if", "s.x", "ünï", "two words", "true"]);
        Ident::new(&format!(
            "{stem}{}",
            if self.n_names == 1 { String::new() } else { self.n_names.to_string() }
        ))
    }

    fn extent(&mut self, scope: &Scope) -> Quasi {
        let symbols: Vec<Var> =
            scope.vars.iter().copied().filter(|v| self.module.vars.symbols().contains(v)).collect();
        match self.dice.below(3) {
            0 => (1 + self.dice.below(5) as i64).into(),
            1 => self.dice.pick(&symbols).into(),
            _ => Quasi::from(self.dice.pick(&symbols)).add_constant(2).unwrap_or_default(),
        }
    }

    fn inputs(&mut self, scope: &mut Scope) {
        for _ in 0..1 + self.dice.below(2) {
            let (name, elem, rank) = (self.name(), self.dice.pick(&ELEMS), self.dice.below(3));
            let dims = (0..rank).map(|_| self.extent(scope).into()).collect();
            self.module.inputs.push(Tensor { name: name.clone(), ty: TensorType { elem, dims } });
            scope.tensors.push((name, elem, rank));
        }
    }

    /// A binding, visible in `scope` afterwards and to itself.
    fn binding(&mut self, scope: &mut Scope, depth: usize) -> Binding {
        let (name, elem, rank) = (self.name(), self.dice.pick(&ELEMS), self.dice.below(3));
        let mut axes = Vec::new();
        for _ in 0..rank {
            let extent = self.extent(scope);
            axes.push(Axis { var: self.module.vars.index("i"), dim: extent.into() });
        }
        scope.tensors.push((name.clone(), elem, rank));
        let mut inner = scope.clone();
        inner.vars.extend(axes.iter().map(|axis| axis.var));
        let n_clauses = 1 + self.dice.below(3);
        let clauses = (0..n_clauses).map(|_| self.clause(&axes, elem, &inner, depth)).collect();
        Binding { name, elem, axes, clauses, zero_fill: self.dice.one_in(4), loc: Loc::default() }
    }

    fn clause(&mut self, axes: &[Axis], elem: Elem, scope: &Scope, depth: usize) -> Clause {
        let mut domain = box_of(axes).expect("small numbers");
        let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        for dim in &dims {
            domain = self.restrict(domain, *dim);
        }
        let guard = self.dice.one_in(3).then(|| {
            let mut region = self.region(scope, &[Elem::I32], depth);
            let holds = self.module.supply.value(Elem::Bool);
            let tested = vec![region.results[0].clone(), Const::int(Elem::I32, 3).into()];
            region.insts.push(inst(vec![Def::Scalar(holds)], InstKind::Op(Op::Lt, tested)));
            region.results = vec![holds.into()];
            region
        });
        let body = self.region(scope, &[elem], depth);
        Clause { domain: domain.into(), guard, body, loc: Loc::default() }
    }

    /// The domain with one more condition on a dimension.
    fn restrict(&mut self, domain: Domain, dim: Var) -> Domain {
        let bound = self.dice.below(4) as i64;
        let left = Quasi::from(dim);
        let condition = match self.dice.below(5) {
            0 => Condition::new(left, Relation::Eq, bound),
            1 => Condition::new(left, Relation::Ge, bound),
            2 => Condition::new(left, Relation::Lt, bound + 1),
            3 => Condition::new(left.floor_mod(2).expect("positive"), Relation::Eq, bound % 2),
            _ => return domain,
        };
        let part = condition.domain(domain.dims()).expect("small numbers");
        domain.intersect(&part).expect("small numbers")
    }

    fn index(&mut self, scope: &Scope) -> Quasi {
        let mut sum = Quasi::from(self.dice.below(7) as i64 - 3);
        for _ in 0..self.dice.below(3) {
            if scope.vars.is_empty() {
                break;
            }
            let term = Quasi::from(self.dice.pick(&scope.vars));
            let term = match self.dice.below(5) {
                0 => term.floor_div(2),
                1 => term.trunc_rem(3),
                2 => term.floor_mod(4),
                _ => Ok(term),
            };
            let factor = self.dice.below(5) as i64 - 2;
            sum = sum.combine(1, &term.expect("positive"), factor).expect("small numbers");
        }
        sum
    }

    /// A region that yields values of the types.
    fn region(&mut self, outer: &Scope, elems: &[Elem], depth: usize) -> Region {
        let mut scope = outer.clone();
        let mut region = Region::default();
        for _ in 0..self.dice.below(4) {
            let elem = self.dice.pick(&ELEMS);
            self.inst(&mut scope, elem, depth, &mut region.insts);
        }
        if depth > 0 && self.dice.one_in(6) {
            let binding = self.binding(&mut scope, depth - 1);
            let group = Group { bindings: vec![binding], until: None };
            region.insts.push(inst(Vec::new(), InstKind::Group(Box::new(group))));
        }
        for elem in elems {
            self.inst(&mut scope, *elem, depth, &mut region.insts);
            region.results.push(self.arg(&scope, *elem));
        }
        region
    }

    fn arg(&mut self, scope: &Scope, elem: Elem) -> Arg {
        let fitting: Vec<Value> = scope.values.iter().copied().filter(|v| v.elem == elem).collect();
        if fitting.is_empty() || self.dice.one_in(4) {
            let number = self.dice.below(9) as f64 - 4.0;
            return Const::float(elem, number * 0.75).into();
        }
        self.dice.pick(&fitting).into()
    }

    /// Adds an instruction that defines a value of the type.
    fn inst(&mut self, scope: &mut Scope, elem: Elem, depth: usize, insts: &mut Vec<Inst>) {
        let kind = match self.dice.below(7) {
            0 if elem.is_int() => InstKind::Index(self.index(scope)),
            1 if self.readable(scope, elem) => self.read(scope, elem, depth),
            2 if depth > 0 => {
                let condition = Const::bool(self.dice.one_in(2)).into();
                let then = self.region(scope, &[elem], depth - 1);
                InstKind::If { condition, then, otherwise: self.region(scope, &[elem], depth - 1) }
            }
            3 if depth > 0 => self.reduction(scope, elem, depth - 1),
            4 if depth > 0 => {
                let case = self.region(scope, &[elem], depth - 1);
                let on = self.arg(scope, Elem::I32);
                let otherwise = self.region(scope, &[elem], depth - 1);
                InstKind::Switch { on, cases: vec![(-2, case)], otherwise }
            }
            _ => {
                let op = self.dice.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Div]);
                InstKind::Op(op, vec![self.arg(scope, elem), self.arg(scope, elem)])
            }
        };
        let value = self.module.supply.value(elem);
        insts.push(inst(vec![Def::Scalar(value)], kind));
        scope.values.push(value);
    }

    fn readable(&self, scope: &Scope, elem: Elem) -> bool {
        scope.tensors.iter().any(|tensor| tensor.1 == elem)
    }

    fn read(&mut self, scope: &Scope, elem: Elem, depth: usize) -> InstKind {
        let fitting: Vec<_> = scope.tensors.iter().filter(|t| t.1 == elem).cloned().collect();
        let (tensor, _, rank) = self.dice.pick(&fitting);
        let at = (0..rank).map(|_| self.subscript(scope)).collect();
        let default =
            (depth > 0 && self.dice.one_in(3)).then(|| self.region(scope, &[elem], depth - 1));
        let proved = self.dice.one_in(2);
        InstKind::Read(Read { place: Place { tensor, at }, default, proved })
    }

    fn subscript(&mut self, scope: &Scope) -> Subscript {
        let ints: Vec<Value> = scope.values.iter().copied().filter(|v| v.elem.is_int()).collect();
        match ints.is_empty() || self.dice.one_in(2) {
            true => Subscript::Index(self.index(scope)),
            false => Subscript::Value(self.dice.pick(&ints).into()),
        }
    }

    fn reduction(&mut self, scope: &Scope, elem: Elem, depth: usize) -> InstKind {
        let var = self.module.vars.index("k");
        let extent = self.index(scope);
        let bounds = [var.into(), extent.sub(&var.into()).expect("small numbers")];
        let domain = Domain::where_nonnegative([var], &bounds).expect("small numbers").into();
        let mut inner = scope.clone();
        inner.vars.push(var);
        let combine = match self.dice.one_in(2) {
            true => Combiner::Op(Op::Add),
            false => {
                let values = [self.module.supply.value(elem), self.module.supply.value(elem)];
                let mut inside = scope.clone();
                inside.values.extend(values);
                let region = self.region(&inside, &[elem], 0);
                let params = values.iter().map(|value| Def::Scalar(*value)).collect();
                Combiner::Region(Region { params, ..region })
            }
        };
        let start = match self.dice.below(3) {
            0 => Start::First,
            1 => Start::Init(vec![self.arg(scope, elem)]),
            _ => Start::Identity(vec![Const::zero(elem).into()]),
        };
        let flags = ReduceFlags { reassociable: self.dice.one_in(2), ..ReduceFlags::default() };
        let body = self.region(&inner, &[elem], depth);
        InstKind::Reduce(Box::new(Reduction { domain, guard: None, body, combine, start, flags }))
    }
}

fn inst(results: Vec<Def>, kind: InstKind) -> Inst {
    Inst { results, kind, loc: Loc::default() }
}
