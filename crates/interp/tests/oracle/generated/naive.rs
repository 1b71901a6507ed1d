//! The naive evaluation: recursion over the IR, tables by name.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use einlang_index::Var;
use einlang_interp::tensor::TensorValue;
use einlang_tir::constant::Const;
use einlang_tir::module::{Binding, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, InstKind, Place, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::types::Elem;

/// How many instructions are executed before a module is given up.
const FUEL: u64 = 20_000;

/// The code that a stop would have, or `fuel`.
type Code = String;

/// An instance of a group (0 for those of the module), a binding of it, and a point.
type Key = (u64, String, Vec<i64>);

/// What is visible at a place.
#[derive(Clone, Default)]
struct Env<'m> {
    vars: HashMap<Var, i64>,
    values: HashMap<u32, Const>,
    /// Local bindings with what they see, which is everything up to them.
    locals: HashMap<&'m str, (&'m Binding, Box<Env<'m>>, u64)>,
    /// The bindings whose clauses surround the place.
    own: Vec<&'m str>,
}

pub(super) struct Naive<'m> {
    module: &'m Module,
    inputs: HashMap<&'m str, TensorValue>,
    symbols: HashMap<Var, i64>,
    known: RefCell<HashMap<Key, Option<u64>>>,
    busy: RefCell<HashSet<Key>>,
    n_locals: Cell<u64>,
    fuel: Cell<u64>,
}

impl<'m> Naive<'m> {
    pub(super) fn new(module: &'m Module, inputs: &[TensorValue], arguments: &[i64]) -> Naive<'m> {
        let names = module.inputs.iter().map(|input| input.name.as_str());
        Naive {
            module,
            inputs: names.zip(inputs.iter().cloned()).collect(),
            symbols: module.symbols.iter().map(|s| s.var).zip(arguments.iter().copied()).collect(),
            known: RefCell::default(),
            busy: RefCell::default(),
            n_locals: Cell::new(0),
            fuel: Cell::new(FUEL),
        }
    }

    fn extents(&self, binding: &Binding, env: &Env<'m>) -> Vec<i64> {
        let extent = |axis: &einlang_tir::module::Axis| {
            axis.dim.extent.eval(&|var| self.var(var, env)).expect("small") as i64
        };
        binding.axes.iter().map(|axis| extent(axis).max(0)).collect()
    }

    /// All points of a binding of the module.
    pub(super) fn points(&self, binding: &Binding) -> Vec<Vec<i64>> {
        let mut points = vec![Vec::new()];
        for extent in self.extents(binding, &Env::default()) {
            let longer = |point: &Vec<i64>| {
                let point = point.clone();
                (0..extent).map(move |x| [&point[..], &[x]].concat())
            };
            points = points.iter().flat_map(longer).collect();
        }
        points
    }

    pub(super) fn point(&self, name: &str, at: &[i64]) -> Result<Option<u64>, Code> {
        let binding = self.module.bindings().find(|b| b.name.as_str() == name).expect("it exists");
        self.busy.borrow_mut().clear();
        self.compute(binding, &Env::default(), 0, at)
    }

    fn var(&self, var: Var, env: &Env<'m>) -> i64 {
        env.vars.get(&var).or(self.symbols.get(&var)).copied().expect("a variable in scope")
    }

    /// The value of a point in the box; `None` where no clause covers it.
    fn compute(
        &self,
        binding: &'m Binding,
        outer: &Env<'m>,
        instance: u64,
        at: &[i64],
    ) -> Result<Option<u64>, Code> {
        let key = (instance, binding.name.as_str().to_owned(), at.to_vec());
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(*known);
        }
        if !self.busy.borrow_mut().insert(key.clone()) {
            return Err("E0204".to_owned());
        }
        let result = self.by_clauses(binding, outer, at);
        self.busy.borrow_mut().remove(&key);
        if let Ok(bits) = &result {
            self.known.borrow_mut().insert(key, *bits);
        }
        result
    }

    fn by_clauses(
        &self,
        binding: &'m Binding,
        outer: &Env<'m>,
        at: &[i64],
    ) -> Result<Option<u64>, Code> {
        let mut env = outer.clone();
        env.vars.extend(binding.dims().into_iter().zip(at.iter().copied()));
        env.own.push(binding.name.as_str());
        for clause in binding.clauses.iter().rev() {
            if !clause.domain.contains(at, &|var| self.var(var, &env)).expect("small") {
                continue;
            }
            let mut env = env.clone();
            if let Some(guard) = &clause.guard
                && !self.passes(guard, &clause.body, &mut env)?
            {
                continue;
            }
            let results = self.region(&clause.body, &mut env)?;
            return Ok(Some(results[0].bits()));
        }
        Ok(None)
    }

