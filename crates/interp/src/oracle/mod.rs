//! The oracle: pointwise, memoised, demand-driven evaluation of tensor modules.
//!
//! This is what a module *means*; every other way of running one is compared with it. A point is
//! computed when it is asked for, by the textually last clause that covers it, and remembered.
//! There is no order to get wrong. The one thing that an order decides, whether a data-dependent
//! self-read is too early, is asked of `einlang_tir::order`, as every backend does.
//!
//! | file | owns |
//! |---|---|
//! | `code`, `prepare`, `prepare_inst` | modules with names resolved to slots |
//! | `index` | index expressions and domains over slots |
//! | `table` | points that are known |
//! | `machine`, `step` | activations on stacks of their own, instructions |
//! | `read`, `reduce`, `until` | reads and extents, reductions, open axes |
//! | `grouped` | reductions over equal keys in one pass |
//! | `order` | whether a data-dependent self-read is too early |
//! | `blame` | the sentences of errors |

mod blame;
mod code;
mod grouped;
mod index;
mod machine;
mod order;
mod prepare;
mod prepare_inst;
mod read;
mod reduce;
mod step;
mod table;
mod until;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use einlang_tir::module::{Module, Relation};
use einlang_tir::types::Ident;

use self::code::{CheckCode, Code, GlobalCode};
use self::machine::{Halt, Machine};
use self::table::{Handle, Instance, Open, Table};
use crate::host::HostFunctions;
use crate::options::{Meter, Options};
use crate::stop::{Stop, StopCode};
use crate::tensor::{Storage, TensorValue};

/// A module with its names resolved, to be evaluated any number of times.
#[derive(Clone, Debug)]
pub struct Prepared(Rc<Code>);

impl Prepared {
    /// Resolves a module, which the verifier must accept.
    pub fn new(module: &Module) -> Result<Prepared, Stop> {
        prepare::prepare(module).map(|code| Prepared(Rc::new(code)))
    }
}

/// The evaluation of one module with its inputs.
pub struct Oracle<'h> {
    machine: Machine<'h>,
}

impl Oracle<'static> {
    /// Prepares an evaluation: `inputs` in the order of the module, then one number per symbol
    /// that the caller passes. Shapes and entry checks are tested here.
    pub fn new(
        module: &Module,
        inputs: Vec<TensorValue>,
        arguments: Vec<i64>,
        options: &Options,
    ) -> Result<Oracle<'static>, Stop> {
        let inputs = inputs.into_iter().map(Arc::new).collect();
        Oracle::start(&Prepared::new(module)?, inputs, arguments, Meter::new(options), None)
    }
}

