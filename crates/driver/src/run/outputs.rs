//! The outputs of a program as the language sees them, and as JSON.
//!
//! Host values are a little plainer than the language: tensors of records come as tuples of
//! tensors, and tensors of strings as lists of lists. A [`Form`], made from the type, turns them
//! back.

use std::sync::Arc;
use std::time::Duration;

use einlang_interp::show::{json_of, json_text, show, type_of};
use einlang_interp::tensor::TensorValue;
use einlang_interp::value::{HostValue, NodeKind};
use einlang_loops::window::Given as SizeGiven;
use einlang_sema::hir::{DefId, DefKind, Program, Res, TypeKind, TypeRef};
use einlang_sema::types::Ty;
use einlang_source::Interner;
use einlang_tir::types::Ident;

/// Records inside records beyond this are shown as tuples.
const DEEPEST: usize = 32;

/// What a program gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The outputs in order.
    pub outputs: Vec<Output>,
    /// What is kept of each recurrent binding, as JSON, if somebody asked.
    pub storage: Option<String>,
    /// The integers and shapes among the inputs, on which that may depend.
    pub given: Vec<Option<SizeGiven>>,
    /// How long compiling took.
    pub compiled_in: Duration,
    /// How long the evaluation took.
    pub ran_in: Duration,
    /// The most bytes that values took at once.
    pub peak: u64,
}

/// One output.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name; `main` for the value of `main`.
    pub name: String,
    /// The type with its extents, as the language writes it.
    pub ty: String,
    /// The extents; none for what is no tensor.
    pub shape: Vec<usize>,
    /// The value.
    pub value: HostValue,
}

impl Output {
    /// Whether two lists of outputs are the same, bit for bit.
    pub fn all_same(one: &[Output], other: &[Output]) -> bool {
        let same = |(one, other): (&Output, &Output)| {
            one.name == other.name && one.value.has_bits_of(&other.value)
        };
        one.len() == other.len() && one.iter().zip(other).all(same)
    }
}

impl Outcome {
    /// The object that `run --json` prints.
    pub fn json(&self) -> String {
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|output| format!("{}: {}", json_text(&output.name), output.json()))
            .collect();
        format!(
            "{{\"outputs\": {{{}}}, \"storage\": {}, \"timings\": {{\"compile\": {:.6}, \"run\": {:.6}, \"peak_bytes\": {}}}}}",
            outputs.join(", "),
            self.storage.as_deref().unwrap_or("{}"),
            self.compiled_in.as_secs_f64(),
            self.ran_in.as_secs_f64(),
            self.peak,
        )
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }
}

impl Output {
    /// The object `{"type": …, "shape": …, "data": …}`.
    pub fn json(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!(
            "{{\"type\": {}, \"shape\": [{}], \"data\": {}}}",
            json_text(&self.ty),
            shape.join(", "),
            json_of(&self.value)
        )
    }

    /// The value as `print` shows it.
    pub fn text(&self) -> String {
        show(&self.value)
    }

    /// Whether the value says nothing.
    pub fn is_unit(&self) -> bool {
        let node = self.value.as_node();
        node.is_some_and(|node| node.kind == NodeKind::Tuple && node.items.is_empty())
    }
}

/// How the value of a type is shown.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The type as the language writes it; of a tensor of no numbers, its elements.
    ty: String,
    kind: FormKind,
}

#[derive(Clone, Debug)]
enum FormKind {
    /// As it comes.
    Plain,
    /// Nested lists with this many axes.
    Lists(usize),
    /// A tensor of records with this many axes.
    Records(usize, Record),
    /// A tuple or struct of values, some of which have a form.
    Parts(Vec<Form>),
}

/// A tuple or struct of numbers as it lies in a tensor.
#[derive(Clone, Debug)]
struct Record {
    /// The kind of the value, if it is a struct.
    of: Option<(Ident, Arc<[Ident]>)>,
    /// What its parts are, if they are records again.
    parts: Vec<Option<Record>>,
}

impl Form {
    /// The form of a type.
    pub(super) fn of(ty: &Ty, program: &Program, interner: &Interner) -> Form {
        let types = Types { program, interner };
        types.form(ty, 0)
    }

    /// An output with this value.
    pub(crate) fn output(&self, name: &str, value: HostValue) -> Output {
        let value = self.shown(value);
        let shape = match (&value, &self.kind) {
            (HostValue::Tensor(tensor), _) => tensor.shape().to_vec(),
            (value, FormKind::Lists(rank) | FormKind::Records(rank, _)) => extents_of(value, *rank),
            _ => Vec::new(),
        };
        let ty = match (&value, &self.kind) {
            (HostValue::Tensor(_) | HostValue::Scalar(_), _) => type_of(&value),
            (_, FormKind::Lists(_) | FormKind::Records(..)) => {
                let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
                format!("[{}; {}]", self.ty, extents.join(", "))
            }
            _ => self.ty.clone(),
        };
        Output { name: name.to_owned(), ty, shape, value }
    }

    /// The value with tensors of records as records of tensors.
    pub(super) fn columns(&self, value: HostValue) -> HostValue {
        match (&self.kind, &value) {
            (FormKind::Records(_, record), _) => record.named(value),
            (FormKind::Parts(forms), HostValue::Node(node)) if forms.len() == node.items.len() => {
                let items = node.items.iter().zip(forms);
                let items = items.map(|(item, form)| form.columns(item.clone()));
                HostValue::node(node.kind.clone(), items.collect())
            }
            _ => value,
        }
    }

