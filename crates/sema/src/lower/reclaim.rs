//! Taking definitions into the module under construction that an earlier module evaluated.
//!
//! A derivative needs the definitions between its parameter and its target in one module, but a
//! value that was printed in between belongs to a module that is closed. Its binding is copied
//! here, under the name it has as an input, with everything it reads, down to the parameter and to
//! what the host made. The copies repeat pure code; what was evaluated before stays as it was.

use std::collections::HashMap;

use einlang_index::{Domain, Quasi, Set, Var};
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::module::{Group, Symbol, SymbolSource};
use einlang_tir::region::{Combiner, Def, Inst, InstKind, Over, Place, Read, Region};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::{Elem, Ident, Loc};

use super::tensors::Home;
use super::value::{Form, R, Scalar, TensorId};
use super::{Lower, unsupported};

impl<'p> Lower<'p> {
    /// Makes the definitions of everything that came from earlier modules part of this one, but
    /// for the parameter of the request, unless its later points follow from earlier ones.
    pub(super) fn reclaim(&mut self, target: TensorId, by: TensorId) -> R<()> {
        self.import(target)?;
        let mut front: Vec<Group> = Vec::new();
        if self.is_earlier_recurrence(by) {
            self.import(by)?;
            self.reclaim_one(by, &mut front)?;
        }
        self.reclaim_earlier(Some(by), &mut front)?;
        // A request among them may be about a path that leads through the parameter.
        if front.iter().any(asks) {
            self.reclaim_earlier(None, &mut front)?;
        }
        if !front.is_empty() {
            // What was taken in for an earlier request may be read now, and the other way round.
            let tir = &mut self.cx().tir;
            front.append(&mut tir.groups);
            tir.groups = sorted(front, &tir.symbols);
        }
        Ok(())
    }

    /// Takes in what the module takes from earlier ones, but for one tensor.
    fn reclaim_earlier(&mut self, but: Option<TensorId>, front: &mut Vec<Group>) -> R<()> {
        while let Some(id) = self.earlier_imports(but).pop() {
            self.reclaim_one(id, front)?;
        }
        Ok(())
    }

    /// What the module takes from earlier ones, but for one tensor.
    pub(super) fn earlier_imports(&mut self, but: Option<TensorId>) -> Vec<TensorId> {
        let module = self.module();
        let ids: Vec<TensorId> = self.modules[module].imports.keys().copied().collect();
        let mut earlier: Vec<TensorId> = ids
            .into_iter()
            .filter(|id| {
                let (home, elem) = (self.info(*id).home, self.info(*id).elem);
                // No derivative leads through a condition.
                Some(*id) != but
                    && elem != Elem::Bool
                    && matches!(home, Home::Module(home) if home != module)
            })
            .collect();
        earlier.sort_unstable();
        earlier
    }

    /// Whether an earlier module computed a tensor from points of its own, or together with others.
    pub(super) fn is_earlier_recurrence(&self, id: TensorId) -> bool {
        let info = self.info(id);
        let Home::Module(home) = info.home else { return false };
        if self.pending == Some(home) {
            return false;
        }
        let module = &self.modules[home].tir;
        module.is_recurrent(&info.name)
    }

    fn reclaim_one(&mut self, id: TensorId, front: &mut Vec<Group>) -> R<()> {
        let info = self.info(id).clone();
        let Home::Module(home) = info.home else { return Ok(()) };
        let found = self.modules[home]
            .tir
            .groups
            .iter()
            .find(|group| group.bindings.iter().any(|binding| binding.name == info.name));
        let Some(group) = found.cloned() else {
            return unsupported(self.here, "a derivative through values that were printed before");
        };
        let mut members = Vec::new();
        for binding in &group.bindings {
            let Some(member) = self.tensor_of(home, &binding.name) else {
                return unsupported(self.here, "a derivative through these values");
            };
            self.import(member)?;
            members.push((member, binding.name.clone()));
        }
        let mut copy = Copy { home, change: Substitution::default() };
        for (member, name) in &members {
            let (ident, _) = self.import(*member)?;
            copy.change.tensors.insert(name.clone(), ident);
        }
        let group = self.copied_group(group, &mut copy)?;
        for (member, _) in members {
            self.settle_here(member)?;
        }
        front.push(group);
        Ok(())
    }

