//! Index scopes: opening indices, and settling what was collected when the outermost one closes.

use einlang_index::{MinMax, Range, Var};
use einlang_source::Span;

use super::Analyser;
use super::frame::{Frame, FrameIndex, IndexOwner, Mark};
use super::symbols::{Origin, Source};
use super::value::Shape;
use crate::errors;
use crate::hir::*;

impl<'p> Analyser<'p> {
    /// Runs `f` in a frame of its own if no index is in scope, and settles what it leaves.
    pub(super) fn closed<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        if !self.is_outermost() {
            return f(self);
        }
        let outer = std::mem::take(&mut self.frame);
        let result = f(self);
        self.settle(Mark::default());
        self.frame = outer;
        result
    }

    /// No index is in scope, and nothing around waits for more reads.
    pub(super) fn is_outermost(&self) -> bool {
        self.frame.scope.is_empty() && !self.frame.holding
    }

    pub(super) fn open_index(
        &mut self,
        name: &str,
        owner: IndexOwner,
        range: Option<Range<Span>>,
        output: bool,
        span: Span,
    ) -> Var {
        let var = self.symbols.index(name);
        let instance = self.cur;
        self.frame.scope.push(self.frame.indices.len());
        self.frame.indices.push(FrameIndex {
            var,
            owner,
            instance,
            range,
            inferred: false,
            output,
            span,
            silent: false,
        });
        var
    }

    /// Closes the scopes opened since, and settles the frame if they were the outermost ones.
    pub(super) fn close_scope(&mut self, n_before: usize, outermost: bool) {
        self.frame.scope.truncate(n_before);
        if outermost {
            self.settle(Mark::default());
        }
    }

    /// Opens the indices of a left side, a reduction or a coordinate call.
    pub(super) fn open_indices(&mut self, indices: &'p [Subscript], output: bool) -> Vec<Opened> {
        let mut opened = Vec::with_capacity(indices.len());
        for index in indices {
            match index {
                Subscript::Index(binder) => opened.push(self.open_binder(binder, output)),
                Subscript::Rest { local: Res::Local(rest), of, span } => {
                    opened.extend(self.open_rest(*rest, *of, output, *span));
                }
                Subscript::Expr(expr) => {
                    let shape = self.eval(*expr);
                    let value = self.as_integer(*expr, shape).unwrap_or_else(|| 0.into());
                    opened.push(Opened::Point(value));
                }
                Subscript::Rest { .. } | Subscript::All(_) => {}
            }
        }
        opened
    }

    fn open_binder(&mut self, binder: &'p IndexBinder, output: bool) -> Opened {
        let name = self.body()[binder.local].name;
        let range = self.written_range(binder);
        let text = self.text(name.name);
        let owner = IndexOwner::Local(binder.local);
        let position = self.frame.indices.len();
        let var = self.open_index(text, owner, range, output, name.span);
        self.bind(binder.local, Shape::Int(var.into()));
        Opened::Index(position)
    }

    /// `in range` or `: coordinate`; an open range ends where the recurrence does.
    fn written_range(&mut self, binder: &'p IndexBinder) -> Option<Range<Span>> {
        if let Some((name, res)) = binder.coordinate {
            if let Shape::Int(extent) = self.name_shape(res) {
                return Some(Range::new(0, extent, name.span));
            }
            return None;
        }
        let written = binder.range?;
        let span = self.span(written);
        let Shape::Range(ends) = self.eval(written) else {
            // A range that is a value: its ends are known when the program runs.
            let name = self.describe(self.body(), written);
            let start = self.run_time_bound(&format!("{name}.start"), binder.local, 0);
            let end = self.run_time_bound(&format!("{name}.end"), binder.local, 1);
            return Some(Range::new(start, end, span));
        };
        match (*ends, self.until.last().copied().flatten()) {
            ((start, Some(end)), _) => Some(Range::new(start, end, span)),
            ((start, None), Some(extent)) => {
                if let Some(start) = start.as_quasi() {
                    self.facts.at_most(start, &extent.into());
                }
                Some(Range::new(start, extent, span))
            }
            ((start, None), None) => {
                let name = self.text(self.body()[binder.local].name.name);
                self.report(errors::open_range(name, span));
                let end = self.run_time_bound(name, binder.local, 1);
                Some(Range::new(start, end, span))
            }
        }
    }

    /// A bound of a range that only a run knows.
    fn run_time_bound(&mut self, name: &str, local: LocalId, part: usize) -> Var {
        let source = Source::Local(self.cur, local);
        self.symbols.symbol(name, Origin::Value(source, vec![part]))
    }

    fn open_rest(
        &mut self,
        rest: LocalId,
        of: Option<ExprId>,
        output: bool,
        span: Span,
    ) -> Vec<Opened> {
        let name = self.text(self.body()[rest].name.name).to_owned();
        let given = of.map(|of| {
            let extents = self.eval(of).extents();
            (extents, self.span(of))
        });
        let Some(width) = self.rest_width(rest) else {
            if !self.is_uncalled() {
                self.report(errors::rest_undetermined(&name, span));
            }
            return vec![Opened::Unknown];
        };
        let mut opened = Vec::with_capacity(width);
        let mut vars = Vec::with_capacity(width);
        for axis in 0..width {
            let range = given.as_ref().and_then(|(extents, span)| {
                extents.get(axis).map(|extent| Range::new(0, extent.clone(), *span))
            });
            let text = if width == 1 { name.clone() } else { format!("{name}.{axis}") };
            opened.push(Opened::Index(self.frame.indices.len()));
            vars.push(self.open_index(&text, IndexOwner::Rest(rest, axis), range, output, span));
        }
        self.rest_vars.insert((self.cur, rest), vars);
        opened
    }

    /// Whether nothing calls the function around: the ranks of its arguments are unknown then.
    fn is_uncalled(&self) -> bool {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let typed = self.typed.instance(id);
            if typed.uncalled {
                return true;
            }
            at = typed.parent;
        }
        false
    }

    /// The indices of a rest that is in scope.
    pub(super) fn rest_indices(&self, rest: LocalId) -> Option<Vec<Var>> {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            if let Some(vars) = self.rest_vars.get(&(id, rest)) {
                return Some(vars.clone());
            }
            let typed = self.typed.instance(id);
            at = typed.parent.filter(|_| typed.lambda.is_some());
        }
        None
    }
}

/// What a slot or reduction index became.
#[derive(Clone, Debug)]
pub(super) enum Opened {
    /// An index, by position in the frame.
    Index(usize),
    /// One point.
    Point(MinMax),
    /// A rest that nothing determines.
    Unknown,
}

impl Frame {
    pub(super) fn mark(&self) -> Mark {
        Mark { indices: self.indices.len(), reads: self.reads.len(), accesses: self.accesses.len() }
    }
}
