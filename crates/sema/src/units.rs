//! The units that analysis is memoised by: the items of modules, and the statements of each module.
//!
//! A unit knows its text and which other units it refers to. What a check found about a unit holds
//! as long as its text, the units its names lead to, and the interfaces of those stay what they are.

use einlang_source::map::HashMap;
use std::collections::BTreeSet;

use einlang_source::{Interner, Sources, Span};

use crate::hir::*;
use crate::shapes::{Reveal, Shapes};
use crate::types::{Instance, Typed};

/// What a unit is in one program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnitId {
    /// The statements of a module.
    Module(ModuleId),
    /// An item at the top of a module, with everything written inside it.
    Item(DefId),
}

/// A unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it is in this program.
    pub id: UnitId,
    /// A name that stays the same from one version of a program to the next.
    pub key: String,
    /// Where it is written: one piece for an item, what lies between the items for a module.
    pub pieces: Vec<Span>,
    /// The units that its names lead to.
    pub reads: Vec<UnitId>,
    /// It belongs to the standard library.
    pub library: bool,
}

/// The units of a program, those of the root module first.
pub fn units(program: &Program, interner: &Interner, sources: &Sources) -> Vec<Unit> {
    let mut items: HashMap<ModuleId, Vec<DefId>> = HashMap::default();
    for (id, def) in program.defs.iter().filter(|(_, def)| def.inside.is_none()) {
        items.entry(def.module).or_default().push(id);
    }
    let reads = Reads::new(program);
    let mut units = Vec::new();
    for (id, module) in program.modules.iter() {
        let path = module_path(program, interner, id);
        let mut own = items.remove(&id).unwrap_or_default();
        own.sort_by_key(|def| program.def(*def).span.start);
        let mut seen: HashMap<String, usize> = HashMap::default();
        let mut spans = Vec::new();
        for def in own {
            let item = program.def(def);
            let name = interner.resolve(item.name.name);
            let count = seen.entry(name.to_owned()).or_insert(0);
            *count += 1;
            let key = format!("{path}::{name}#{count}");
            spans.push(item.span);
            let (id, reads) = (UnitId::Item(def), reads.of(UnitId::Item(def)));
            units.push(Unit { id, key, pieces: vec![item.span], reads, library: module.library });
        }
        let whole = Span::new(module.file, 0, sources.text(module.file).len() as u32);
        let pieces = between(whole, &spans);
        let id = UnitId::Module(id);
        units.push(Unit { id, key: path, pieces, reads: reads.of(id), library: module.library });
    }
    units
}

fn module_path(program: &Program, interner: &Interner, id: ModuleId) -> String {
    let mut names = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let module = &program.modules[id];
        names.push(module.name.map_or("crate", |name| interner.resolve(name.name)));
        at = module.parent;
    }
    names.reverse();
    names.join("::")
}

/// What is left of a text without some parts of it.
fn between(whole: Span, parts: &[Span]) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut at = whole.start;
    for part in parts.iter().filter(|part| part.file == whole.file) {
        if part.start > at {
            pieces.push(Span::new(whole.file, at, part.start));
        }
        at = at.max(part.end);
    }
    if whole.end > at {
        pieces.push(Span::new(whole.file, at, whole.end));
    }
    pieces
}

/// What each unit refers to.
struct Reads {
    of: HashMap<UnitId, BTreeSet<UnitId>>,
}

impl Reads {
    fn new(program: &Program) -> Reads {
        let owners = Owners::new(program);
        let mut of: HashMap<UnitId, BTreeSet<UnitId>> = HashMap::default();
        for (id, body) in program.bodies.iter() {
            let Some(unit) = owners.of_body(id) else { continue };
            let found = of.entry(unit).or_default();
            each_res(program, body, &mut |res| {
                let target = match res {
                    Res::Def(def) | Res::Variant(def, _) => owners.of_def(def),
                    Res::Outer(body, _) => owners.of_body(body),
                    _ => None,
                };
                found.extend(target.filter(|target| *target != unit));
            });
        }
        Reads { of }
    }