    /// The tensor that a module defined under a name, wherever its definition is now.
    fn tensor_of(&self, home: usize, name: &Ident) -> Option<TensorId> {
        let is_it = |info: &super::tensors::TensorInfo| {
            info.home == Home::Module(home) && info.name == *name
        };
        // Functions that are finished had modules of the same numbers.
        let here = self.tensors.iter().rposition(is_it).map(TensorId);
        here.or_else(|| self.former.get(&(home, name.clone())).copied())
    }

    /// The tensor that a module knows by a name, its inputs included.
    fn known_in(&self, home: usize, name: &Ident) -> Option<TensorId> {
        let mut imports = self.modules[home].imports.iter();
        let imported = imports.find(|(_, known)| known.0 == *name).map(|found| *found.0);
        imported.or_else(|| self.tensor_of(home, name))
    }

    /// An input becomes a tensor of this module; its extents are passed as numbers.
    fn settle_here(&mut self, id: TensorId) -> R<()> {
        let module = self.module();
        let Some((name, extents)) = self.modules[module].imports.remove(&id) else { return Ok(()) };
        let host = self.host_value(id);
        let cx = &mut self.modules[module];
        if let Some(at) = cx.tir.inputs.iter().position(|input| input.name == name) {
            cx.tir.inputs.remove(at);
            cx.inputs.remove(at);
        }
        for (axis, extent) in extents.iter().enumerate() {
            let Some(var) = extent.as_var() else { continue };
            let axis = HostArg::Const(einlang_tir::constant::Const::int(Elem::I64, axis as i128));
            let kind = HostKind::Intrinsic(Intrinsic::Extent, vec![host.clone(), axis]);
            let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
            let cx = &mut self.modules[module];
            if let Some(symbol) = cx.tir.symbols.iter_mut().find(|symbol| symbol.var == var) {
                symbol.source = SymbolSource::Argument;
                cx.integers.push((var, length));
            }
        }
        let info = &mut self.tensors[id.0];
        if let Home::Module(home) = info.home {
            self.former.insert((home, info.name.clone()), id);
        }
        (info.home, info.name, info.extents, info.index) =
            (Home::Module(module), name, extents, None);
        Ok(())
    }

    fn copied_group(&mut self, mut group: Group, copy: &mut Copy) -> R<Group> {
        if let Some(until) = &mut group.until {
            let var = self.new_symbol("steps", SymbolSource::Until, Loc::default());
            copy.change.vars.insert(until.extent, var.into());
            until.extent = var;
            let index = self.new_index("t");
            copy.change.vars.insert(until.index, index.into());
            until.index = index;
        }
        for binding in &mut group.bindings {
            if let Some(name) = copy.change.tensors.get(&binding.name) {
                binding.name = name.clone();
            }
            for axis in &mut binding.axes {
                self.map_symbols(&axis.dim.extent, copy)?;
                axis.dim.extent =
                    self.index_result(copy.change.quasi(&axis.dim.extent), self.here)?;
                let fresh = self.new_index("i");
                copy.change.vars.insert(axis.var, fresh.into());
                axis.var = fresh;
            }
            for clause in &mut binding.clauses {
                self.copied_domain(&mut clause.domain, copy)?;
                if let Some(guard) = &mut clause.guard {
                    self.copied_region(guard, copy)?;
                }
                self.copied_region(&mut clause.body, copy)?;
            }
        }
        if let Some(until) = &mut group.until {
            for bound in [&mut until.first, &mut until.max] {
                self.map_symbols(bound, copy)?;
                *bound = self.index_result(copy.change.quasi(bound), self.here)?;
            }
            self.copied_region(&mut until.condition, copy)?;
        }
        Ok(group)
    }

    fn copied_domain(&mut self, domain: &mut Over, copy: &mut Copy) -> R<()> {
        for var in domain.params() {
            self.map_symbol(var, copy)?;
        }
        let images = &copy.change.vars;
        let mut image = |var: Var| images.get(&var).and_then(|expr| expr.as_affine().cloned());
        let rename = |var: &Var| images.get(var).and_then(Quasi::as_var).unwrap_or(*var);
        let dims: Vec<Var> = domain.dims().iter().map(rename).collect();
        let sets: einlang_index::Result<Vec<Set>> =
            domain.sets().iter().map(|set| set.replace(&mut image)).collect();
        let sets = self.index_result(sets, self.here)?;
        *domain = Over(Domain::of_sets(dims, sets));
        Ok(())
    }

    fn copied_region(&mut self, region: &mut Region, copy: &mut Copy) -> R<()> {
        region.params.iter_mut().try_for_each(|def| self.copied_def(def, copy))?;
        let insts = std::mem::take(&mut region.insts);
        for inst in insts {
            region.insts.push(self.copied_inst(inst, copy)?);
        }
        region.results.iter_mut().for_each(|arg| copy.change.arg(arg));
        Ok(())
    }

