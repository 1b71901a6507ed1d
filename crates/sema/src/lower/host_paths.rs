//! Derivatives whose path leads through host code.
//!
//! A request is about tensors of one module, and definitions of earlier modules are copied into it.
//! What a function that prints, recursion, `match` or a list has made is an input to that module:
//! whether it depends on the parameter is found out here, and then the host differentiates.

use std::collections::{HashMap, HashSet};

use einlang_index::Quasi;
use einlang_source::{Diagnostic, Diagnostics};
use einlang_tir::ad::Watch;
use einlang_tir::host::{Block, HostArg, HostInst, HostKind, HostType, Intrinsic};
use einlang_tir::passes::lower_host_requests;
use einlang_tir::region::Subscript as At;
use einlang_tir::types::{Elem, Ident};

use super::access::{Spec, is_fixed};
use super::derive::Target;
use super::tables::Table;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Src, Tensor, TensorId, Val};
use super::{Lower, unsupported};

/// A subscript that the host keeps.
enum Held {
    Fixed(Spec),
    Point(Scalar, bool),
    Slice(Scalar, Scalar, bool),
}

/// What a value is made of: tensors, or values of the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Tensor(TensorId),
    Value(u32),
}

impl<'p> Lower<'p> {
    /// Whether a tensor depends on another through a value that the host computes.
    pub(super) fn leads_through_host(&self, of: TensorId, by: TensorId) -> bool {
        if of == by {
            return false;
        }
        let made = self.made_by_host();
        let is_made = |info: &super::tensors::TensorInfo| {
            info.home == Home::Host
                && info.elem.is_float()
                && matches!(&info.host, Some(HostArg::Value(n)) if made.contains_key(n))
        };
        if !self.tensors.iter().any(is_made) {
            return false;
        }
        let paths = Paths::new(self, made);
        let by_value = number(self.info(by).host.as_ref()).map(Part::Value);
        let mut seen: HashSet<(Part, bool)> = HashSet::new();
        let mut open = vec![(Part::Tensor(of), false)];
        while let Some((part, through_host)) = open.pop() {
            let is_by = part == Part::Tensor(by) || Some(part) == by_value;
            if is_by {
                if through_host {
                    return true;
                }
                continue;
            }
            if !seen.insert((part, through_host)) {
                continue;
            }
            match part {
                Part::Tensor(id) if self.info(id).home == Home::Host => {
                    let host = self.info(id).host.clone();
                    open.extend(number(host.as_ref()).map(|n| (Part::Value(n), true)));
                }
                Part::Tensor(id) => {
                    open.extend(paths.read_by(id).into_iter().map(|part| (part, through_host)));
                }
                Part::Value(value) => {
                    open.extend(paths.used_for(value).into_iter().map(|p| (p, through_host)));
                }
            }
        }
        false
    }

    /// Takes note of the tensors of a recurrence that the host has computed, with the marks of their
    /// points.
    pub(super) fn note_recurrent(&mut self, table: &Table<'p>, value: &Val<'p>) {
        for (which, leaf) in value.leaves().into_iter().enumerate() {
            match leaf {
                Val::Scalar(Scalar { form: Form::Named(id), .. })
                | Val::Tensor(Tensor { src: Src::Named(id), .. }) => {
                    self.recurrent.insert(id, mark_of(table, which));
                }
                _ => {}
            }
        }
    }

    /// Elements of a definition that a derivative may perturb where they are made.
    pub(super) fn marked_points(
        &mut self,
        table: &Table<'p>,
        at: &[HostArg],
        items: Vec<HostArg>,
    ) -> Vec<HostArg> {
        if !self.requested.contains(&(self.frame.body, table.local)) {
            return items;
        }
        let mut marked = Vec::with_capacity(items.len());
        for (which, (item, (_, list))) in items.into_iter().zip(table.elements()).enumerate() {
            marked.push(match list {
                HostType::List(ty) if is_float(ty) => {
                    let args = [vec![item, HostArg::Str(mark_of(table, which))], at.to_vec()];
                    let kind = HostKind::Intrinsic(Intrinsic::Point, args.concat());
                    self.host_value_of((**ty).clone(), kind)
                }
                _ => item,
            });
        }
        marked
    }

    /// The instructions of the blocks around that define values.
    fn made_by_host(&self) -> HashMap<u32, &HostInst> {
        let insts = self.blocks.iter().flat_map(|block| &block.insts);
        insts.flat_map(|inst| inst.results.iter().map(move |def| (def.number, inst))).collect()
    }

