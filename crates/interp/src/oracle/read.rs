//! Variables, domains, extents and reads.

use std::cmp::Ordering;
use std::rc::Rc;

use einlang_tir::types::Loc;

use super::code::{BindingCode, Code, InstCode, OpenRef, ReadCode, SubscriptCode, SymbolCode};
use super::index::{DomainCode, IndexCode, VarRef, too_large};
use super::machine::{End, Halt, Machine};
use super::step::Flow;
use super::table::{Handle, Instance, Open, State, Table};
use crate::scalar::int_of;
use crate::stop::{Stop, StopCode};

pub(super) fn narrow(x: i128) -> Result<i64, Stop> {
    i64::try_from(x).map_err(|_| too_large())
}

/// What a read found.
enum Found {
    Bits(u64),
    /// No clause covers the point.
    Uncovered,
    /// The point lies outside: axis and extent.
    Outside(usize, i64),
}

impl Machine<'_> {
    /// The value of an index expression.
    #[inline]
    pub(super) fn index(&mut self, expr: &IndexCode, code: &Code) -> Result<i128, Halt> {
        expr.eval(&mut |var| self.var(var, code))
    }

    /// The value of a variable.
    #[inline]
    pub(super) fn var(&mut self, var: &VarRef, code: &Code) -> Result<i64, Halt> {
        match var {
            VarRef::Slot(slot) => {
                let base = self.frames.last().map_or(0, |frame| frame.vars);
                Ok(self.vars[base + *slot as usize])
            }
            VarRef::Symbol(number) => match self.symbols.get(*number as usize) {
                Some(Some(value)) => Ok(*value),
                _ => self.symbol(*number, code),
            },
            VarRef::Extent(tensor, axis) => {
                let handle = self.handle(*tensor)?;
                self.extent(&handle, *axis, code)
            }
            VarRef::Open(open) => Ok(self.ended(*open)?.0),
            VarRef::Max(of) => self.extreme(of, Ordering::Greater, code),
            VarRef::Min(of) => self.extreme(of, Ordering::Less, code),
        }
    }

    /// The largest or the smallest of some expressions.
    fn extreme(&mut self, of: &[IndexCode], keep: Ordering, code: &Code) -> Result<i64, Halt> {
        let mut best: Option<i128> = None;
        for expr in of {
            let value = self.index(expr, code)?;
            if best.is_none_or(|best| value.cmp(&best) == keep) {
                best = Some(value);
            }
        }
        Ok(narrow(best.unwrap_or(0))?)
    }

    /// Computes a symbol of the module and remembers it.
    fn symbol(&mut self, number: u32, code: &Code) -> Result<i64, Halt> {
        let value = match code.symbols.get(number as usize) {
            Some(SymbolCode::Argument(at)) => self.arguments.get(*at).copied().unwrap_or(0),
            Some(SymbolCode::Extent(tensor, axis)) => {
                let handle = self.globals[*tensor as usize].clone();
                self.extent(&handle, *axis, code)?
            }
            Some(SymbolCode::Value(tensor)) => self.scalar_value(*tensor, code)?,
            Some(SymbolCode::Max(of)) => self.extreme(of, Ordering::Greater, code)?,
            Some(SymbolCode::Min(of)) => self.extreme(of, Ordering::Less, code)?,
            Some(SymbolCode::Until(group)) => self.ended(OpenRef::Global(*group))?.0,
            Some(SymbolCode::Local) | None => {
                return Err(Stop::internal("a local symbol is used outside its place").into());
            }
        };
        self.symbols[number as usize] = Some(value);
        Ok(value)
    }

    /// The value of an integer of rank 0.
    fn scalar_value(&mut self, tensor: u32, code: &Code) -> Result<i64, Halt> {
        let handle = self.globals[tensor as usize].clone();
        let elem = self.elem(&handle, code);
        // A read may be under way, whose point must not be lost.
        let point = std::mem::take(&mut self.point);
        let found = self.find(&handle, false, code);
        self.point = point;
        match found? {
            Found::Bits(bits) => Ok(narrow(int_of(elem, bits))?),
            _ => Ok(0),
        }
    }

    /// Where a tensor was defined.
    pub(super) fn place(&self, handle: &Handle, code: &Code) -> Loc {
        match handle {
            Handle::Value(_) => Loc::default(),
            Handle::Bound(instance, member) => {
                code.groups[instance.group].bindings[*member as usize].loc
            }
        }
    }

    pub(super) fn elem(&self, handle: &Handle, code: &Code) -> einlang_tir::types::Elem {
        match handle {
            Handle::Value(tensor) => tensor.elem(),
            Handle::Bound(instance, member) => {
                code.groups[instance.group].bindings[*member as usize].elem
            }
        }
    }

    /// The extent of an axis.
    pub(super) fn extent(
        &mut self,
        handle: &Handle,
        axis: usize,
        code: &Code,
    ) -> Result<i64, Halt> {
        match handle {
            Handle::Value(tensor) => {
                Ok(tensor.shape().get(axis).and_then(|n| i64::try_from(*n).ok()).unwrap_or(0))
            }
            Handle::Bound(instance, member) => {
                self.shape_global(instance, *member, code)?;
                let binding = &code.groups[instance.group].bindings[*member as usize];
                if binding.axes.get(axis).is_some_and(|axis| axis.is_open) {
                    return self.open_extent(instance, false);
                }
                let table = instance.tables[*member as usize].borrow();
                let extents = table.extents.as_ref();
                Ok(extents.and_then(|extents| extents.get(axis)).copied().unwrap_or(0))
            }
        }
    }

    /// The extent of an open axis; inside its group, while it is stepping, as far as it has come.
    fn open_extent(&self, instance: &Rc<Instance>, own: bool) -> Result<i64, Halt> {
        match instance.open.get() {
            Open::Done(extent, _) => Ok(extent),
            Open::Running(step) if own => Ok(step.saturating_add(1)),
            Open::NotAsked => Err(Halt::Extent(Rc::clone(instance))),
            Open::Running(_) => {
                let group = &self.code.groups[instance.group];
                let name = group.bindings.first().map_or("?", |b| b.name.as_str());
                let message =
                    format!("the length of `{name}` is needed while it is being computed");
                Err(Stop::new(StopCode::Cycle, message).into())
            }
        }
    }

    /// Fixes the extents of a binding of the module, if that has not been done.
    fn shape_global(
        &mut self,
        instance: &Rc<Instance>,
        member: u32,
        code: &Code,
    ) -> Result<(), Halt> {
        if instance.tables[member as usize].borrow().extents.is_some() {
            return Ok(());
        }
        let binding = &code.groups[instance.group].bindings[member as usize];
        let mut table = Table::default();
        self.shape(&mut table, binding, code)?;
        *instance.tables[member as usize].borrow_mut() = table;
        Ok(())
    }

    /// Evaluates the extents of a binding in the current activation.
    pub(super) fn shape(
        &mut self,
        table: &mut Table,
        binding: &BindingCode,
        code: &Code,
    ) -> Result<(), Halt> {
        let mut extents = Vec::with_capacity(binding.axes.len());
        for axis in &binding.axes {
            extents.push(match axis.is_open {
                true => 0,
                false => narrow(self.index(&axis.extent, code)?)?.max(0),
            });
        }
        let open = binding.axes.iter().position(|axis| axis.is_open);
        table.shape(extents, open).map_err(|()| {
            let message = format!("`{}` has more points than any memory", binding.name.as_str());
            Stop::new(StopCode::Memory, message).at(binding.loc).into()
        })
    }

    /// Whether the point of the activation on top lies in a domain over its axes.
    pub(super) fn covers(&mut self, domain: &DomainCode, code: &Code) -> Result<bool, Halt> {
        let mut xs = std::mem::take(&mut self.xs);
        xs.clear();
        let base = self.frames.last().map_or(0, |frame| frame.vars);
        xs.extend(domain.dims.iter().map(|slot| self.vars[base + *slot as usize]));
        let answer = self.contains(domain, &mut xs, code);
        self.xs = xs;
        answer
    }

    pub(super) fn contains(
        &mut self,
        domain: &DomainCode,
        xs: &mut Vec<i64>,
        code: &Code,
    ) -> Result<bool, Halt> {
        for param in &domain.params {
            let value = match self.open_of(param, code) {
                Some(Open::Running(step)) => step.saturating_add(1),
                _ => self.var(param, code)?,
            };
            xs.push(value);
        }
        Ok(domain.contains(xs))
    }

    /// How far the group has come whose length a variable is.
    fn open_of(&self, var: &VarRef, code: &Code) -> Option<Open> {
        match var {
            VarRef::Symbol(number) => match code.symbols.get(*number as usize) {
                Some(SymbolCode::Until(group)) => self.groups.get(*group).map(|g| g.open.get()),
                _ => None,
            },
            VarRef::Open(OpenRef::Slot(slot)) => {
                match self.handle(super::code::TensorRef::Slot(*slot)) {
                    Ok(Handle::Bound(instance, _)) => Some(instance.open.get()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn read(
        &mut self,
        read: &ReadCode,
        inst: &InstCode,
        code: &Code,
    ) -> Result<Flow, Halt> {
        let mut point = std::mem::take(&mut self.point);
        point.clear();
        let evaluated = read.at.iter().try_for_each(|subscript| {
            point.push(match subscript {
                SubscriptCode::Index(expr) => self.index(expr, code)?,
                SubscriptCode::Value(operand, elem) => int_of(*elem, self.val(*operand)),
            });
            Ok::<(), Halt>(())
        });
        self.point = point;
        evaluated?;
        let handle = self.handle(read.tensor)?;
        let found = match &handle {
            Handle::Bound(instance, member) if read.own && read.by_data => {
                self.check_order(instance, *member, code)?;
                self.find(&handle, true, code)
            }
            _ => self.find(&handle, read.own, code),
        };
        let found = match found {
            Err(Halt::Stop(stop)) if stop.code == StopCode::NeedsFuture => {
                return Err(self.in_the_way(&handle, read.by_data, *stop, code).into());
            }
            found => found?,
        };
        match (found, read.default) {
            (Found::Bits(bits), _) => {
                self.set_result(inst, bits);
                Ok(Flow::Next)
            }
            (_, Some(default)) => {
                self.push_cursor(default, End::Arm);
                Ok(Flow::Inside)
            }
            (Found::Outside(axis, extent), None) => {
                Err(self.outside(&handle, read, axis, extent, code).into())
            }
            (Found::Uncovered, None) => {
                if read.own && !self.fills(&handle, code) {
                    return Err(self.uncovered(&handle, read.by_data, code).into());
                }
                self.set_result(inst, 0);
                Ok(Flow::Next)
            }
        }
    }

    fn fills(&self, handle: &Handle, code: &Code) -> bool {
        let marked = match handle {
            Handle::Value(_) => true,
            Handle::Bound(instance, member) => {
                code.groups[instance.group].bindings[*member as usize].zero_fill
            }
        };
        marked || self.meter.options().zero_fill
    }

    /// Looks at `self.point` of a tensor.
    fn find(&mut self, handle: &Handle, own: bool, code: &Code) -> Result<Found, Halt> {
        let (instance, member) = match handle {
            Handle::Bound(instance, member) => (instance, *member),
            Handle::Value(tensor) => {
                return Ok(match tensor.position(&self.point) {
                    Ok(at) => tensor.data().bits(at).map_or(Found::Uncovered, Found::Bits),
                    Err(axis) => {
                        Found::Outside(axis, tensor.shape().get(axis).map_or(0, |n| *n as i64))
                    }
                });
            }
        };
        self.shape_global(instance, member, code)?;
        let binding = &code.groups[instance.group].bindings[member as usize];
        let table = instance.tables[member as usize].borrow();
        let extents = table.extents.as_deref().unwrap_or_default();
        for (axis, (x, extent)) in self.point.iter().zip(extents).enumerate() {
            let extent = match binding.axes[axis].is_open {
                true => self.open_extent(instance, own)?,
                false => *extent,
            };
            if *x < 0 || *x >= i128::from(extent) {
                return Ok(Found::Outside(axis, extent));
            }
        }
        let offset = table.offset(&self.point);
        match table.state(offset) {
            State::Computed(bits) => Ok(Found::Bits(bits)),
            State::Uncovered => Ok(Found::Uncovered),
            State::Unknown => Err(Halt::Point(Rc::clone(instance), member, offset)),
            State::Busy => Err(Stop::new(StopCode::NeedsFuture, String::new()).into()),
        }
    }

    /// Asks for a point from outside: its bits, `None` where no clause covers it.
    pub(super) fn ask(
        &mut self,
        handle: &Handle,
        point: &[i64],
        code: &Code,
    ) -> Result<Option<u64>, Halt> {
        self.point.clear();
        self.point.extend(point.iter().map(|x| i128::from(*x)));
        match self.find(handle, false, code)? {
            Found::Bits(bits) => Ok(Some(bits)),
            Found::Uncovered | Found::Outside(..) => Ok(None),
        }
    }
}