    fn copied_def(&mut self, def: &mut Def, copy: &mut Copy) -> R<()> {
        match def {
            Def::Scalar(value) => {
                let fresh = self.new_value(value.elem);
                copy.change.values.insert(value.number, fresh.into());
                *value = fresh;
            }
            Def::Tensor(tensor) => {
                let name = self.tensor_name(tensor.name.as_str());
                copy.change.tensors.insert(tensor.name.clone(), name.clone());
                tensor.name = name;
                for dim in &mut tensor.ty.dims {
                    self.map_symbols(&dim.extent, copy)?;
                    dim.extent = self.index_result(copy.change.quasi(&dim.extent), self.here)?;
                }
            }
        }
        Ok(())
    }

    fn copied_inst(&mut self, mut inst: Inst, copy: &mut Copy) -> R<Inst> {
        for name in inst.tensors().into_iter().cloned().collect::<Vec<Ident>>() {
            self.map_tensor(&name, copy)?;
        }
        match &mut inst.kind {
            InstKind::Group(group) => {
                for binding in &group.bindings {
                    let name = self.tensor_name(binding.name.as_str());
                    copy.change.tensors.insert(binding.name.clone(), name);
                }
                let inner =
                    std::mem::replace(&mut **group, Group { bindings: Vec::new(), until: None });
                **group = self.copied_group(inner, copy)?;
                return Ok(inst);
            }
            InstKind::Reduce(reduction) => {
                if let Combiner::Region(combine) = &mut reduction.combine {
                    self.copied_region(combine, copy)?;
                }
                for dim in reduction.domain.dims().to_vec() {
                    let fresh = self.new_index("k");
                    copy.change.vars.insert(dim, fresh.into());
                }
                self.copied_domain(&mut reduction.domain, copy)?;
                if let Some(guard) = &mut reduction.guard {
                    self.copied_region(guard, copy)?;
                }
                self.copied_region(&mut reduction.body, copy)?;
                inst.args_mut().into_iter().for_each(|arg| copy.change.arg(arg));
                inst.results.iter_mut().try_for_each(|def| self.copied_def(def, copy))?;
                return Ok(inst);
            }
            InstKind::Param { var, .. } => {
                let fresh = self.new_symbol("n", SymbolSource::Local, Loc::default());
                copy.change.vars.insert(*var, fresh.into());
                *var = fresh;
            }
            InstKind::Converged(open) => {
                // It was known when the earlier module ended, and is a constant.
                let known = InstKind::Converged(*open);
                let ended = self.export_inst(copy.home, Elem::Bool, known, None);
                let place = Place { tensor: self.import(ended)?.0, at: Vec::new() };
                inst.kind = InstKind::Read(Read { place, default: None, proved: true });
                inst.results.iter_mut().try_for_each(|def| self.copied_def(def, copy))?;
                return Ok(inst);
            }
            InstKind::Call { function, .. } => {
                *function = self.copied_function(&function.clone(), copy)?;
            }
            kind => {
                for expr in own_exprs(kind) {
                    self.map_symbols(&expr, copy)?;
                }
            }
        }
        // Operands and index expressions first, then what is inside, then the results.
        let mut inner: Vec<Region> = inst.regions_mut().into_iter().map(std::mem::take).collect();
        let results = std::mem::take(&mut inst.results);
        let replaced = copy.change.inst(&mut inst);
        self.index_result(replaced, self.here)?;
        for region in &mut inner {
            self.copied_region(region, copy)?;
        }
        for (place, region) in inst.regions_mut().into_iter().zip(inner) {
            *place = region;
        }
        inst.results = results;
        inst.results.iter_mut().try_for_each(|def| self.copied_def(def, copy))?;
        Ok(inst)
    }