    /// The derivative of one tensor by another, or of their parts, which the host computes.
    pub(super) fn host_jacobian(&mut self, of: &Target, by: &Target) -> R<Val<'p>> {
        let is_whole = of.specs.is_empty() && by.specs.is_empty();
        let (value, mut specs, of_point) = if self.in_region() {
            let Some(value) = self.known_jacobian(of.id, by.id) else {
                let what = "a derivative inside a tensor body, of what a function outside computed";
                return unsupported(self.here, what);
            };
            (value, of.specs.to_vec(), by.specs.to_vec())
        } else {
            let held = (self.held(&of.specs)?, self.held(&by.specs)?);
            let value = self.whole_jacobian(of.id, by.id);
            (value, self.released(held.0)?, self.released(held.1)?)
        };
        if is_whole {
            return Ok(value);
        }
        specs.resize(self.info(of.id).rank, Spec::All);
        specs.extend(of_point);
        self.read_specs(&value, &specs)
    }

    /// The whole derivative of one tensor by another, which the host computes now.
    pub(super) fn whole_jacobian(&mut self, of: TensorId, by: TensorId) -> Val<'p> {
        self.flush();
        let mut args = vec![self.host_value(of), self.host_value(by)];
        for (module, name) in self.definitions_of(by) {
            args.extend([HostArg::Str(module), HostArg::Str(name)]);
        }
        if let Some(mark) = self.recurrent.get(&by) {
            args.extend([HostArg::Str(String::new()), HostArg::Str(mark.clone())]);
        }
        let (elem, rank) = (self.info(of).elem, self.info(of).rank + self.info(by).rank);
        let kind = HostKind::Intrinsic(Intrinsic::HostDeriv, args);
        let host = self.host_value_of(HostType::Tensor(elem, rank), kind);
        self.host_tensor("d", elem, rank, host)
    }

    /// A derivative that the host has computed in a block around.
    pub(super) fn known_jacobian(&self, of: TensorId, by: TensorId) -> Option<Val<'p>> {
        let value = self.jacobians.get(&(of, by))?;
        let (Val::Scalar(Scalar { form: Form::Named(id), .. })
        | Val::Tensor(Tensor { src: Src::Named(id), .. })) = value
        else {
            return None;
        };
        let number = number(self.info(*id).host.as_ref())?;
        self.made_by_host().contains_key(&number).then(|| value.clone())
    }

    /// Whether the host computes the derivative of one tensor by another.
    pub(super) fn is_of_host(&self, of: TensorId, by: TensorId) -> bool {
        self.recurrent.contains_key(&by) || self.leads_through_host(of, by)
    }

    /// Subscripts as values of the host, which outlive a module.
    fn held(&mut self, specs: &[Spec]) -> R<Vec<Held>> {
        let mut held = Vec::with_capacity(specs.len());
        for spec in specs {
            held.push(match spec {
                Spec::Point(At::Index(index), proved) if !is_fixed(spec) => {
                    Held::Point(self.held_index(index)?, *proved)
                }
                Spec::Slice(lo, length, proved) if !is_fixed(spec) => {
                    Held::Slice(self.held_index(lo)?, self.held_index(length)?, *proved)
                }
                spec => Held::Fixed(spec.clone()),
            });
        }
        Ok(held)
    }

    fn held_index(&mut self, index: &Quasi) -> R<Scalar> {
        let scalar = self.index_scalar(Elem::I64, index.clone());
        let host = self.host_scalar(&scalar)?;
        Ok(Scalar { elem: Elem::I64, form: Form::Host(host) })
    }

    /// The same subscripts in the module that is now under construction.
    fn released(&mut self, held: Vec<Held>) -> R<Vec<Spec>> {
        let mut specs = Vec::with_capacity(held.len());
        for one in held {
            specs.push(match one {
                Held::Fixed(spec) => spec,
                Held::Point(at, proved) => Spec::Point(self.point(&at)?, proved),
                Held::Slice(lo, length, proved) => {
                    Spec::Slice(self.quasi(&lo)?, self.quasi(&length)?, proved)
                }
            });
        }
        Ok(specs)
    }

    /// The modules that define a tensor, each with its name there: its definition may have been
    /// copied for earlier requests.
    fn definitions_of(&self, id: TensorId) -> Vec<(String, String)> {
        let info = self.info(id);
        let here = match info.home {
            Home::Module(home) => Some((home, &info.name)),
            Home::Host => None,
        };
        let before = self.former.iter().filter(|known| *known.1 == id);
        let mut all: Vec<(usize, &Ident)> =
            before.map(|(place, _)| (place.0, &place.1)).chain(here).collect();
        all.sort_unstable();
        let named = |(home, name): (usize, &Ident)| {
            let module = self.modules.get(home)?;
            Some((module.tir.name.clone(), name.as_str().to_owned()))
        };
        all.into_iter().filter_map(named).collect()
    }

    /// Expands the derivatives that the host computes.
    pub(super) fn expand_host_requests(&mut self) -> R<Vec<Watch>> {
        let watched = self.options.check_rules;
        lower_host_requests(&mut self.out, watched).map_err(|found| self.first_of(found))
    }

    fn first_of(&self, found: Diagnostics) -> Box<Diagnostic> {
        let first = found.iter().next().cloned();
        let message = "a derivative that cannot be formed";
        Box::new(first.unwrap_or_else(|| {
            Diagnostic::error(super::NOT_YET, message, self.here, "here").with_help(message)
        }))
    }
}

