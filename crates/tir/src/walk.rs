//! Walking over regions: the one place that knows which regions and operands an instruction has.

use crate::module::{Group, Module};
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Reduction, Region, Start, Subscript, Tensor, Value,
};
use crate::types::Ident;

impl Def {
    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Value> {
        match self {
            Def::Scalar(value) => Some(*value),
            Def::Tensor(_) => None,
        }
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Def::Scalar(_) => None,
            Def::Tensor(tensor) => Some(tensor),
        }
    }
}

impl Region {
    /// Calls `visit` for every instruction, those of nested regions included, outer ones first.
    pub fn for_each_inst(&self, visit: &mut dyn FnMut(&Inst)) {
        for inst in &self.insts {
            visit(inst);
            inst.regions().into_iter().for_each(|region| region.for_each_inst(visit));
        }
    }

    /// Calls `visit` for this region and every nested one, outer ones first.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(&Region)) {
        visit(self);
        for inst in &self.insts {
            inst.regions().into_iter().for_each(|region| region.for_each_region(visit));
        }
    }

    /// Calls `visit` for this region and every nested one, inner ones first.
    pub fn for_each_region_mut(&mut self, visit: &mut dyn FnMut(&mut Region)) {
        for inst in &mut self.insts {
            inst.regions_mut().into_iter().for_each(|region| region.for_each_region_mut(visit));
        }
        visit(self);
    }

    /// The tensors among the parameters.
    pub fn tensor_params(&self) -> impl Iterator<Item = &Ident> {
        self.params.iter().filter_map(|def| def.as_tensor()).map(|tensor| &tensor.name)
    }
}

impl Inst {
    /// The regions directly inside, in the order in which the text form shows them.
    pub fn regions(&self) -> Vec<&Region> {
        match &self.kind {
            InstKind::Read(read) => read.default.iter().collect(),
            InstKind::If { then, otherwise, .. } => vec![then, otherwise],
            InstKind::Switch { cases, otherwise, .. } => {
                cases.iter().map(|case| &case.1).chain([otherwise]).collect()
            }
            InstKind::Reduce(reduction) => reduction.regions(),
            InstKind::Group(group) => group.regions(),
            _ => Vec::new(),
        }
    }

    /// The regions directly inside, to be changed.
    pub fn regions_mut(&mut self) -> Vec<&mut Region> {
        match &mut self.kind {
            InstKind::Read(read) => read.default.iter_mut().collect(),
            InstKind::If { then, otherwise, .. } => vec![then, otherwise],
            InstKind::Switch { cases, otherwise, .. } => {
                cases.iter_mut().map(|case| &mut case.1).chain([otherwise]).collect()
            }
            InstKind::Reduce(reduction) => reduction.regions_mut(),
            InstKind::Group(group) => group.regions_mut(),
            _ => Vec::new(),
        }
    }

    /// The operands, without those inside nested regions.
    pub fn args(&self) -> Vec<&Arg> {
        match &self.kind {
            InstKind::Op(_, args)
            | InstKind::Call { args, .. }
            | InstKind::HostCall { args, .. } => args.iter().collect(),
            InstKind::Read(read) => read.place.args().collect(),
            InstKind::Deriv { of, by } => of.args().chain(by.args()).collect(),
            InstKind::If { condition: arg, .. }
            | InstKind::Switch { on: arg, .. }
            | InstKind::Param { value: arg, .. } => vec![arg],
            InstKind::Assert { condition, message } => {
                [condition].into_iter().chain(message.args()).collect()
            }
            InstKind::Trap { message, .. } => message.args().collect(),
            InstKind::Reduce(reduction) => reduction.start.args().iter().collect(),
            InstKind::Index(_) | InstKind::Group(_) | InstKind::Converged(_) => Vec::new(),
        }
    }