    /// The function here, with its rule, for one of the earlier module.
    fn copied_function(&mut self, name: &Ident, copy: &mut Copy) -> R<Ident> {
        let known = self.modules[copy.home].functions.iter().find(|known| known.1 == name);
        let instance = known.map(|known| *known.0);
        if let Some(id) = instance {
            return self.tir_function(id);
        }
        let functions = &self.modules[copy.home].tir.functions;
        let Some(mut function) = functions.iter().find(|f| f.name == *name).cloned() else {
            return unsupported(self.here, "a derivative through these values, printed before");
        };
        if function.body.params.iter().any(|param| param.as_tensor().is_some()) {
            return unsupported(self.here, "a derivative through these values, printed before");
        }
        let taken = |cx: &Self, name: &str| match cx.pending {
            Some(id) => cx.modules[id].tir.functions.iter().any(|f| f.name.as_str() == name),
            None => false,
        };
        let mut own = name.as_str().to_owned();
        while taken(self, &own) {
            own = self.fresh(name.as_str());
        }
        let own = Ident::new(&own);
        function.name = own.clone();
        self.copied_region(&mut function.body, copy)?;
        if let Some(rule) = &mut function.rule {
            rule.function = self.copied_function(&rule.function.clone(), copy)?;
        }
        self.cx().tir.functions.push(function);
        Ok(own)
    }

    /// The tensor here for one of the earlier module.
    fn map_tensor(&mut self, name: &Ident, copy: &mut Copy) -> R<()> {
        if copy.change.tensors.contains_key(name) {
            return Ok(());
        }
        let Some(id) = self.known_in(copy.home, name) else {
            return unsupported(self.here, "a derivative through these values, printed before");
        };
        let (ident, _) = self.import(id)?;
        copy.change.tensors.insert(name.clone(), ident);
        Ok(())
    }

    fn map_symbols(&mut self, expr: &Quasi, copy: &mut Copy) -> R<()> {
        let mut vars = Vec::new();
        expr.for_each_var(&mut |var| vars.push(var));
        vars.into_iter().try_for_each(|var| self.map_symbol(var, copy))
    }

    /// The expression here for a symbol of the earlier module.
    fn map_symbol(&mut self, var: Var, copy: &mut Copy) -> R<()> {
        if copy.change.vars.contains_key(&var) {
            return Ok(());
        }
        let module = &self.modules[copy.home];
        let Some(source) = module.tir.source(var).cloned() else { return Ok(()) };
        let source = match source {
            SymbolSource::Until => open_axis(&module.tir.groups, var).unwrap_or(source),
            source => source,
        };
        let integer =
            module.integers.iter().find(|known| known.0 == var).map(|known| known.1.clone());
        let expr = match (source, integer) {
            (SymbolSource::Argument, Some(host)) => {
                let scalar = Scalar { elem: Elem::I64, form: Form::Host(host) };
                self.quasi(&scalar)?
            }
            (SymbolSource::Shape(tensor, axis), _) => {
                self.map_tensor(&tensor, copy)?;
                let ident = copy.change.tensors.get(&tensor).cloned();
                let known =
                    self.cx().imports.values().find(|known| Some(&known.0) == ident.as_ref());
                let extent = known.and_then(|known| known.1.get(axis).cloned());
                let own = self.tensors.iter().find(|info| Some(&info.name) == ident.as_ref());
                match extent.or_else(|| own.and_then(|info| info.extents.get(axis).cloned())) {
                    Some(extent) => extent,
                    None => return unsupported(self.here, "a derivative through these values"),
                }
            }
            (SymbolSource::Value(tensor), _) => {
                let Some(id) = self.known_in(copy.home, &tensor) else {
                    return unsupported(self.here, "a derivative through these values");
                };
                let elem = self.info(id).elem;
                self.quasi(&Scalar { elem, form: Form::Named(id) })?
            }
            (SymbolSource::Max(list), _) => self.mapped_extreme(list, true, copy)?,
            (SymbolSource::Min(list), _) => self.mapped_extreme(list, false, copy)?,
            _ => {
                return unsupported(self.here, "a derivative through these values, printed before");
            }
        };
        copy.change.vars.insert(var, expr);
        Ok(())
    }

    fn mapped_extreme(&mut self, list: Vec<Quasi>, largest: bool, copy: &mut Copy) -> R<Quasi> {
        let mut mapped = Vec::with_capacity(list.len());
        for expr in &list {
            self.map_symbols(expr, copy)?;
            mapped.push(self.index_result(copy.change.quasi(expr), self.here)?);
        }
        Ok(self.extreme(mapped, largest))
    }
}

/// Whether something in a group is a derivative.
fn asks(group: &Group) -> bool {
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Deriv { .. }));
    }
    found
}

/// The axis of which a symbol is the length, which is known when the recurrence has ended.
fn open_axis(groups: &[Group], length: Var) -> Option<SymbolSource> {
    let is_open = |group: &&Group| group.until.as_ref().is_some_and(|u| u.extent == length);
    groups.iter().filter(is_open).flat_map(|group| &group.bindings).find_map(|binding| {
        let mut axes = binding.axes.iter();
        let axis = axes.position(|axis| axis.dim.extent.as_var() == Some(length))?;
        Some(SymbolSource::Shape(binding.name.clone(), axis))
    })
}

