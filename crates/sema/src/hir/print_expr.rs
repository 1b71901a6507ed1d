//! Statements, expressions and patterns as text; see `print`.

use super::print::Printer;
use super::*;

impl Printer<'_> {
    pub(super) fn statement(&self, body: &Body, statement: &Statement) -> String {
        match statement {
            Statement::Let { pattern, value, .. } => {
                format!("let {} = {}", self.pattern(body, pattern), self.expr(body, *value))
            }
            Statement::Clause(clause) => self.clause(body, clause),
            Statement::For { pattern, iterable, body: inner } => format!(
                "for {} in {} {}",
                self.pattern(body, pattern),
                self.expr(body, *iterable),
                self.expr(body, *inner)
            ),
            Statement::Expr(expr) => self.expr(body, *expr),
        }
    }

    fn clause(&self, body: &Body, clause: &Clause) -> String {
        let targets: Vec<String> = clause.targets.iter().map(|t| self.local(body, *t)).collect();
        let slots = self.subscripts(body, &clause.slots);
        let value = self.expr(body, clause.value);
        let until = clause.until.map_or(String::new(), |until| {
            let (condition, max) = (self.expr(body, until.condition), self.expr(body, until.max));
            format!(" until {condition}, max {max}")
        });
        format!("clause {}[{slots}] = {value}{until}", targets.join(", "))
    }

    pub(super) fn expr(&self, body: &Body, expr: ExprId) -> String {
        let list = |exprs: &[ExprId]| self.exprs(body, exprs);
        let one = |expr: &ExprId| self.expr(body, *expr);
        match body.kind(expr) {
            ExprKind::Error => "<error>".to_string(),
            ExprKind::Literal(literal) => literal_text(literal),
            ExprKind::Format(parts) => self.format_parts(body, parts),
            ExprKind::Name(res) => self.res(Some(body), *res),
            ExprKind::Last => "last".to_string(),
            ExprKind::Coordinate(name) => format!("coordinate {}", self.name(name.name)),
            ExprKind::Tuple(elements) => format!("({})", list(elements)),
            ExprKind::Array(elements) => format!("[{}]", list(elements)),
            ExprKind::Comprehension { element, items } => self.comprehension(body, *element, items),
            ExprKind::Block(block) => self.block(body, block),
            ExprKind::If { condition, then, otherwise } => {
                let otherwise = otherwise.map_or(String::new(), |e| format!(" {}", one(&e)));
                format!("(if {} {}{otherwise})", one(condition), one(then))
            }
            ExprKind::Match { scrutinee, arms } => self.match_text(body, *scrutinee, arms),
            ExprKind::Lambda { params, body: value } => {
                let params: Vec<String> =
                    params.iter().map(|param| self.pattern(body, &param.pattern)).collect();
                format!("(|{}| {})", params.join(", "), one(value))
            }
            ExprKind::Unary(op, operand) => format!("({op:?} {})", one(operand)),
            ExprKind::Differential(operand) => format!("(@ {})", one(operand)),
            ExprKind::Binary(op, left, right) => format!("({op:?} {} {})", one(left), one(right)),
            ExprKind::Range { start, end, inclusive } => {
                let side = |side: &Option<ExprId>| side.as_ref().map_or(String::new(), one);
                format!("{}{}{}", side(start), if *inclusive { "..=" } else { ".." }, side(end))
            }
            ExprKind::Cast(value, _) => format!("(as {})", one(value)),
            ExprKind::Call { callee, args } => {
                format!("{}({})", one(callee), self.args(body, args))
            }
            ExprKind::Reduce { op, indices, body: value } => {
                let indices = self.subscripts(body, indices);
                format!("{}[{indices}]({})", op.as_str(), one(value))
            }
            ExprKind::UserReduce { indices, init, combine, body: value } => {
                let indices = self.subscripts(body, indices);
                format!("reduce[{indices}]({}, {})({})", one(init), one(combine), one(value))
            }
            ExprKind::CoordCall { callee, indices, args } => {
                let indices = self.subscripts(body, indices);
                format!("coordcall {}[{indices}]({})", one(callee), self.args(body, args))
            }
            ExprKind::Access { base, subscripts, default } => {
                let default = default.map_or(String::new(), |e| format!(" else {}", one(&e)));
                format!("{}[{}{default}]", one(base), self.subscripts(body, subscripts))
            }
            ExprKind::Field(base, field) => format!("{}.{}", one(base), self.name(field.name)),
            ExprKind::Struct { res, fields } => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| format!("{}: {}", self.name(name.name), one(value)));
                format!(
                    "{} {{ {} }}",
                    self.res(Some(body), *res),
                    fields.collect::<Vec<_>>().join(", ")
                )
            }
            ExprKind::AndThen(left, right) => format!("(?> {} {})", one(left), one(right)),
            ExprKind::OkThen(left, right) => format!("(!> {} {})", one(left), one(right)),
            ExprKind::OrElse(left, right) => format!("(else {} {})", one(left), one(right)),
            ExprKind::Catch(left, right) => format!("(catch {} {})", one(left), one(right)),
            ExprKind::Try(inner) => format!("(try {})", one(inner)),
            ExprKind::With { base, updates } => {
                let updates = updates.iter().map(|(subscripts, value)| {
                    format!("[{}] = {}", self.subscripts(body, subscripts), one(value))
                });
                format!("({} with {})", one(base), updates.collect::<Vec<_>>().join(", "))
            }
            ExprKind::Where { value, items, otherwise } => {
                let items = items.iter().map(|item| match item {
                    WhereItem::Binding(local, value) => {
                        format!("{} = {}", self.local(body, *local), one(value))
                    }
                    WhereItem::Guard(guard) => one(guard),
                });
                let items = items.collect::<Vec<_>>().join(", ");
                let otherwise = otherwise.map_or(String::new(), |e| format!(" else {}", one(&e)));
                format!("({} where {items}{otherwise})", one(value))
            }
        }
    }

    fn exprs(&self, body: &Body, exprs: &[ExprId]) -> String {
        exprs.iter().map(|expr| self.expr(body, *expr)).collect::<Vec<_>>().join(", ")
    }

    fn args(&self, body: &Body, args: &[Arg]) -> String {
        let args = args.iter().map(|arg| match arg.name {
            Some(name) => format!("{} = {}", self.name(name.name), self.expr(body, arg.value)),
            None => self.expr(body, arg.value),
        });
        args.collect::<Vec<_>>().join(", ")
    }

    fn block(&self, body: &Body, block: &Block) -> String {
        let mut parts: Vec<String> =
            block.statements.iter().map(|statement| self.statement(body, statement)).collect();
        parts.extend(block.value.map(|value| self.expr(body, value)));
        format!("{{ {} }}", parts.join("; "))
    }

    fn comprehension(&self, body: &Body, element: ExprId, items: &[CompItem]) -> String {
        let items = items.iter().map(|item| match item {
            CompItem::Generator(pattern, iterable) => {
                format!("{} in {}", self.pattern(body, pattern), self.expr(body, *iterable))
            }
            CompItem::Binding(local, value) => {
                format!("{} = {}", self.local(body, *local), self.expr(body, *value))
            }
            CompItem::Condition(condition) => self.expr(body, *condition),
        });
        format!("[{} | {}]", self.expr(body, element), items.collect::<Vec<_>>().join(", "))
    }

    fn match_text(&self, body: &Body, scrutinee: ExprId, arms: &[Arm]) -> String {
        let arms = arms.iter().map(|arm| {
            let guard =
                arm.guard.map_or(String::new(), |g| format!(" where {}", self.expr(body, g)));
            format!("{}{guard} => {}", self.pattern(body, &arm.pattern), self.expr(body, arm.value))
        });
        let arms = arms.collect::<Vec<_>>().join(", ");
        format!("(match {} {{ {arms} }})", self.expr(body, scrutinee))
    }

    fn format_parts(&self, body: &Body, parts: &[FormatPart]) -> String {
        let parts = parts.iter().map(|part| match part {
            FormatPart::Text(text) => format!("{text:?}"),
            FormatPart::Value(value, _) => self.expr(body, *value),
        });
        format!("(format {})", parts.collect::<Vec<_>>().join(" "))
    }

    fn subscripts(&self, body: &Body, subscripts: &[Subscript]) -> String {
        let subscripts = subscripts.iter().map(|subscript| match subscript {
            Subscript::All(_) => ":".to_string(),
            Subscript::Rest { local, of, .. } => {
                let of = of.map_or(String::new(), |of| format!(": {}", self.expr(body, of)));
                format!("..{}{of}", self.res(Some(body), *local))
            }
            Subscript::Expr(expr) => self.expr(body, *expr),
            Subscript::Index(binder) => self.binder(body, binder),
        });
        subscripts.collect::<Vec<_>>().join(", ")
    }

    fn binder(&self, body: &Body, binder: &IndexBinder) -> String {
        let range =
            binder.range.map_or(String::new(), |range| format!(" in {}", self.expr(body, range)));
        let coordinate = binder
            .coordinate
            .map_or(String::new(), |(name, _)| format!(": {}", self.name(name.name)));
        format!("index {}{coordinate}{range}", self.local(body, binder.local))
    }

    pub(super) fn pattern(&self, body: &Body, pattern: &Pattern) -> String {
        let list = |patterns: &[Pattern]| {
            patterns.iter().map(|p| self.pattern(body, p)).collect::<Vec<_>>()
        };
        match &pattern.kind {
            PatternKind::Error => "<error>".to_string(),
            PatternKind::Wildcard => "_".to_string(),
            PatternKind::Bind(local, inner) => {
                let inner = inner
                    .as_ref()
                    .map_or(String::new(), |p| format!(" @ {}", self.pattern(body, p)));
                format!("{}{inner}", self.local(body, *local))
            }
            PatternKind::Literal(literal) => literal_text(literal),
            PatternKind::Range { start, end, inclusive } => {
                let dots = if *inclusive { "..=" } else { ".." };
                let end = end.as_ref().map_or(String::new(), literal_text);
                format!("{}{dots}{end}", literal_text(start))
            }
            PatternKind::Or(alternatives) => list(alternatives).join(" | "),
            PatternKind::Tuple(elements) => format!("({})", list(elements).join(", ")),
            PatternKind::Array(elements) => format!("[{}]", list(elements).join(", ")),
            PatternKind::Rest(local) => {
                format!("..{}", local.map_or(String::new(), |local| self.local(body, local)))
            }
            PatternKind::Struct { res, fields, open } => {
                let mut fields: Vec<String> = fields
                    .iter()
                    .map(|(name, p)| format!("{}: {}", self.name(name.name), self.pattern(body, p)))
                    .collect();
                fields.extend(open.then(|| "..".to_string()));
                format!("{} {{ {} }}", self.res(Some(body), *res), fields.join(", "))
            }
            PatternKind::Variant(res, elements) => {
                format!("{}({})", self.res(Some(body), *res), list(elements).join(", "))
            }
            PatternKind::Value(res) => self.res(Some(body), *res),
            PatternKind::Typed(inner, _) => self.pattern(body, inner),
        }
    }
}

fn literal_text(literal: &Literal) -> String {
    let suffixed = |text: String, suffix: &Option<String>| match suffix {
        Some(suffix) => format!("{text}{suffix}"),
        None => text,
    };
    match literal {
        Literal::Int(value, suffix) => suffixed(value.to_string(), suffix),
        Literal::Float(value, suffix) => suffixed(format!("{value:?}"), suffix),
        Literal::Bool(value) => value.to_string(),
        Literal::Str(text) => format!("{text:?}"),
    }
}