    fn shown(&self, value: HostValue) -> HostValue {
        match (&self.kind, &value) {
            (FormKind::Records(rank, record), _) => record.points(&value, *rank).unwrap_or(value),
            (FormKind::Parts(forms), HostValue::Node(node)) if forms.len() == node.items.len() => {
                let items =
                    node.items.iter().zip(forms).map(|(item, form)| form.shown(item.clone()));
                HostValue::node(node.kind.clone(), items.collect())
            }
            _ => value,
        }
    }
}

/// The extents of nested lists, judged by the first items.
fn extents_of(value: &HostValue, rank: usize) -> Vec<usize> {
    (0..rank).map(|axis| value.list_extent(axis)).collect()
}

impl Record {
    fn kind(&self) -> NodeKind {
        match &self.of {
            Some((name, fields)) => NodeKind::Struct(name.clone(), fields.clone()),
            None => NodeKind::Tuple,
        }
    }

    /// One tensor for each number, under the names of the fields.
    fn named(&self, value: HostValue) -> HostValue {
        let HostValue::Node(node) = &value else { return value };
        let items = node.items.iter().zip(&self.parts).map(|(item, part)| match part {
            Some(record) => record.named(item.clone()),
            None => item.clone(),
        });
        HostValue::node(self.kind(), items.collect())
    }

    /// A tensor of records, given one tensor for each number, as nested lists of records.
    fn points(&self, value: &HostValue, rank: usize) -> Option<HostValue> {
        if rank == 0 {
            return self.point(value);
        }
        let n_rows = extent(value, 0)?;
        let rows = (0..n_rows).map(|at| self.points(&row(value, at)?, rank - 1));
        let below: Vec<usize> = (1..rank).filter_map(|axis| extent(value, axis)).collect();
        Some(HostValue::list_over(rows.collect::<Option<_>>()?, &below))
    }

    fn point(&self, value: &HostValue) -> Option<HostValue> {
        let items = &value.as_node()?.items;
        let part = |(item, part): (&HostValue, &Option<Record>)| match part {
            Some(record) => record.point(item),
            None => Some(unwrapped(item)),
        };
        let items: Vec<HostValue> =
            items.iter().zip(&self.parts).map(part).collect::<Option<_>>()?;
        Some(HostValue::node(self.kind(), items))
    }
}

/// A tensor without axes is a number.
fn unwrapped(value: &HostValue) -> HostValue {
    match value.as_tensor() {
        Some(tensor) if tensor.shape().is_empty() => match tensor.get(0) {
            Some(number) => number.into(),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

/// How long the tensors of a record are along an axis.
fn extent(value: &HostValue, axis: usize) -> Option<usize> {
    match value {
        HostValue::Tensor(tensor) => tensor.shape().get(axis).copied(),
        HostValue::Node(node) => node.items.first().and_then(|item| extent(item, axis)),
        _ => None,
    }
}

/// The values at one index of the first axis.
fn row(value: &HostValue, at: usize) -> Option<HostValue> {
    match value {
        HostValue::Tensor(tensor) => TensorValue::row(tensor, at).map(HostValue::tensor),
        HostValue::Node(node) => {
            let items = node.items.iter().map(|item| row(item, at));
            Some(HostValue::node(node.kind.clone(), items.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

struct Types<'p> {
    program: &'p Program,
    interner: &'p Interner,
}

impl Types<'_> {
    fn form(&self, ty: &Ty, depth: usize) -> Form {
        let shown = |ty: &Ty| ty.show(self.program, self.interner);
        match ty {
            _ if depth > DEEPEST => Form { ty: shown(ty), kind: FormKind::Plain },
            Ty::Tensor(element, extents) => {
                let rank = extents.len();
                let kind = match self.record(element, depth) {
                    Some(record) => FormKind::Records(rank, record),
                    None => FormKind::Lists(rank),
                };
                Form { ty: shown(element), kind }
            }
            Ty::Tuple(parts) => {
                let forms = parts.iter().map(|part| self.form(part, depth + 1)).collect();
                Form { ty: shown(ty), kind: FormKind::Parts(forms) }
            }
            _ => Form { ty: shown(ty), kind: FormKind::Plain },
        }
    }

    /// The record that an element type is.
    fn record(&self, ty: &Ty, depth: usize) -> Option<Record> {
        match ty {
            Ty::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.record(part, depth + 1)).collect();
                Some(Record { of: None, parts })
            }
            Ty::Struct(def, args) => self.struct_record(*def, args, depth),
            _ => None,
        }
    }

    fn struct_record(&self, def: DefId, args: &[Ty], depth: usize) -> Option<Record> {
        let DefKind::Struct(item) = &self.program.def(def).kind else { return None };
        if depth > DEEPEST {
            return None;
        }
        let name = |name| Ident::new(self.interner.resolve(name));
        let names = item.fields.iter().map(|field| name(field.name.name)).collect();
        let parts = item.fields.iter().map(|field| self.written(&field.ty, args, depth + 1));
        let of = Some((name(self.program.def(def).name.name), names));
        Some(Record { of, parts: parts.collect() })
    }

    /// The record that the type of a field is, as it is written.
    fn written(&self, ty: &TypeRef, args: &[Ty], depth: usize) -> Option<Record> {
        match &ty.kind {
            TypeKind::Param(at) => self.record(args.get(*at as usize)?, depth),
            TypeKind::Named(Res::Def(def), _) => self.struct_record(*def, &[], depth),
            TypeKind::Tuple(parts) if depth <= DEEPEST => {
                let parts = parts.iter().map(|part| self.written(part, args, depth + 1)).collect();
                Some(Record { of: None, parts })
            }
            _ => None,
        }
    }
}