/// The groups, each after those it reads or that tell its sizes, and otherwise in their order.
fn sorted(groups: Vec<Group>, symbols: &[Symbol]) -> Vec<Group> {
    let owners: HashMap<Ident, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(at, group)| names(group).map(move |name| (name, at)))
        .collect();
    let tells = tellers(symbols, &owners);
    let reads = |group: &Group| {
        let mut read: Vec<usize> = Vec::new();
        let mut size = |expr: &Quasi| {
            expr.for_each_var(&mut |var| read.extend(tells.get(&var).into_iter().flatten()));
        };
        group.bindings.iter().flat_map(|b| &b.axes).for_each(|axis| size(&axis.dim.extent));
        group.until.iter().flat_map(|until| [&until.first, &until.max]).for_each(&mut size);
        for region in group.regions() {
            region.for_each_inst(&mut |inst| own_exprs(&inst.kind).iter().for_each(&mut size));
        }
        let clauses = group.bindings.iter().flat_map(|binding| &binding.clauses);
        for var in clauses.flat_map(|clause| clause.domain.params()) {
            read.extend(tells.get(&var).into_iter().flatten());
        }
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                read.extend(inst.tensors().into_iter().filter_map(|name| owners.get(name)));
                if let InstKind::Reduce(reduction) = &inst.kind {
                    for var in reduction.domain.params() {
                        read.extend(tells.get(&var).into_iter().flatten());
                    }
                }
            });
        }
        read.sort_unstable();
        read.dedup();
        read
    };
    let reads: Vec<Vec<usize>> = groups.iter().map(reads).collect();
    let mut order = Vec::with_capacity(groups.len());
    let mut seen = vec![false; groups.len()];
    for start in 0..groups.len() {
        let mut open = vec![(start, 0)];
        while let Some((at, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match reads[at].get(next) {
                Some(read) => {
                    open.push((at, next + 1));
                    open.push((*read, 0));
                }
                None => order.push(at),
            }
        }
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| groups[at].take()).collect()
}

/// The groups whose values symbols stand for. A symbol comes after those it is made of.
fn tellers(symbols: &[Symbol], owners: &HashMap<Ident, usize>) -> HashMap<Var, Vec<usize>> {
    let mut tells: HashMap<Var, Vec<usize>> = HashMap::new();
    for symbol in symbols {
        let mut by: Vec<usize> = Vec::new();
        match &symbol.source {
            SymbolSource::Value(name) | SymbolSource::Shape(name, _) => {
                by.extend(owners.get(name));
            }
            SymbolSource::Max(of) | SymbolSource::Min(of) => {
                let mut found = |var: Var| by.extend(tells.get(&var).into_iter().flatten());
                of.iter().for_each(|expr| expr.for_each_var(&mut found));
            }
            SymbolSource::Argument | SymbolSource::Until | SymbolSource::Local => {}
        }
        tells.insert(symbol.var, by);
    }
    tells
}

fn names(group: &Group) -> impl Iterator<Item = Ident> + '_ {
    group.bindings.iter().map(|binding| binding.name.clone())
}

/// The copy of a group from an earlier module.
struct Copy {
    home: usize,
    change: Substitution,
}

/// The index expressions of an instruction without regions of its own binders.
fn own_exprs(kind: &InstKind) -> Vec<Quasi> {
    let of_place = |place: &einlang_tir::region::Place| -> Vec<Quasi> {
        let exprs = place.at.iter().filter_map(|subscript| match subscript {
            einlang_tir::region::Subscript::Index(expr) => Some(expr.clone()),
            einlang_tir::region::Subscript::Value(_) => None,
        });
        exprs.collect()
    };
    match kind {
        InstKind::Index(expr) => vec![expr.clone()],
        InstKind::Read(read) => of_place(&read.place),
        InstKind::Deriv { of, by } => [of_place(of), of_place(by)].concat(),
        _ => Vec::new(),
    }
}

/// The host values that a `run` passes for symbols, in the order of their declaration.
pub(super) fn in_order(symbols: &[Var], integers: &[(Var, HostArg)]) -> Vec<HostArg> {
    let known: HashMap<Var, &HostArg> = integers.iter().map(|(var, host)| (*var, host)).collect();
    symbols.iter().filter_map(|var| known.get(var).map(|host| (*host).clone())).collect()
}
