//! What names stand for where an expression is read, and the lines that were written.

use std::collections::{HashMap, HashSet};

use einlang_source::Interner;

use super::math::Math;
use crate::hir::{Body, BodyId, DefKind, ExprId, LocalId, Program, Res};
use crate::types::{InstanceId, Ty, Typed};

/// So many calls and blocks are written out; further ones stay differentials of their own.
const MAX_EXPANDED: usize = 100;

/// Writes differentials as equations.
pub(crate) struct Writer<'p> {
    pub(super) program: &'p Program,
    pub(super) typed: &'p Typed,
    pub(super) interner: &'p Interner,
    pub(super) lines: Vec<String>,
    /// What has its lines already.
    pub(super) done: HashSet<String>,
    /// The names that mean something in the text.
    pub(super) taken: HashSet<String>,
    /// The body of what is printed, and the names that it binds once: they stay as they are.
    pub(super) root: Option<BodyId>,
    pub(super) unique: HashSet<String>,
    /// The calls that are being written out.
    pub(super) open: Vec<InstanceId>,
    n_expanded: usize,
}

/// Where an expression is read.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) body: BodyId,
    pub(super) instance: InstanceId,
    /// Parameters and bindings of calls that are written out.
    pub(super) named: HashMap<LocalId, Meaning>,
    /// `@x` in a rule is a value: the change of the argument.
    pub(super) rule: bool,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    pub(super) value: Math,
    pub(super) change: Math,
}

impl<'p> Writer<'p> {
    /// A writer for the differentials of one program.
    pub(crate) fn new(
        program: &'p Program,
        typed: &'p Typed,
        interner: &'p Interner,
    ) -> Writer<'p> {
        Writer {
            program,
            typed,
            interner,
            lines: Vec::new(),
            done: HashSet::new(),
            taken: HashSet::new(),
            root: None,
            unique: HashSet::new(),
            open: Vec::new(),
            n_expanded: 0,
        }
    }

    /// Whether one more call or block may be written out.
    pub(super) fn may_expand(&mut self) -> bool {
        self.n_expanded += 1;
        self.n_expanded <= MAX_EXPANDED
    }

    pub(super) fn body(&self, scope: &Scope) -> &'p Body {
        &self.program.bodies[scope.body]
    }

    pub(super) fn ty(&self, scope: &Scope, expr: ExprId) -> &'p Ty {
        self.typed.instance(scope.instance).expr(expr)
    }

    pub(super) fn spelling(&self, name: einlang_source::Name) -> &'p str {
        self.interner.resolve(name)
    }

    pub(super) fn local_text(&self, scope: &Scope, local: LocalId) -> String {
        self.spelling(self.body(scope)[local].name.name).to_owned()
    }

    /// A name for a binding that is not in the text yet.
    pub(super) fn fresh(&mut self, scope: &Scope, local: LocalId) -> String {
        let mut name = self.local_text(scope, local);
        if self.root == Some(scope.body) && self.unique.remove(&name) {
            return name;
        }
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    /// The value of a name.
    pub(super) fn name(&self, scope: &Scope, res: Res) -> Math {
        if let Res::Local(local) = res
            && let Some(meaning) = scope.named.get(&local)
        {
            return meaning.value.clone();
        }
        Math::atom(self.res_text(scope, res))
    }

    pub(super) fn res_text(&self, scope: &Scope, res: Res) -> String {
        let text = match res {
            Res::Local(local) => return self.local_text(scope, local),
            Res::Outer(body, local) => self.program.bodies[body][local].name.name,
            Res::Def(def) => self.program.def(def).name.name,
            Res::Variant(def, at) => match &self.program.def(def).kind {
                DefKind::Enum(item) => match item.variants.get(at as usize) {
                    Some(variant) => variant.name.name,
                    None => return "…".to_owned(),
                },
                _ => return "…".to_owned(),
            },
            Res::Builtin(builtin) => return builtin.to_string(),
            Res::Python(path) => path,
            Res::Module(_) | Res::External | Res::Error => return "…".to_owned(),
        };
        self.spelling(text).to_owned()
    }

    /// The differential of a name.
    pub(super) fn name_change(&self, scope: &Scope, res: Res, ty: &Ty) -> Math {
        if let Res::Local(local) = res
            && let Some(meaning) = scope.named.get(&local)
        {
            return meaning.change.clone();
        }
        let is_constant = match res {
            Res::Def(def) => !matches!(self.program.def(def).kind, DefKind::Input(_)),
            Res::Local(_) | Res::Outer(..) => false,
            _ => true,
        };
        match is_constant || !self.has_floats(ty) {
            true => Math::zero(),
            false => Math::atom(format!("@{}", self.res_text(scope, res))),
        }
    }

    /// Whether a value of this type can change.
    pub(super) fn has_floats(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Scalar(scalar) => scalar.is_float(),
            Ty::Tensor(element, _) | Ty::Jagged(element, _) | Ty::Differential(element) => {
                self.has_floats(element)
            }
            Ty::Tuple(parts) => parts.iter().any(|part| self.has_floats(part)),
            Ty::Struct(..) => true,
            _ => false,
        }
    }
}
