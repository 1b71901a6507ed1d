//! The result of the pass, as plain data.

use einlang_source::map::HashMap;

use einlang_source::{IdMap, Name};

use super::layout::{Coordinate, Layout};
use crate::hir::{Expr, ExprId, Local, LocalId};
use crate::types::InstanceId;

/// The number of a variant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariantId(pub(super) u32);

impl VariantId {
    /// The position among the variants.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The layouts of a program.
#[derive(Debug, Default)]
pub struct Coords {
    /// One per instance and layouts of its arguments.
    pub variants: Vec<Variant>,
    /// The variants of each instance that the program reaches.
    pub of_instance: HashMap<InstanceId, Vec<VariantId>>,
}

/// An instance with the layouts it has for one kind of arguments.
#[derive(Debug, Default)]
pub struct Variant {
    /// The instance.
    pub instance: Option<InstanceId>,
    /// The variant that captured bindings belong to.
    pub parent: Option<VariantId>,
    /// The layouts of the parameters, as the inside sees them.
    pub params: Vec<Layout>,
    /// The layout of the value, as the inside sees it.
    pub ret: Layout,
    /// The layouts of expressions; one that is missing has no axes.
    pub exprs: IdMap<Expr, Layout>,
    /// The layouts of bindings; one that is missing has no axes.
    pub locals: IdMap<Local, Layout>,
    /// The coordinate that each index ranges over.
    pub indices: HashMap<LocalId, Option<Coordinate>>,
    /// The coordinates that each rest stands for.
    pub rests: HashMap<LocalId, Vec<Option<Coordinate>>>,
    /// The coordinates that each reduction consumes, in the order of its indices.
    pub consumed: HashMap<ExprId, Vec<Coordinate>>,
    /// The operands of each expression that lack coordinates of the whole, and which.
    pub broadcasts: HashMap<ExprId, Vec<Broadcast>>,
    /// What each call calls.
    pub calls: HashMap<ExprId, VariantId>,
    /// For each coordinate call, the index at which each axis of the function's result is read;
    /// none where the axis stays whole.
    pub read_at: HashMap<ExprId, Vec<Option<LocalId>>>,
    /// The binding whose definition contains each reduction and broadcast.
    pub binding_of: HashMap<ExprId, LocalId>,
    /// Something that runs reaches it; the others were tried on the way.
    pub reached: bool,
}

/// An operand without some coordinates of the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broadcast {
    /// The operand.
    pub operand: ExprId,
    /// The tensors that it reads.
    pub tensors: Vec<Name>,
    /// The coordinates that it lacks, in the order of their names.
    pub missing: Vec<Coordinate>,
}

impl Coords {
    /// The variant behind an id.
    pub fn variant(&self, id: VariantId) -> &Variant {
        &self.variants[id.index()]
    }

    /// The layout of a binding in all variants of an instance: a name that they do not share is
    /// left out, because code is made once per instance.
    pub fn local(&self, instance: InstanceId, local: LocalId) -> Layout {
        self.in_all(instance, |variant| variant.locals.get(&local))
    }

    /// The layout of an expression in all variants of an instance.
    pub fn expr(&self, instance: InstanceId, expr: ExprId) -> Layout {
        self.in_all(instance, |variant| variant.exprs.get(&expr))
    }

    /// The index at which each result axis of a coordinate call is read. All variants agree.
    pub fn read_at(&self, instance: InstanceId, call: ExprId) -> Option<&[Option<LocalId>]> {
        let mut variants = self.of_instance.get(&instance)?.iter();
        variants.find_map(|id| self.variant(*id).read_at.get(&call)).map(Vec::as_slice)
    }

    fn in_all<'a>(
        &'a self,
        instance: InstanceId,
        layout: impl Fn(&'a Variant) -> Option<&'a Layout>,
    ) -> Layout {
        let variants = self.of_instance.get(&instance).into_iter().flatten();
        let found = variants.filter_map(|id| layout(self.variant(*id)));
        let common = found.fold(None, |common: Option<Layout>, layout| {
            Some(common.map_or_else(|| layout.clone(), |common| common.common(layout)))
        });
        common.unwrap_or_default()
    }
}