/// What the points of one leaf of a definition are marked with.
fn mark_of(table: &Table<'_>, which: usize) -> String {
    format!("{}.{which}", table.mark)
}

fn is_float(ty: &HostType) -> bool {
    matches!(ty, HostType::Scalar(elem) | HostType::Tensor(elem, _) if elem.is_float())
}

fn number(arg: Option<&HostArg>) -> Option<u32> {
    match arg {
        Some(HostArg::Value(number)) => Some(*number),
        _ => None,
    }
}

/// Where the values of the function under construction come from.
struct Paths<'l, 'p> {
    lower: &'l Lower<'p>,
    made: HashMap<u32, &'l HostInst>,
    /// The tensors of modules by name.
    named: HashMap<(usize, Ident), TensorId>,
    /// What the modules hand out.
    outputs: HashMap<u32, TensorId>,
}

impl<'l, 'p> Paths<'l, 'p> {
    fn new(lower: &'l Lower<'p>, made: HashMap<u32, &'l HostInst>) -> Paths<'l, 'p> {
        // Definitions may have moved since other modules read them.
        let mut named = lower.former.clone();
        let mut outputs = HashMap::new();
        for (at, info) in lower.tensors.iter().enumerate() {
            if let Home::Module(home) = info.home {
                named.insert((home, info.name.clone()), TensorId(at));
                outputs.extend(number(info.host.as_ref()).map(|n| (n, TensorId(at))));
            }
        }
        Paths { lower, made, named, outputs }
    }

    /// What the definition of a tensor reads.
    fn read_by(&self, id: TensorId) -> Vec<Part> {
        let info = self.lower.info(id);
        let Home::Module(home) = info.home else { return Vec::new() };
        let Some(module) = self.lower.modules.get(home) else { return Vec::new() };
        let own = |group: &&einlang_tir::module::Group| {
            group.bindings.iter().any(|binding| binding.name == info.name)
        };
        let mut names: HashSet<Ident> = HashSet::new();
        for group in module.tir.groups.iter().filter(own) {
            for region in group.regions() {
                region.for_each_inst(&mut |inst| {
                    names.extend(inst.tensors().into_iter().cloned());
                });
            }
        }
        let imported = module.imports.iter().filter(|(_, known)| names.contains(&known.0));
        let imported = imported.map(|(id, _)| Part::Tensor(*id));
        let own = names.iter().filter_map(|name| self.named.get(&(home, name.clone())));
        imported.chain(own.map(|id| Part::Tensor(*id))).collect()
    }

    /// What a value of the host is made of.
    fn used_for(&self, value: u32) -> Vec<Part> {
        if let Some(id) = self.outputs.get(&value) {
            return vec![Part::Tensor(*id)];
        }
        let mut found = Vec::new();
        if let Some(inst) = self.made.get(&value) {
            self.uses(inst, &mut found);
        }
        found.into_iter().map(Part::Value).collect()
    }

    fn uses(&self, inst: &HostInst, found: &mut Vec<u32>) {
        found.extend(inst.args().into_iter().filter_map(|arg| number(Some(arg))));
        // The operands of a `run` are written when the function is finished.
        if let HostKind::Run(name, _) = &inst.kind {
            let module = self.lower.modules.iter().find(|cx| cx.tir.name == name.as_str());
            let inputs = module.iter().flat_map(|cx| &cx.inputs);
            found.extend(inputs.filter_map(|arg| number(Some(arg))));
        }
        inst.blocks().into_iter().for_each(|block| self.uses_in(block, found));
    }

    fn uses_in(&self, block: &Block, found: &mut Vec<u32>) {
        block.insts.iter().for_each(|inst| self.uses(inst, found));
        found.extend(block.results.iter().filter_map(|arg| number(Some(arg))));
    }
}
