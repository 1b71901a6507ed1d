//! Walks over expressions without types: what a statement reads, and what functions capture.

use einlang_source::map::{HashMap, HashSet};

use crate::hir::*;

/// The expressions directly below one, types left out.
pub(crate) fn children(kind: &ExprKind) -> Vec<ExprId> {
    let mut below = Vec::new();
    match kind {
        ExprKind::Error
        | ExprKind::Literal(_)
        | ExprKind::Name(_)
        | ExprKind::Last
        | ExprKind::Coordinate(_) => {}
        ExprKind::Format(parts) => {
            below.extend(parts.iter().filter_map(|part| match part {
                FormatPart::Value(value, _) => Some(*value),
                FormatPart::Text(_) => None,
            }));
        }
        ExprKind::Tuple(items) | ExprKind::Array(items) => below.extend(items),
        ExprKind::Comprehension { element, items } => {
            for item in items {
                let (CompItem::Generator(_, e) | CompItem::Binding(_, e) | CompItem::Condition(e)) =
                    item;
                below.push(*e);
            }
            below.push(*element);
        }
        ExprKind::Block(block) => {
            for statement in &block.statements {
                below.extend(statement_exprs(statement));
            }
            below.extend(block.value);
        }
        ExprKind::If { condition, then, otherwise } => {
            below.extend([*condition, *then]);
            below.extend(otherwise);
        }
        ExprKind::Match { scrutinee, arms } => {
            below.push(*scrutinee);
            for arm in arms {
                below.extend(arm.guard);
                below.push(arm.value);
            }
        }
        ExprKind::Lambda { body, .. } => below.push(*body),
        ExprKind::Unary(_, e)
        | ExprKind::Differential(e)
        | ExprKind::Cast(e, _)
        | ExprKind::Field(e, _)
        | ExprKind::Try(e) => below.push(*e),
        ExprKind::Binary(_, a, b)
        | ExprKind::AndThen(a, b)
        | ExprKind::OkThen(a, b)
        | ExprKind::OrElse(a, b)
        | ExprKind::Catch(a, b) => below.extend([*a, *b]),
        ExprKind::Range { start, end, .. } => {
            below.extend(start);
            below.extend(end);
        }
        ExprKind::Call { callee, args } => {
            below.push(*callee);
            below.extend(args.iter().map(|arg| arg.value));
        }
        ExprKind::Reduce { indices, body, .. } => {
            below.extend(subscript_exprs(indices));
            below.push(*body);
        }
        ExprKind::UserReduce { indices, init, combine, body } => {
            below.extend([*init, *combine]);
            below.extend(subscript_exprs(indices));
            below.push(*body);
        }
        ExprKind::CoordCall { callee, indices, args } => {
            below.push(*callee);
            below.extend(subscript_exprs(indices));
            below.extend(args.iter().map(|arg| arg.value));
        }
        ExprKind::Access { base, subscripts, default } => {
            below.push(*base);
            below.extend(subscript_exprs(subscripts));
            below.extend(default);
        }
        ExprKind::Struct { fields, .. } => below.extend(fields.iter().map(|(_, e)| *e)),
        ExprKind::With { base, updates } => {
            below.push(*base);
            for (subscripts, value) in updates {
                below.extend(subscript_exprs(subscripts));
                below.push(*value);
            }
        }
        ExprKind::Where { value, items, otherwise } => {
            for item in items {
                let (WhereItem::Binding(_, e) | WhereItem::Guard(e)) = item;
                below.push(*e);
            }
            below.push(*value);
            below.extend(otherwise);
        }
    }
    below
}

/// The expressions directly in a statement.
pub(crate) fn statement_exprs(statement: &Statement) -> Vec<ExprId> {
    match statement {
        Statement::Let { value, .. } => vec![*value],
        Statement::Clause(clause) => {
            let mut exprs = subscript_exprs(&clause.slots);
            exprs.push(clause.value);
            exprs.extend(clause.until.iter().flat_map(|until| [until.condition, until.max]));
            exprs
        }
        Statement::For { iterable, body, .. } => vec![*iterable, *body],
        Statement::Expr(value) => vec![*value],
    }
}

fn subscript_exprs(subscripts: &[Subscript]) -> Vec<ExprId> {
    subscripts
        .iter()
        .filter_map(|subscript| match subscript {
            Subscript::All(_) => None,
            Subscript::Index(binder) => binder.range,
            Subscript::Rest { of, .. } => *of,
            Subscript::Expr(value) => Some(*value),
        })
        .collect()
}