    fn passes(&self, guard: &'m Region, body: &'m Region, env: &mut Env<'m>) -> Result<bool, Code> {
        let results = self.region(guard, env)?;
        for (def, value) in body.params.iter().zip(&results[1..]) {
            define(env, def, *value);
        }
        Ok(results[0].as_bool() == Some(true))
    }

    fn region(&self, region: &'m Region, env: &mut Env<'m>) -> Result<Vec<Const>, Code> {
        for inst in &region.insts {
            match self.fuel.get().checked_sub(1) {
                Some(left) => self.fuel.set(left),
                None => return Err("fuel".to_owned()),
            }
            let results = self.inst(&inst.kind, &inst.results, env)?;
            for (def, value) in inst.results.iter().zip(results) {
                define(env, def, value);
            }
        }
        Ok(region.results.iter().map(|arg| scalar(arg, env)).collect())
    }

    fn inst(
        &self,
        kind: &'m InstKind,
        defs: &[Def],
        env: &mut Env<'m>,
    ) -> Result<Vec<Const>, Code> {
        let elem = defs.first().and_then(Def::as_scalar).map_or(Elem::Bool, |value| value.elem);
        match kind {
            InstKind::Op(op, args) => {
                let args: Vec<Const> = args.iter().map(|arg| scalar(arg, env)).collect();
                Ok(vec![binary(*op, args[0], args[1])?])
            }
            InstKind::Index(expr) => {
                let value = expr.eval(&|var| self.var(var, env)).expect("small");
                Ok(vec![Const::int(elem, value)])
            }
            InstKind::Read(read) => Ok(vec![self.read(read, elem, env)?]),
            InstKind::If { condition, then, otherwise } => {
                let holds = scalar(condition, env).as_bool() == Some(true);
                self.region(if holds { then } else { otherwise }, &mut env.clone())
            }
            InstKind::Switch { on, cases, otherwise } => {
                let on = scalar(on, env).as_int();
                let case = cases.iter().find(|case| Some(i128::from(case.0)) == on);
                self.region(case.map_or(otherwise, |case| &case.1), &mut env.clone())
            }
            InstKind::Reduce(reduction) => Ok(vec![self.reduce(reduction, elem, env)?]),
            InstKind::Group(group) => {
                self.n_locals.set(self.n_locals.get() + 1);
                for binding in &group.bindings {
                    let seen = (binding, Box::new(env.clone()), self.n_locals.get());
                    env.locals.insert(binding.name.as_str(), seen);
                }
                Ok(Vec::new())
            }
            _ => panic!("not generated: {kind:?}"),
        }
    }

