//! Named tensors: where each one lives, and how it gets from one module to the host or another.

use einlang_index::Quasi;
use einlang_source::Span;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::message::Message;
use einlang_tir::module::{Axis, Binding, Clause, Group, SymbolSource, box_of};
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{InstKind, Over, Place, Read, Region, Subscript, Tensor as TirTensor};
use einlang_tir::types::{Elem, Ident, Loc, TensorType};

use super::access::Spec;
use super::value::{Form, R, Scalar, Src, Tensor, TensorId, Val};
use super::{Lower, unsupported};

/// A named tensor.
#[derive(Clone, Debug)]
pub(super) struct TensorInfo {
    pub(super) elem: Elem,
    pub(super) rank: usize,
    pub(super) name: Ident,
    pub(super) home: Home,
    /// The extents in the variables of its home; none for a host value.
    pub(super) extents: Vec<Quasi>,
    /// The integer of rank 0 as an index expression of its home.
    pub(super) index: Option<Quasi>,
    /// The host value, once there is one.
    pub(super) host: Option<HostArg>,
    /// A binding of the source means it: another one that is perturbed by itself needs a copy.
    pub(super) bound: bool,
    /// No binding of the source has given it a name.
    pub(super) nameless: bool,
    /// Its clauses may leave out points.
    pub(super) gaps: bool,
    /// Where its clauses define a point, once somebody asked.
    pub(super) covered: Option<TensorId>,
}

/// Where a tensor is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// By host code.
    Host,
    /// By a module, or by a region in it.
    Module(usize),
}

impl<'p> Lower<'p> {
    pub(super) fn info(&self, id: TensorId) -> &TensorInfo {
        &self.tensors[id.0]
    }

    pub(super) fn add_tensor(&mut self, info: TensorInfo) -> TensorId {
        self.tensors.push(info);
        TensorId(self.tensors.len() - 1)
    }

    /// A tensor of the module under construction.
    pub(super) fn home_tensor(
        &mut self,
        name: &str,
        elem: Elem,
        extents: Vec<Quasi>,
    ) -> (TensorId, Ident) {
        let home = Home::Module(self.module());
        let name = self.tensor_name(name);
        let (rank, index, host) = (extents.len(), None, None);
        let name_of = name.clone();
        let (bound, nameless, gaps, covered) = (false, false, false, None);
        let info = TensorInfo {
            elem,
            rank,
            name: name_of,
            home,
            extents,
            index,
            host,
            bound,
            nameless,
            gaps,
            covered,
        };
        (self.add_tensor(info), name)
    }