impl<'h> Oracle<'h> {
    pub(crate) fn start(
        prepared: &Prepared,
        inputs: Vec<Arc<TensorValue>>,
        arguments: Vec<i64>,
        meter: Meter,
        host: Option<&'h dyn HostFunctions>,
    ) -> Result<Oracle<'h>, Stop> {
        let code = Rc::clone(&prepared.0);
        check_inputs(&code, &inputs, &arguments)?;
        let groups: Vec<Rc<Instance>> = code
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.is_global)
            .map(|(at, group)| {
                Rc::new(Instance {
                    group: at,
                    captured: None,
                    tables: group.bindings.iter().map(|_| RefCell::new(Table::default())).collect(),
                    open: Cell::new(Open::NotAsked),
                    meter: meter.clone(),
                })
            })
            .collect();
        let globals = code.globals.iter().map(|global| match global {
            GlobalCode::Input(at) => Handle::Value(Arc::clone(&inputs[*at])),
            GlobalCode::Binding(group, member) => {
                Handle::Bound(Rc::clone(&groups[*group]), *member)
            }
        });
        let machine = Machine {
            globals: globals.collect(),
            groups,
            symbols: vec![None; code.symbols.len()],
            arguments,
            meter,
            host,
            frames: Vec::new(),
            cursors: Vec::new(),
            loops: Vec::new(),
            keys: (0..code.n_grouped).map(|_| grouped::Keys::default()).collect(),
            vals: Vec::new(),
            vars: Vec::new(),
            tensors: Vec::new(),
            n_calls: 0,
            point: Vec::new(),
            xs: Vec::new(),
            code,
        };
        let mut oracle = Oracle { machine };
        oracle.check_entry()?;
        Ok(oracle)
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> Vec<Ident> {
        self.machine.code.outputs.clone()
    }

    /// A whole tensor: an output, or any other input or binding of the module.
    pub fn output(&mut self, name: &str) -> Result<TensorValue, Stop> {
        let code = Rc::clone(&self.machine.code);
        let number = code.names.get(name).copied();
        let missing = || Stop::internal(format!("there is no tensor `{name}`"));
        let handle = self.machine.globals[number.ok_or_else(missing)? as usize].clone();
        if let Handle::Value(tensor) = &handle {
            return Ok(TensorValue::clone(tensor));
        }
        let shape = self.shape_of(&handle, &code)?;
        let n = shape.iter().try_fold(1_usize, |n, extent| n.checked_mul(*extent));
        let elem = self.machine.elem(&handle, &code);
        let bytes = n.and_then(|n| n.checked_mul(elem.bits() as usize / 8)).unwrap_or(usize::MAX);
        let place = self.machine.place(&handle, &code);
        let taken = self.machine.meter.take(bytes as u64, &|| format!("`{name}`"));
        taken.map_err(|stop| stop.at(place))?;
        let mut data = Storage::with_capacity(elem, n.unwrap_or(0));
        let filled = self.fill(&handle, &shape, n.unwrap_or(0), &mut data);
        self.machine.meter.give(bytes as u64);
        filled?;
        TensorValue::new(shape, data).ok_or_else(|| Stop::internal("an output lost a point"))
    }

    /// Asks for all points, in index order.
    fn fill(
        &mut self,
        handle: &Handle,
        shape: &[usize],
        n: usize,
        data: &mut Storage,
    ) -> Result<(), Stop> {
        let mut point = vec![0_i64; shape.len()];
        for _ in 0..n {
            let bits = self.drive(|machine, code| machine.ask(handle, &point, code))?;
            data.push_bits(bits.unwrap_or(0));
            next_point(&mut point, shape);
        }
        Ok(())
    }

    /// The value of one point, `None` where no clause covers it or outside the box.
    pub fn point(&mut self, name: &str, at: &[i64]) -> Result<Option<u64>, Stop> {
        let number = self.machine.code.names.get(name).copied();
        let missing = || Stop::internal(format!("there is no tensor `{name}`"));
        let handle = self.machine.globals[number.ok_or_else(missing)? as usize].clone();
        self.drive(|machine, code| machine.ask(&handle, at, code))
    }

    fn shape_of(&mut self, handle: &Handle, code: &Code) -> Result<Vec<usize>, Stop> {
        let rank = match handle {
            Handle::Value(tensor) => tensor.shape().len(),
            Handle::Bound(instance, member) => {
                code.groups[instance.group].bindings[*member as usize].axes.len()
            }
        };
        let mut shape = Vec::with_capacity(rank);
        for axis in 0..rank {
            let extent = self.drive(|machine, code| machine.extent(handle, axis, code))?;
            shape.push(usize::try_from(extent).unwrap_or(0));
        }
        Ok(shape)
    }

    /// Repeats a question until everything it needs has been computed.
    fn drive<T>(
        &mut self,
        mut question: impl FnMut(&mut Machine<'h>, &Code) -> Result<T, Halt>,
    ) -> Result<T, Stop> {
        let code = Rc::clone(&self.machine.code);
        loop {
            match question(&mut self.machine, &code) {
                Ok(answer) => return Ok(answer),
                Err(halt) => {
                    let entered = self.machine.enter(halt, &code);
                    entered.inspect_err(|_| self.machine.clear())?;
                    self.machine.run()?;
                }
            }
        }
    }

    /// Tests what must hold before anything is computed.
    fn check_entry(&mut self) -> Result<(), Stop> {
        let code = Rc::clone(&self.machine.code);
        for (at, input) in code.inputs.iter().enumerate() {
            for (axis, (extent, text)) in input.dims.iter().enumerate() {
                let wanted = self.drive(|machine, code| machine.index(extent, code))?;
                let handle = Handle::clone(&self.machine.globals[at]);
                let given = self.drive(|machine, code| machine.extent(&handle, axis, code))?;
                if wanted != i128::from(given) {
                    let name = input.name.as_str();
                    let message = format!(
                        "axis {axis} of `{name}` has extent {given}, but `{text}` is {wanted}"
                    );
                    return Err(Stop::new(StopCode::Extents, message));
                }
            }
        }
        for check in &code.checks {
            let left = self.drive(|machine, code| machine.index(&check.left, code))?;
            let right = self.drive(|machine, code| machine.index(&check.right, code))?;
            if !holds(check.relation, left, right) {
                return Err(failed_check(check, left, right));
            }
        }
        Ok(())
    }
}

fn failed_check(check: &CheckCode, left: i128, right: i128) -> Stop {
    let message = format!("{} ({left} and {right})", check.message);
    Stop::of_trap(check.trap, message).at(check.loc)
}

fn holds(relation: Relation, left: i128, right: i128) -> bool {
    match relation {
        Relation::Eq => left == right,
        Relation::Le => left <= right,
        Relation::Lt => left < right,
        Relation::Ge => left >= right,
        Relation::Gt => left > right,
    }
}

fn next_point(point: &mut [i64], shape: &[usize]) {
    for (x, extent) in point.iter_mut().zip(shape).rev() {
        *x += 1;
        if (*x as usize) < *extent {
            return;
        }
        *x = 0;
    }
}

/// Inputs and arguments are there, with the declared types and ranks.
fn check_inputs(code: &Code, inputs: &[Arc<TensorValue>], arguments: &[i64]) -> Result<(), Stop> {
    if arguments.len() != code.n_arguments {
        let message = format!(
            "the module takes {} numbers besides its inputs, not {}",
            code.n_arguments,
            arguments.len()
        );
        return Err(Stop::internal(message));
    }
    for (at, input) in code.inputs.iter().enumerate() {
        let name = input.name.as_str();
        let Some(given) = inputs.get(at) else {
            return Err(Stop::new(
                StopCode::MissingInput,
                format!("the input `{name}` is missing"),
            ));
        };
        if given.elem() != input.elem || given.shape().len() != input.dims.len() {
            let message = format!(
                "the input `{name}` wants {} of rank {}, not {} of rank {}",
                input.elem,
                input.dims.len(),
                given.elem(),
                given.shape().len()
            );
            return Err(Stop::new(StopCode::IllTypedInput, message));
        }
    }
    match inputs.len() > code.inputs.len() {
        true => Err(Stop::internal("there are more inputs than the module takes")),
        false => Ok(()),
    }
}