/// Calls `f` on an expression and everything below it.
pub(crate) fn visit(body: &Body, roots: Vec<ExprId>, f: &mut dyn FnMut(ExprId, &ExprKind)) {
    let mut open = roots;
    while let Some(expr) = open.pop() {
        let kind = body.kind(expr);
        f(expr, kind);
        open.extend(children(kind));
    }
}

/// The sizes and coordinates that the types in a statement name.
pub(crate) fn sizes(body: &Body, statement: &Statement) -> Vec<LocalId> {
    let mut found = Vec::new();
    if let Statement::Let { ty: Some(ty), .. } | Statement::Clause(Clause { ty: Some(ty), .. }) =
        statement
    {
        sizes_of_type(body, ty, &mut found);
    }
    visit(body, statement_exprs(statement), &mut |_, kind| {
        if let ExprKind::Cast(_, ty) = kind {
            sizes_of_type(body, ty, &mut found);
        }
    });
    found
}

fn sizes_of_type(body: &Body, ty: &TypeRef, found: &mut Vec<LocalId>) {
    match &ty.kind {
        TypeKind::Tensor(element, dims) => {
            sizes_of_type(body, element, found);
            for dim in dims {
                match dim {
                    Dim::Extent(Res::Local(local), _) => found.push(*local),
                    Dim::Expr(expr) => visit(body, vec![*expr], &mut |_, kind| {
                        if let ExprKind::Name(Res::Local(local)) = kind
                            && matches!(body[*local].kind, LocalKind::Extent(_))
                        {
                            found.push(*local);
                        }
                    }),
                    _ => {}
                }
            }
        }
        TypeKind::Tuple(parts) => parts.iter().for_each(|part| sizes_of_type(body, part, found)),
        _ => {}
    }
}

/// Whether an expression mentions one of the bindings.
pub(crate) fn mentions(body: &Body, root: ExprId, locals: &HashSet<LocalId>) -> bool {
    let mut found = false;
    visit(body, vec![root], &mut |_, kind| {
        found |= matches!(kind, ExprKind::Name(Res::Local(local)) if locals.contains(local));
    });
    found
}

/// The bindings a statement reads, through the functions it refers to as well.
pub(crate) fn reads(
    program: &Program,
    id: BodyId,
    statement: &Statement,
    captures: &Captures,
) -> HashSet<LocalId> {
    let body = &program.bodies[id];
    let mut found = HashSet::default();
    let mut defs = Vec::new();
    if let Statement::Clause(clause) = statement {
        for slot in &clause.slots {
            if let Subscript::Index(IndexBinder { shadows: Some(Res::Local(local)), .. }) = slot {
                found.insert(*local);
            }
        }
    }
    visit(body, statement_exprs(statement), &mut |_, kind| match kind {
        ExprKind::Name(Res::Local(local)) => {
            found.insert(*local);
        }
        ExprKind::Name(Res::Def(def)) => defs.push(*def),
        _ => {}
    });
    for def in defs {
        for (owner, local) in captures.of.get(&def).into_iter().flatten() {
            if *owner == id {
                found.insert(*local);
            }
        }
    }
    found
}

/// What functions capture, directly and through the functions they refer to.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    of: HashMap<DefId, HashSet<(BodyId, LocalId)>>,
}

impl Captures {
    pub(crate) fn new(program: &Program) -> Captures {
        let (mut of, mut refers) = (HashMap::default(), HashMap::default());
        for (id, def) in program.defs.iter() {
            let (DefKind::Fn(Function { body, .. }) | DefKind::Const(Const { body, .. })) =
                &def.kind
            else {
                continue;
            };
            let (mut captured, mut others) = (HashSet::default(), HashSet::default());
            let body = &program.bodies[*body];
            visit(body, body.value.into_iter().collect(), &mut |_, kind| match kind {
                ExprKind::Name(Res::Outer(body, local)) => {
                    captured.insert((*body, *local));
                }
                ExprKind::Name(Res::Def(other)) => {
                    others.insert(*other);
                }
                _ => {}
            });
            of.insert(id, captured);
            refers.insert(id, others);
        }
        let mut captures = Captures { of };
        captures.close(&refers);
        captures
    }

    fn close(&mut self, refers: &HashMap<DefId, HashSet<DefId>>) {
        loop {
            let mut changed = false;
            for (def, others) in refers {
                let mut more = HashSet::default();
                for other in others {
                    more.extend(self.of.get(other).into_iter().flatten().copied());
                }
                if let Some(own) = self.of.get_mut(def) {
                    let before = own.len();
                    own.extend(more);
                    changed |= own.len() > before;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