    /// The operands, to be changed, without those inside nested regions.
    pub fn args_mut(&mut self) -> Vec<&mut Arg> {
        match &mut self.kind {
            InstKind::Op(_, args)
            | InstKind::Call { args, .. }
            | InstKind::HostCall { args, .. } => args.iter_mut().collect(),
            InstKind::Read(read) => read.place.args_mut().collect(),
            InstKind::Deriv { of, by } => of.args_mut().chain(by.args_mut()).collect(),
            InstKind::If { condition: arg, .. }
            | InstKind::Switch { on: arg, .. }
            | InstKind::Param { value: arg, .. } => vec![arg],
            InstKind::Assert { condition, message } => {
                [condition].into_iter().chain(message.args_mut()).collect()
            }
            InstKind::Trap { message, .. } => message.args_mut().collect(),
            InstKind::Reduce(reduction) => reduction.start.args_mut().iter_mut().collect(),
            InstKind::Index(_) | InstKind::Group(_) | InstKind::Converged(_) => Vec::new(),
        }
    }

    /// The tensors that are read or passed, without those inside nested regions.
    pub fn tensors(&self) -> Vec<&Ident> {
        let places = match &self.kind {
            InstKind::Read(read) => vec![&read.place.tensor],
            InstKind::Deriv { of, by } => vec![&of.tensor, &by.tensor],
            _ => Vec::new(),
        };
        let passed = self.args().into_iter().filter_map(Arg::as_tensor);
        places.into_iter().chain(passed).collect()
    }
}

impl Place {
    fn args(&self) -> impl Iterator<Item = &Arg> {
        self.at.iter().filter_map(|subscript| match subscript {
            Subscript::Index(_) => None,
            Subscript::Value(arg) => Some(arg),
        })
    }

    fn args_mut(&mut self) -> impl Iterator<Item = &mut Arg> {
        self.at.iter_mut().filter_map(|subscript| match subscript {
            Subscript::Index(_) => None,
            Subscript::Value(arg) => Some(arg),
        })
    }
}

impl Start {
    /// The operands.
    pub fn args(&self) -> &[Arg] {
        match self {
            Start::Identity(args) | Start::Init(args) => args,
            Start::First => &[],
        }
    }

    fn args_mut(&mut self) -> &mut [Arg] {
        match self {
            Start::Identity(args) | Start::Init(args) => args,
            Start::First => &mut [],
        }
    }
}

impl Reduction {
    fn regions(&self) -> Vec<&Region> {
        let combine = match &self.combine {
            Combiner::Op(_) => None,
            Combiner::Region(region) => Some(region),
        };
        combine.into_iter().chain(&self.guard).chain([&self.body]).collect()
    }

    fn regions_mut(&mut self) -> Vec<&mut Region> {
        let combine = match &mut self.combine {
            Combiner::Op(_) => None,
            Combiner::Region(region) => Some(region),
        };
        combine.into_iter().chain(&mut self.guard).chain([&mut self.body]).collect()
    }
}

impl Group {
    /// Guards, bodies and the condition of the `until`.
    pub fn regions(&self) -> Vec<&Region> {
        let clauses = self.bindings.iter().flat_map(|binding| &binding.clauses);
        let clauses = clauses.flat_map(|clause| clause.guard.iter().chain([&clause.body]));
        clauses.chain(self.until.iter().map(|until| &until.condition)).collect()
    }

    /// Guards, bodies and the condition of the `until`, to be changed.
    pub fn regions_mut(&mut self) -> Vec<&mut Region> {
        let clauses = self.bindings.iter_mut().flat_map(|binding| &mut binding.clauses);
        let clauses = clauses.flat_map(|clause| clause.guard.iter_mut().chain([&mut clause.body]));
        clauses.chain(self.until.iter_mut().map(|until| &mut until.condition)).collect()
    }
}

impl Module {
    /// The outermost regions: those of functions and of groups.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        let functions = self.functions.iter().map(|function| &function.body);
        functions.chain(self.groups.iter().flat_map(Group::regions))
    }

    /// The outermost regions, to be changed.
    pub fn regions_mut(&mut self) -> impl Iterator<Item = &mut Region> {
        let functions = self.functions.iter_mut().map(|function| &mut function.body);
        functions.chain(self.groups.iter_mut().flat_map(Group::regions_mut))
    }

    /// Calls `visit` for every instruction of the module.
    pub fn for_each_inst(&self, visit: &mut dyn FnMut(&Inst)) {
        self.regions().for_each(|region| region.for_each_inst(visit));
    }

    /// Calls `visit` for every region of the module.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(&Region)) {
        self.regions().for_each(|region| region.for_each_region(visit));
    }
}