    fn of(&self, unit: UnitId) -> Vec<UnitId> {
        self.of.get(&unit).into_iter().flatten().copied().collect()
    }
}

/// Which unit a body or item belongs to.
struct Owners<'p> {
    program: &'p Program,
}

impl<'p> Owners<'p> {
    fn new(program: &'p Program) -> Owners<'p> {
        Owners { program }
    }

    fn of_def(&self, def: DefId) -> Option<UnitId> {
        match self.program.def(def).inside {
            Some(body) => self.of_body(body),
            None => Some(UnitId::Item(def)),
        }
    }

    fn of_body(&self, body: BodyId) -> Option<UnitId> {
        match self.program.bodies.get(body)?.owner {
            Owner::Module(module) => Some(UnitId::Module(module)),
            Owner::Def(def) => self.of_def(def),
        }
    }
}

/// Calls `f` for every name of a body: in expressions, types and patterns.
fn each_res(program: &Program, body: &Body, f: &mut dyn FnMut(Res)) {
    for param in &body.params {
        param.ty.iter().for_each(|ty| type_res(ty, f));
        pattern_res(&param.pattern, f);
    }
    body.ret.iter().for_each(|ty| type_res(ty, f));
    if let Owner::Def(def) = body.owner {
        item_res(&program.def(def).kind, f);
    }
    for expr in body.exprs.values() {
        match &expr.kind {
            ExprKind::Name(res) | ExprKind::Struct { res, .. } => f(*res),
            ExprKind::Cast(_, ty) => type_res(ty, f),
            ExprKind::Lambda { params, .. } => {
                for param in params {
                    param.ty.iter().for_each(|ty| type_res(ty, f));
                    pattern_res(&param.pattern, f);
                }
            }
            ExprKind::Match { arms, .. } => {
                arms.iter().for_each(|arm| pattern_res(&arm.pattern, f));
            }
            ExprKind::Block(block) => {
                for statement in &block.statements {
                    match statement {
                        Statement::Let { pattern, ty, .. } => {
                            pattern_res(pattern, f);
                            ty.iter().for_each(|ty| type_res(ty, f));
                        }
                        Statement::Clause(clause) => {
                            clause.ty.iter().for_each(|ty| type_res(ty, f));
                        }
                        Statement::For { pattern, .. } => pattern_res(pattern, f),
                        Statement::Expr(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
}

fn item_res(item: &DefKind, f: &mut dyn FnMut(Res)) {
    match item {
        DefKind::Rule(rule) => f(rule.target),
        DefKind::Const(constant) => constant.ty.iter().for_each(|ty| type_res(ty, f)),
        DefKind::Input(input) => type_res(&input.ty, f),
        DefKind::Fn(_) | DefKind::Struct(_) | DefKind::Enum(_) => {}
    }
}

fn type_res(ty: &TypeRef, f: &mut dyn FnMut(Res)) {
    match &ty.kind {
        TypeKind::Named(res, args) => {
            f(*res);
            args.iter().for_each(|ty| type_res(ty, f));
        }
        TypeKind::Tensor(element, dims) => {
            type_res(element, f);
            for dim in dims {
                if let Dim::Extent(res, _) = dim {
                    f(*res);
                }
            }
        }
        TypeKind::Jagged(element, _) => type_res(element, f),
        TypeKind::Tuple(parts) => parts.iter().for_each(|ty| type_res(ty, f)),
        TypeKind::Fn(params, ret) => {
            params.iter().for_each(|ty| type_res(ty, f));
            type_res(ret, f);
        }
        TypeKind::Error | TypeKind::Scalar(_) | TypeKind::Param(_) => {}
    }
}

fn pattern_res(pattern: &Pattern, f: &mut dyn FnMut(Res)) {
    match &pattern.kind {
        PatternKind::Struct { res, fields, .. } => {
            f(*res);
            fields.iter().for_each(|(_, part)| pattern_res(part, f));
        }
        PatternKind::Variant(res, parts) => {
            f(*res);
            parts.iter().for_each(|part| pattern_res(part, f));
        }
        PatternKind::Value(res) => f(*res),
        PatternKind::Bind(_, Some(inner)) => pattern_res(inner, f),
        PatternKind::Typed(inner, ty) => {
            pattern_res(inner, f);
            type_res(ty, f);
        }
        PatternKind::Or(parts) | PatternKind::Tuple(parts) | PatternKind::Array(parts) => {
            parts.iter().for_each(|part| pattern_res(part, f));
        }
        _ => {}
    }
}

/// What others can see of a checked unit: its types, extents and entry checks. Nothing for what is
/// specialised for each use, whose text is its interface. `reveals` are those of the program.
pub fn interface(
    unit: UnitId,
    program: &Program,
    typed: &Typed,
    shapes: &Shapes,
    interner: &Interner,
    reveals: &[Reveal],
) -> Option<String> {
    let body = match unit {
        UnitId::Module(module) => program.modules[module].body?,
        UnitId::Item(def) => match &program.def(def).kind {
            DefKind::Fn(function) if is_declared(&program.bodies[function.body]) => function.body,
            _ => return None,
        },
    };
    let mut found = typed.ids().filter(|id| {
        let instance = typed.instance(*id);
        instance.body == body && instance.lambda.is_none()
    });
    let (id, None) = (found.next()?, found.next()) else { return None };
    let instance: &Instance = typed.instance(id);
    let shape = shapes.instance(id);
    let mut text = String::new();
    if let UnitId::Item(_) = unit {
        let types = instance.params.iter().chain([&instance.ret]);
        text.extend(types.map(|ty| ty.show(program, interner) + ";"));
        shape.ret.for_each_extent(&mut |extent| text.push_str(&shapes.symbols.show(extent)));
    } else {
        for found in reveals.iter().filter(|found| found.body == body) {
            text.push_str(&format!("{}: {};", found.name, found.text));
        }
    }
    for check in shape.checks.iter().filter(|check| !check.conditional) {
        let sides = [&check.left, &check.right].map(|side| shapes.symbols.show(side));
        text.push_str(&format!("check {} = {};", sides[0], sides[1]));
    }
    Some(text)
}

/// Whether a function has one instance whatever its arguments are.
fn is_declared(body: &Body) -> bool {
    let plain = |ty: &TypeRef| {
        let mut one = true;
        each_dim(ty, &mut |dim| one &= !matches!(dim, Dim::Rest(..) | Dim::AnyRank(_)));
        one && !matches!(ty.kind, TypeKind::Fn(..) | TypeKind::Param(_) | TypeKind::Error)
    };
    body.generics.is_empty()
        && body.coordinates.is_empty()
        && body.ret.as_ref().is_some_and(plain)
        && body.params.iter().all(|param| param.ty.as_ref().is_some_and(plain))
        && !body.exprs.values().any(|expr| matches!(expr.kind, ExprKind::Error))
}

fn each_dim(ty: &TypeRef, f: &mut dyn FnMut(&Dim)) {
    match &ty.kind {
        TypeKind::Tensor(element, dims) => {
            dims.iter().for_each(&mut *f);
            each_dim(element, f);
        }
        TypeKind::Tuple(parts) | TypeKind::Named(_, parts) => {
            parts.iter().for_each(|part| each_dim(part, f));
        }
        _ => {}
    }
}

/// Which units are checked; everything they need is looked at on the way.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    units: Option<BTreeSet<UnitId>>,
}

impl Roots {
    /// Everything.
    pub fn all() -> Roots {
        Roots::default()
    }

    /// These units.
    pub fn only(units: impl IntoIterator<Item = UnitId>) -> Roots {
        Roots { units: Some(units.into_iter().collect()) }
    }

    pub(crate) fn has_module(&self, module: ModuleId) -> bool {
        self.units.as_ref().is_none_or(|units| units.contains(&UnitId::Module(module)))
    }

    pub(crate) fn has_item(&self, program: &Program, def: DefId) -> bool {
        let Some(units) = &self.units else { return true };
        Owners::new(program).of_def(def).is_some_and(|unit| units.contains(&unit))
    }
}
