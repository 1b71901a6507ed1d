//! Undecided types: literals that still wait for their context, and types that nothing has said
//! anything about yet.
//!
//! A variable is bound to a type or to an *older* variable, so that what is new at a statement and
//! still unbound after it belongs to that statement alone. Bindings are logged, so that a trial
//! can be undone.

use super::ty::{Ty, VarId};
use crate::hir::Scalar;

/// What is known about an undecided type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    /// Nothing.
    Any,
    /// An integer literal: any number type.
    Int,
    /// A float literal: any float type.
    Float,
}

#[derive(Clone, Debug)]
enum Slot {
    Free(Kind),
    Bound(Ty),
}

/// All undecided types of a program.
#[derive(Debug, Default)]
pub(super) struct Vars {
    slots: Vec<Slot>,
    log: Vec<(VarId, Slot)>,
    /// How many trials are open.
    trials: u32,
}

/// A type that keeps what was known about its undecided parts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frozen {
    ty: Ty,
    kinds: Vec<(VarId, Kind)>,
}

impl Frozen {
    pub(super) fn ty(&self) -> &Ty {
        &self.ty
    }
}

/// A point to go back to.
pub(super) struct Mark {
    log: usize,
}

impl Vars {
    pub(super) fn fresh(&mut self, kind: Kind) -> Ty {
        self.slots.push(Slot::Free(kind));
        Ty::Var(VarId(self.slots.len() as u32 - 1))
    }