    fn read(&self, read: &'m Read, elem: Elem, env: &Env<'m>) -> Result<Const, Code> {
        let Place { tensor, at } = &read.place;
        let index = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => expr.eval(&|var| self.var(var, env)).expect("small"),
            Subscript::Value(arg) => scalar(arg, env).as_int().expect("an integer"),
        };
        let point: Vec<i64> = at.iter().map(|subscript| index(subscript) as i64).collect();
        let own = env.own.contains(&tensor.as_str());
        let by_data = at.iter().any(|s| matches!(s, Subscript::Value(Arg::Value(_))));
        let inside = |extents: &[i64]| point.iter().zip(extents).all(|(x, n)| 0 <= *x && x < n);
        let outside = match (read.proved, own && !by_data) {
            (true, _) => "internal",
            (_, true) => "E0501",
            _ => "E0702",
        };
        let missing = |code: &str| match &read.default {
            Some(default) => Ok(self.region(default, &mut env.clone())?[0]),
            None if code.is_empty() => Ok(Const::zero(elem)),
            None => Err(code.to_owned()),
        };
        if let Some(input) = self.inputs.get(tensor.as_str()) {
            let extents: Vec<i64> = input.shape().iter().map(|n| *n as i64).collect();
            if !inside(&extents) {
                return missing(outside);
            }
            let position = extents.iter().zip(&point).fold(0, |at, (n, x)| at * n + x);
            return Ok(input.get(position as usize).expect("inside"));
        }
        let nothing = Env::default();
        let found = self.module.bindings().find(|binding| binding.name == *tensor);
        let (binding, outer, instance) = match (env.locals.get(tensor.as_str()), found) {
            (Some((binding, outer, instance)), _) => (*binding, &**outer, *instance),
            (None, Some(binding)) => (binding, &nothing, 0),
            (None, None) => panic!("{tensor} is not visible"),
        };
        if !inside(&self.extents(binding, outer)) {
            return missing(outside);
        }
        // A local binding sees itself.
        let mut outer = outer.clone();
        if let Some(local) = env.locals.get(tensor.as_str()) {
            outer.locals.insert(binding.name.as_str(), local.clone());
        }
        match self.compute(binding, &outer, instance, &point)? {
            Some(bits) => Ok(Const::from_bits(elem, bits)),
            None if own && !binding.zero_fill => missing(if by_data { "E0504" } else { "E0502" }),
            None => missing(""),
        }
    }

    fn reduce(&self, reduction: &'m Reduction, elem: Elem, env: &Env<'m>) -> Result<Const, Code> {
        let dim = reduction.domain.dims()[0];
        let mut terms = Vec::new();
        for x in -100..300 {
            if reduction.domain.contains(&[x], &|var| self.var(var, env)).expect("small") {
                let mut env = env.clone();
                env.vars.insert(dim, x);
                // Terms before one that stops have been combined already, and may stop first.
                terms.push(self.region(&reduction.body, &mut env).map(|results| results[0]));
            }
        }
        let start = match &reduction.start {
            Start::Identity(args) | Start::Init(args) => Some(scalar(&args[0], env)),
            Start::First => None,
        };
        let combine = |a: Const, b: Const| match &reduction.combine {
            Combiner::Op(op) => binary(*op, a, b),
            Combiner::Region(region) => {
                let mut env = env.clone();
                define(&mut env, &region.params[0], a);
                define(&mut env, &region.params[1], b);
                Ok(self.region(region, &mut env)?[0])
            }
        };
        let in_pairs = matches!(reduction.combine, Combiner::Op(Op::Add))
            && reduction.flags.reassociable
            && elem.is_float();
        if in_pairs {
            let terms = terms.into_iter().collect::<Result<Vec<Const>, Code>>()?;
            let sum = if terms.is_empty() { None } else { Some(halves(&terms, &combine)?) };
            return match (start, sum) {
                (Some(start), Some(sum)) => combine(start, sum),
                (one, None) | (None, one) => one.ok_or_else(|| "E0706".to_owned()),
            };
        }
        let mut state = start;
        for term in terms {
            let term = term?;
            state = Some(match state {
                Some(state) => combine(state, term)?,
                None => term,
            });
        }
        state.ok_or_else(|| "E0706".to_owned())
    }
}

/// Splits after the largest power of two that leaves something.
fn halves(
    terms: &[Const],
    combine: &dyn Fn(Const, Const) -> Result<Const, Code>,
) -> Result<Const, Code> {
    if let [term] = terms {
        return Ok(*term);
    }
    let half = (terms.len()).next_power_of_two() / 2;
    combine(halves(&terms[..half], combine)?, halves(&terms[half..], combine)?)
}

fn define(env: &mut Env<'_>, def: &Def, value: Const) {
    if let Def::Scalar(scalar) = def {
        env.values.insert(scalar.number, value);
    }
}

fn scalar(arg: &Arg, env: &Env<'_>) -> Const {
    match arg {
        Arg::Const(constant) => *constant,
        Arg::Value(value) => env.values[&value.number],
        Arg::Tensor(name) => panic!("{name} is no scalar"),
    }
}

fn binary(op: Op, a: Const, b: Const) -> Result<Const, Code> {
    if op == Op::Lt {
        return Ok(Const::bool(a.as_int() < b.as_int()));
    }
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        return Ok(Const::int(
            a.elem(),
            match op {
                Op::Add => x + y,
                Op::Sub => x - y,
                Op::Mul => x * y,
                Op::Min => x.min(y),
                Op::Max => x.max(y),
                _ if y == 0 => return Err("E0701".to_owned()),
                _ => x / y,
            },
        ));
    }
    let (x, y) = (a.as_float().expect("a float"), b.as_float().expect("a float"));
    let (p, q) = (x as f32, y as f32);
    // A double holds sums, products and quotients of floats precisely enough to round once more.
    let double = |op: Op, x: f64, y: f64| match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Min => {
            if y < x {
                y
            } else {
                x
            }
        }
        Op::Max => {
            if y > x {
                y
            } else {
                x
            }
        }
        _ => x / y,
    };
    Ok(match a.elem() {
        Elem::F64 => Const::float(Elem::F64, double(op, x, y)),
        elem => Const::float(elem, f64::from(double(op, f64::from(p), f64::from(q)) as f32)),
    })
}