    /// A tensor that is a host value.
    pub(super) fn host_tensor(
        &mut self,
        name: &str,
        elem: Elem,
        rank: usize,
        host: HostArg,
    ) -> Val<'p> {
        let (name, home, host) = (Ident::new(name), Home::Host, Some(host));
        let info = TensorInfo {
            elem,
            rank,
            name,
            home,
            extents: Vec::new(),
            index: None,
            host,
            bound: false,
            nameless: true,
            gaps: false,
            covered: None,
        };
        let id = self.add_tensor(info);
        Val::named(elem, rank, id)
    }

    /// The name and extents of a tensor in the module under construction.
    pub(super) fn import(&mut self, id: TensorId) -> R<(Ident, Vec<Quasi>)> {
        let module = self.module();
        let info = self.info(id).clone();
        if info.home == Home::Module(module) {
            return Ok((info.name, info.extents));
        }
        if let Some(known) = self.modules[module].imports.get(&id) {
            return Ok(known.clone());
        }
        let host = self.host_value(id);
        let name = self.tensor_name(info.name.as_str());
        let mut extents = Vec::with_capacity(info.rank);
        for axis in 0..info.rank {
            let known = info.extents.get(axis).and_then(Quasi::as_constant);
            extents.push(match known {
                Some(number) => number.into(),
                None => {
                    let source = SymbolSource::Shape(name.clone(), axis);
                    let text = format!("{}.{axis}", name.as_str());
                    self.new_symbol(&text, source, Loc::default()).into()
                }
            });
        }
        let dims = extents.iter().cloned().map(Into::into).collect();
        let ty = TensorType { elem: info.elem, dims };
        let cx = self.cx();
        cx.tir.inputs.push(TirTensor { name: name.clone(), ty });
        cx.inputs.push(host);
        cx.imports.insert(id, (name.clone(), extents.clone()));
        Ok((name, extents))
    }

    /// The host's handle of a tensor: an output of the module that defines it.
    pub(super) fn host_value(&mut self, id: TensorId) -> HostArg {
        if let Some(host) = &self.info(id).host {
            return host.clone();
        }
        let info = self.info(id).clone();
        let number = self.new_number();
        if let Home::Module(home) = info.home {
            if self.pending == Some(home) && !self.in_region() {
                self.flush();
            }
            let ty = HostType::Tensor(info.elem, info.rank);
            let module = &mut self.modules[home];
            module.outputs.push((info.name.clone(), HostDef { number, ty }));
        }
        self.tensors[id.0].host = Some(HostArg::Value(number));
        HostArg::Value(number)
    }

    /// A host scalar inside the module: integers become symbols, others inputs of rank 0.
    pub(super) fn import_scalar(&mut self, host: HostArg, elem: Elem) -> R<Scalar> {
        let number = match &host {
            HostArg::Const(constant) => return Ok(Scalar::constant(*constant)),
            HostArg::Value(number) => *number,
            HostArg::Str(_) => return Ok(Scalar { elem, form: Form::Host(host) }),
        };
        if elem.is_int() && elem != Elem::U64 {
            let var = match self.cx().integer_vars.get(&number) {
                Some(var) => *var,
                None => {
                    let wide = self.host_cast(host, elem, Elem::I64);
                    let var = self.new_symbol("k", SymbolSource::Argument, Loc::default());
                    self.cx().integers.push((var, wide));
                    self.cx().integer_vars.insert(number, var);
                    var
                }
            };
            return Ok(Scalar { elem, form: Form::Index(self.module(), var.into()) });
        }
        let boxed = self.host_value_of(
            HostType::Tensor(elem, 0),
            HostKind::Intrinsic(Intrinsic::Scalar, vec![host]),
        );
        let Val::Scalar(scalar) = self.host_tensor("host.x", elem, 0, boxed) else {
            return Ok(Scalar { elem, form: Form::Host(HostArg::Value(number)) });
        };
        Ok(scalar)
    }

    /// One element of a named tensor.
    pub(super) fn read_named(
        &mut self,
        id: TensorId,
        at: Vec<Subscript>,
        proved: bool,
        loc: Loc,
    ) -> R<Scalar> {
        let (tensor, _) = self.import(id)?;
        let elem = self.info(id).elem;
        let place = Place { tensor, at };
        Ok(self.emit(elem, InstKind::Read(Read { place, default: None, proved }), loc))
    }

    /// The extents of a tensor, in the module under construction.
    pub(super) fn extents(&mut self, tensor: &Tensor<'p>) -> R<Vec<Quasi>> {
        match &tensor.src {
            Src::Named(id) => self.import(*id).map(|known| known.1),
            Src::Lazy(lazy) => (lazy.extents)(self),
        }
    }

    /// One element of a tensor. A lazy tensor is not its operands, so its bounds are tested here
    /// unless they are proved.
    pub(super) fn element(
        &mut self,
        tensor: &Tensor<'p>,
        at: &[Subscript],
        proved: bool,
        span: Span,
    ) -> R<Scalar> {
        match &tensor.src {
            Src::Named(id) => self.read_named(*id, at.to_vec(), proved, super::module::loc(span)),
            Src::Lazy(lazy) => {
                if !proved {
                    let extents = self.extents(tensor)?;
                    let what = lazy.name.get().map(|name| format!("`{name}` is read"));
                    let what = what.unwrap_or_else(|| "a tensor is read".to_owned());
                    for (axis, (subscript, extent)) in at.iter().zip(&extents).enumerate() {
                        self.check_bounds(&what, subscript, extent, axis, span)?;
                    }
                }
                (lazy.element)(self, at)
            }
        }
    }

    /// Stops the program unless the points of a subscript are within an extent.
    pub(super) fn check_spec(
        &mut self,
        what: &str,
        spec: &Spec,
        extent: &Quasi,
        axis: usize,
        span: Span,
    ) -> R<()> {
        let (lo, length) = match spec {
            Spec::Point(_, true) | Spec::Slice(_, _, true) | Spec::All => return Ok(()),
            Spec::Point(point, false) => {
                return self.check_bounds(what, point, extent, axis, span);
            }
            Spec::Slice(lo, length, false) => (lo, length),
        };
        let last = self.index_result(lo.add(length).and_then(|end| end.add_constant(-1)), span)?;
        let ends = [Subscript::Index(lo.clone()), Subscript::Index(last)];
        // An empty slice may lie anywhere.
        let some = self.is_inside(&Subscript::Index(0.into()), length)?;
        let (then, ()) = self.region(|cx| {
            for end in &ends {
                cx.check_bounds(what, end, extent, axis, span)?;
            }
            Ok((Vec::new(), ()))
        })?;
        let condition = self.arg(&some)?;
        let kind = InstKind::If { condition, then, otherwise: Region::default() };
        self.push_inst(Vec::new(), kind, super::module::loc(span));
        Ok(())
    }

    /// Stops the program unless a subscript is within an extent.
    pub(super) fn check_bounds(
        &mut self,
        what: &str,
        subscript: &Subscript,
        extent: &Quasi,
        axis: usize,
        span: Span,
    ) -> R<()> {
        let inside = self.is_inside(subscript, extent)?;
        if inside.as_const().and_then(|c| c.as_bool()) == Some(true) {
            return Ok(());
        }
        let condition = self.arg(&inside)?;
        let (otherwise, ()) = self.region(|cx| {
            let index = match subscript {
                Subscript::Index(expr) => {
                    let index = cx.index_scalar(Elem::I64, expr.clone());
                    cx.arg(&index)?
                }
                Subscript::Value(arg) => arg.clone(),
            };
            let size = cx.index_scalar(Elem::I64, extent.clone());
            let size = cx.arg(&size)?;
            let message = Message::from(format!("{what} at index ")).value(index);
            let message = message.text(format!(" of axis {axis}, whose extent is ")).value(size);
            cx.trap(Trap::OutOfBounds, message, super::module::loc(span));
            Ok((Vec::new(), ()))
        })?;
        let then = Region::default();
        let kind = InstKind::If { condition, then, otherwise };
        self.push_inst(Vec::new(), kind, super::module::loc(span));
        Ok(())
    }

    /// Whether `0 <= subscript < extent`.
    pub(super) fn is_inside(&mut self, subscript: &Subscript, extent: &Quasi) -> R<Scalar> {
        let home = self.module();
        let index =
            |expr: &Quasi| Scalar { elem: Elem::I64, form: Form::Index(home, expr.clone()) };
        let at = match subscript {
            Subscript::Index(expr) => {
                if let (Some(n), Some(size)) = (expr.as_constant(), extent.as_constant()) {
                    let inside = 0 <= n && n < size;
                    return Ok(Scalar::constant(einlang_tir::constant::Const::bool(inside)));
                }
                index(expr)
            }
            Subscript::Value(arg) => self.wide(arg.clone())?,
        };
        let zero = Scalar::constant(einlang_tir::constant::Const::int(Elem::I64, 0));
        let low = self.region_op(Op::Ge, &[at.clone(), zero], Elem::Bool, Loc::default())?;
        let high = self.region_op(Op::Lt, &[at, index(extent)], Elem::Bool, Loc::default())?;
        self.region_op(Op::And, &[low, high], Elem::Bool, Loc::default())
    }

    /// An integer operand as `i64`.
    pub(super) fn wide(&mut self, arg: einlang_tir::region::Arg) -> R<Scalar> {
        match arg.elem() {
            Some(Elem::I64) | None => {}
            Some(_) => {
                let kind = InstKind::Op(Op::Cast, vec![arg]);
                return Ok(self.emit(Elem::I64, kind, Loc::default()));
            }
        }
        match arg {
            einlang_tir::region::Arg::Const(constant) => Ok(Scalar::constant(constant)),
            einlang_tir::region::Arg::Value(value) => Ok(Scalar::value(value)),
            einlang_tir::region::Arg::Tensor(_) => unsupported(self.here, "a tensor as an index"),
        }
    }

    /// Gives a tensor a name, if it has none: a binding over its extents.
    pub(super) fn materialise(
        &mut self,
        tensor: &Tensor<'p>,
        name: &str,
        span: Span,
    ) -> R<TensorId> {
        let lazy = match &tensor.src {
            Src::Named(id) => return Ok(*id),
            Src::Lazy(lazy) => lazy.clone(),
        };
        let extents = (lazy.extents)(self)?;
        let axes: Vec<Axis> = extents
            .iter()
            .enumerate()
            .map(|(at, extent)| Axis {
                var: self.new_index(&format!("i{at}")),
                dim: extent.clone().into(),
            })
            .collect();
        let at: Vec<Subscript> = axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
        let (body, _) = self.scalar_region(|cx| (lazy.element)(cx, &at))?;
        let (id, ident) = self.home_tensor(name, tensor.elem, extents);
        let domain = self.index_result(box_of(&axes), span)?;
        let loc = super::module::loc(span);
        let clause = Clause { domain: Over(domain), guard: None, body, loc };
        let clauses = vec![clause];
        let binding =
            Binding { name: ident, elem: tensor.elem, axes, clauses, zero_fill: false, loc };
        self.push_group(Group { bindings: vec![binding], until: None }, loc);
        Ok(id)
    }

    /// A scalar as a binding of rank 0, outside of regions.
    pub(super) fn define_scalar(
        &mut self,
        name: &str,
        span: Span,
        f: impl FnOnce(&mut Self) -> R<Scalar>,
    ) -> R<TensorId> {
        let mut index = None;
        let (body, elem) = self.scalar_region(|cx| {
            let scalar = f(cx)?;
            index = cx.known_index(&scalar);
            Ok(scalar)
        })?;
        let (id, ident) = self.home_tensor(name, elem, Vec::new());
        self.tensors[id.0].index = index;
        let loc = super::module::loc(span);
        self.push_group(rank0(&ident, elem, body, loc), loc);
        Ok(id)
    }

    /// The index expression of a scalar, if it is one in this module.
    pub(super) fn known_index(&mut self, scalar: &Scalar) -> Option<Quasi> {
        let module = self.module();
        match &scalar.form {
            Form::Const(constant) => {
                constant.as_int().and_then(|n| i64::try_from(n).ok()).map(Into::into)
            }
            Form::Index(home, expr) if *home == module => Some(expr.clone()),
            Form::Named(id) => match self.info(*id) {
                info if info.home == Home::Module(module) => info.index.clone(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A group of one binding of rank 0.
pub(super) fn rank0(name: &Ident, elem: Elem, body: Region, loc: Loc) -> Group {
    let domain = Over(einlang_index::Domain::everything(Vec::new()));
    let clause = Clause { domain, guard: None, body, loc };
    let (axes, clauses, zero_fill) = (Vec::new(), vec![clause], false);
    let binding = Binding { name: name.clone(), elem, axes, clauses, zero_fill, loc };
    Group { bindings: vec![binding], until: None }
}