    /// The number of variables so far; later ones are newer.
    pub(super) fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Follows bindings until a type or a free variable.
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(var) = ty {
            match self.slots.get(var.0 as usize) {
                Some(Slot::Bound(bound)) => ty = bound,
                _ => break,
            }
        }
        ty.clone()
    }

    /// Follows bindings everywhere in the type.
    pub(super) fn deep(&self, ty: &Ty) -> Ty {
        self.shallow(ty).map(&mut |part| match part {
            Ty::Var(_) => {
                let found = self.shallow(part);
                Some(if matches!(found, Ty::Var(_)) { found } else { self.deep(&found) })
            }
            // Binding an element to a tensor moves its axes into the tensor around.
            Ty::Tensor(element, extents) => Some(Ty::tensor(self.deep(element), extents.clone())),
            _ => None,
        })
    }

    /// The type with literals decided by default, and what stays unknown as an error.
    pub(super) fn settled(&self, ty: &Ty) -> Ty {
        self.deep(ty).map(&mut |part| match part {
            Ty::Var(var) => Some(default(self.kind(*var))),
            Ty::Unknown => Some(Ty::Error),
            _ => None,
        })
    }

    pub(super) fn kind(&self, var: VarId) -> Kind {
        match self.slots.get(var.0 as usize) {
            Some(Slot::Free(kind)) => *kind,
            _ => Kind::Any,
        }
    }

    /// What a type is as an undecided literal.
    pub(super) fn literal(&self, ty: &Ty) -> Option<Kind> {
        match self.shallow(ty) {
            Ty::Var(var) if self.kind(var) != Kind::Any => Some(self.kind(var)),
            _ => None,
        }
    }

    fn set(&mut self, var: VarId, slot: Slot) {
        let old = std::mem::replace(&mut self.slots[var.0 as usize], slot);
        if self.trials > 0 {
            self.log.push((var, old));
        }
    }

    /// Makes two free variables one; the older stays.
    pub(super) fn merge(&mut self, a: VarId, b: VarId) -> Ty {
        let (older, newer) = (a.min(b), a.max(b));
        if older != newer {
            let kind = self.kind(a).max(self.kind(b));
            self.set(older, Slot::Free(kind));
            self.set(newer, Slot::Bound(Ty::Var(older)));
        }
        Ty::Var(older)
    }

    /// Decides a free variable, unless the type cannot be what is known about it.
    pub(super) fn bind(&mut self, var: VarId, ty: &Ty) -> bool {
        let fits = match self.kind(var) {
            Kind::Any => !self.deep(ty).any(&|part| *part == Ty::Var(var)),
            Kind::Int => matches!(ty, Ty::Scalar(scalar) if scalar.is_number()),
            Kind::Float => matches!(ty, Ty::Scalar(scalar) if scalar.is_float()),
        };
        if fits {
            self.set(var, Slot::Bound(ty.without_extents()));
        }
        fits
    }

    /// Makes an integer literal a float literal. False when the type is no literal.
    pub(super) fn promote(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Var(var) if self.kind(var) != Kind::Any => {
                self.set(var, Slot::Free(Kind::Float));
                true
            }
            _ => false,
        }
    }

    /// Decides the literals that are newer than `first`.
    pub(super) fn default_since(&mut self, first: u32) {
        for index in first..self.count() {
            if let Slot::Free(kind @ (Kind::Int | Kind::Float)) = self.slots[index as usize] {
                self.set(VarId(index), Slot::Bound(default(kind)));
            }
        }
    }

    /// Decides the literals in one type.
    pub(super) fn default_in(&mut self, ty: &Ty) -> Ty {
        let mut free = Vec::new();
        let ty = self.deep(ty);
        ty.map(&mut |part| {
            if let Ty::Var(var) = part {
                free.push(*var);
            }
            None
        });
        for var in free {
            if let kind @ (Kind::Int | Kind::Float) = self.kind(var) {
                self.set(var, Slot::Bound(default(kind)));
            }
        }
        self.deep(&ty)
    }

    /// The type with what is known about its undecided parts, to outlive a trial or a default.
    pub(super) fn freeze(&self, ty: &Ty) -> Frozen {
        let (ty, mut kinds) = (self.deep(ty), Vec::new());
        ty.map(&mut |part| {
            if let Ty::Var(var) = part {
                kinds.push((*var, self.kind(*var)));
            }
            None
        });
        Frozen { ty, kinds }
    }

    /// The undecided types in some types, each once, in order.
    pub(super) fn free_in(&self, types: &[Ty]) -> Vec<VarId> {
        let mut free: Vec<VarId> = Vec::new();
        for (var, _) in self.freeze(&Ty::Tuple(types.to_vec())).kinds {
            if !free.contains(&var) {
                free.push(var);
            }
        }
        free
    }

    /// Some types as one, equal for types that differ in the names of their variables alone.
    pub(super) fn freeze_alike(&self, types: &[Ty]) -> Frozen {
        let free = self.free_in(types);
        let number = |var: VarId| free.iter().position(|other| *other == var);
        let renamed = |var: VarId| VarId(number(var).map_or(u32::MAX, |number| number as u32));
        let kinds = free.iter().map(|var| (renamed(*var), self.kind(*var))).collect();
        let ty = self.deep(&Ty::Tuple(types.to_vec())).map(&mut |part| match part {
            Ty::Var(var) => Some(Ty::Var(renamed(*var))),
            _ => None,
        });
        Frozen { ty, kinds }
    }

    /// A frozen type with new variables.
    pub(super) fn thaw(&mut self, frozen: &Frozen) -> Ty {
        let mut fresh: Vec<(VarId, Ty)> = Vec::new();
        for (var, kind) in &frozen.kinds {
            if fresh.iter().all(|(old, _)| old != var) {
                fresh.push((*var, self.fresh(*kind)));
            }
        }
        frozen.ty.map(&mut |part| match part {
            Ty::Var(var) => fresh.iter().find(|(old, _)| old == var).map(|(_, new)| new.clone()),
            _ => None,
        })
    }

    pub(super) fn begin_trial(&mut self) -> Mark {
        self.trials += 1;
        Mark { log: self.log.len() }
    }

    /// What follows is no part of the open trials, until [`Self::resume`].
    pub(super) fn suspend(&mut self) -> u32 {
        std::mem::take(&mut self.trials)
    }

    pub(super) fn resume(&mut self, trials: u32) {
        self.trials = trials;
    }

    /// Undoes every binding since the mark.
    pub(super) fn end_trial(&mut self, mark: Mark) {
        while self.log.len() > mark.log {
            if let Some((var, old)) = self.log.pop() {
                self.slots[var.0 as usize] = old;
            }
        }
        self.trials = self.trials.saturating_sub(1);
    }
}

fn default(kind: Kind) -> Ty {
    match kind {
        Kind::Any => Ty::Error,
        Kind::Int => Ty::Scalar(Scalar::I32),
        Kind::Float => Ty::Scalar(Scalar::F32),
    }
}
