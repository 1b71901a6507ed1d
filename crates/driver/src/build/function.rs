//! The C function around the kernels of one public function.

mod branch;
mod own;

use std::collections::HashMap;

use einlang_interp::native::Native;
use einlang_interp::stop::StopCode;
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::plan::{Choices, plan};
use einlang_sema::lower::Lowered;
use einlang_source::Sources;
use einlang_tir::host::{
    Effect, FormatPart, HostArg, HostFn, HostInst, HostKind, HostType, Intrinsic, TypeDecl,
};
use einlang_tir::types::{Elem, Ident, Loc};

use super::exports::Export;
use super::words::Text;
use super::{MAX_AXES, kernel, scalar};

/// How many calls of functions outside of tensors are put in place.
const MOST_CALLS: usize = 200;

/// Types of C whose names begin with what could be the name of a library.
const TYPES: &[&str] = &[
    "einlang_tensor",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "ptrdiff_t",
    "size_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "wchar_t",
];

/// What was made of the functions so far.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The names in C.
    pub(super) names: Vec<String>,
    pub(super) prototypes: Vec<String>,
    pub(super) functions: String,
    pub(super) objects: Vec<(String, Vec<u8>)>,
    pub(super) frame: Option<&'static [&'static str]>,
}

/// A value of the host code.
#[derive(Clone, Debug)]
enum Val {
    /// An expression of a scalar type.
    Scalar(String, Elem),
    /// The position among the tensors of the function.
    Tensor(usize, Elem, usize),
    /// Parts.
    Tuple(Vec<Val>),
    /// A variant of an enum: its number, and the fields of each that it can be.
    Variant(Ident, String, Vec<Option<Vec<Val>>>),
    /// Elements of a tensor that is written out.
    List(Vec<Val>),
    /// What a message says.
    Text(Text),
}

/// A function that is being translated.
pub(super) struct Function<'a> {
    export: &'a Export,
    lowered: &'a Lowered,
    sources: &'a Sources,
    /// The name in C, with which those of its kernels begin.
    name: String,
    library: String,
    values: HashMap<u32, Val>,
    n_tensors: usize,
    n_scalars: usize,
    n_calls: usize,
    n_kernels: usize,
    /// How deep enums lie in each other where there is room for one.
    nesting: usize,
    /// The functions of the program that are functions in C, with their names there.
    own: HashMap<Ident, String>,
    /// How deep the calls are nested, as an expression.
    depth: &'static str,
    /// The declarations of those functions, and they themselves.
    declared: String,
    defined: String,
    /// Types and names of parameters: for users, and where they may not collide with others.
    params: Vec<(String, String, String)>,
    results: Vec<String>,
    body: String,
    ending: String,
    kernels: String,
    objects: Vec<(String, Vec<u8>)>,
    frame: Option<&'static [&'static str]>,
}

type Result<T> = std::result::Result<T, String>;

impl<'a> Function<'a> {
    pub(super) fn new(
        library: &str,
        export: &'a Export,
        lowered: &'a Lowered,
        sources: &'a Sources,
    ) -> Function<'a> {
        let spelled = export.name.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '_' => c.to_string(),
            c => format!("u{:x}", u32::from(c)),
        });
        Function {
            export,
            lowered,
            sources,
            name: format!("{library}_{}", spelled.collect::<String>()),
            library: library.to_owned(),
            values: HashMap::new(),
            n_tensors: 0,
            n_scalars: 0,
            n_calls: 0,
            n_kernels: 0,
            nesting: 0,
            own: HashMap::new(),
            depth: "0",
            declared: String::new(),
            defined: String::new(),
            params: Vec::new(),
            results: Vec::new(),
            body: String::new(),
            ending: String::new(),
            kernels: String::new(),
            objects: Vec::new(),
            frame: None,
        }
    }

    /// Translates the entry of the program, or says why it cannot be.
    pub(super) fn translate(&mut self, native: &Native, made: &Made) -> Result<()> {
        if made.names.contains(&self.name) {
            return Err(format!("another function is called `{}` in C", self.name));
        }
        let program = &self.lowered.program;
        let entry = program.functions.iter().find(|f| Some(&f.name) == program.entry.as_ref());
        let entry = entry.ok_or("the program has no entry")?;
        if self.export.name == "release" {
            return Err("the function that releases results has its name".to_owned());
        }
        if TYPES.contains(&self.name.as_str()) {
            return Err(format!("`{}` is a type in C", self.name));
        }
        for (at, param) in entry.body.params.iter().enumerate() {
            let name = self.export.params.get(at).map_or(format!("arg_{at}"), |p| p.name.clone());
            let value = self.param(&name, &param.ty)?;
            self.values.insert(param.number, value);
        }
        for inst in &entry.body.insts {
            self.inst(inst, native)?;
        }
        let at =
            self.lowered.outputs.iter().position(|output| output.name == super::exports::RESULT);
        let result = at.and_then(|at| Some((entry.body.results.get(at)?, entry.results.get(at)?)));
        let (value, ty) = result.ok_or("it gives nothing")?;
        let value = self.value(value)?;
        let flat = self.flatten(&value, ty)?;
        if flat.is_empty() {
            return Err("it gives nothing".to_owned());
        }
        let single = flat.len() == 1;
        for (at, part) in flat.into_iter().enumerate() {
            let name = if single { "out".to_owned() } else { format!("out_{at}") };
            self.result(&name, &part);
        }
        Ok(())
    }

    /// A parameter, or those for the parts of a record.
    fn param(&mut self, name: &str, ty: &HostType) -> Result<Val> {
        let parts: Vec<(String, HostType)> = match ty {
            HostType::Scalar(elem) => {
                let (_, inside) = self.add_param(name, scalar::c_type(*elem));
                return Ok(Val::Scalar(inside, *elem));
            }
            HostType::Tensor(elem, rank) if *rank <= MAX_AXES => {
                let (name, inside) = self.add_param(name, "const einlang_tensor *");
                let at = self.tensor();
                let (tag, size) = (scalar::tag(*elem), elem.bits() / 8);
                self.body += &format!(
                    "    if (given({inside}, \"{name}\", {tag}, {rank}, {size}, &t[{at}], message, \
                     message_size)) goto done;\n"
                );
                return Ok(Val::Tensor(at, *elem, *rank));
            }
            HostType::Tensor(..) => return Err(format!("`{name}` has more than {MAX_AXES} axes")),
            HostType::Tuple(types) => {
                let numbered = types.iter().enumerate();
                numbered.map(|(at, ty)| (format!("{name}_{at}"), ty.clone())).collect()
            }
            HostType::Struct(of) => {
                let fields = self.fields(of).iter();
                fields.map(|(field, ty)| (format!("{name}_{field}"), ty.clone())).collect()
            }
            other => return Err(format!("`{name}` is neither a scalar nor a tensor but {other}")),
        };
        let parts = parts.iter().map(|(name, ty)| self.param(name, ty));
        Ok(Val::Tuple(parts.collect::<Result<_>>()?))
    }

    /// A parameter of a type: its names for users and inside.
    fn add_param(&mut self, name: &str, ty: &str) -> (String, String) {
        let inside = format!("arg_{}", self.params.len());
        let taken = self.params.iter().any(|param| param.1 == name);
        let spelled = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let name = if taken || !spelled { inside.clone() } else { name.to_owned() };
        self.params.push((ty.to_owned(), name.clone(), inside.clone()));
        (name, inside)
    }

    /// The fields of a struct with their types.
    fn fields(&self, name: &Ident) -> &'a [(Ident, HostType)] {
        let of = self.lowered.program.types.iter().find_map(|decl| match decl {
            TypeDecl::Struct { name: of, fields } if of == name => Some(&fields[..]),
            _ => None,
        });
        of.unwrap_or_default()
    }

    fn tensor(&mut self) -> usize {
        self.n_tensors += 1;
        self.n_tensors - 1
    }

    fn value(&self, arg: &HostArg) -> Result<Val> {
        match arg {
            HostArg::Const(value) => Ok(Val::Scalar(scalar::constant(*value), value.elem())),
            HostArg::Str(text) => Ok(Val::Text(Text::plain(text))),
            HostArg::Value(number) => {
                let missing = || "it uses a value that is not there".to_owned();
                self.values.get(number).cloned().ok_or_else(missing)
            }
        }
    }

    fn values(&self, args: &[HostArg]) -> Result<Vec<Val>> {
        args.iter().map(|arg| self.value(arg)).collect()
    }

    fn inst(&mut self, inst: &HostInst, native: &Native) -> Result<()> {
        let value = match &inst.kind {
            HostKind::Run(module, args) => return self.run(inst, module.as_str(), args, native),
            HostKind::Call(name, args) => return self.call(inst, name, args, native),
            HostKind::If(condition, then, otherwise) => {
                let Val::Scalar(condition, _) = self.value(condition)? else {
                    return Err("it branches on what is no truth value".to_owned());
                };
                let sides = [(format!("if ({condition})"), then), ("else".to_owned(), otherwise)];
                return self.branch(inst, &sides, native);
            }
            HostKind::Match(on, arms, otherwise) => {
                return self.matched(inst, on, (arms, otherwise.as_ref()), native);
            }
            HostKind::Variant(of, name, args) => {
                let variants = self.variants(of);
                let at = variants.iter().position(|variant| variant.name == *name);
                let at = at.ok_or("a variant that is not there")?;
                let mut fields = vec![None; variants.len()];
                fields[at] = Some(self.values(args)?);
                Val::Variant(of.clone(), at.to_string(), fields)
            }
            HostKind::Switch(on, cases, otherwise) => {
                let Val::Scalar(on, _) = self.value(on)? else {
                    return Err("it matches what is no number".to_owned());
                };
                let mut sides = Vec::new();
                for (number, case) in cases {
                    let again = if sides.is_empty() { "" } else { "else " };
                    sides.push((format!("{again}if ((int64_t){on} == INT64_C({number}))"), case));
                }
                let last = if sides.is_empty() { "" } else { "else" };
                sides.push((last.to_owned(), otherwise));
                return self.branch(inst, &sides, native);
            }
            HostKind::Tuple(args) | HostKind::Struct(_, args) => Val::Tuple(self.values(args)?),
            HostKind::Field(of, at) => match self.value(of)? {
                Val::Tuple(parts) => parts.get(*at).cloned().ok_or("a field that is not there")?,
                _ => return Err("it takes a field of what has none".to_owned()),
            },
            HostKind::Op(op, args) => {
                let (mut texts, mut elems) = (Vec::new(), Vec::new());
                for value in self.values(args)? {
                    let Val::Scalar(text, of) = value else {
                        return Err(format!("it applies `{}` outside of tensors", op.name()));
                    };
                    elems.push(of);
                    texts.push(text);
                }
                let [result] = inst.results.as_slice() else { return Err("no result".to_owned()) };
                let HostType::Scalar(to) = result.ty else { return Err("no scalar".to_owned()) };
                let missing =
                    || format!("`{}` outside of tensors is not there for C yet", op.name());
                let text = scalar::operation(*op, &elems, to, &texts).ok_or_else(missing)?;
                let elem = elems.first().copied().unwrap_or(to);
                if let Some((holds, said)) = scalar::demand(*op, elem, &texts) {
                    let (before, after) = said.split_once("%s").unwrap_or((said, ""));
                    let shown = match after {
                        "" => Text::default(),
                        _ => Text::number(&texts[0], elem, "").then(Text::plain(after)),
                    };
                    let text = Text::plain(before).then(shown);
                    let stop = self.stopped(inst.loc, StopCode::Division, text);
                    self.body += &format!("    if (!({holds}))\n{stop}");
                }
                self.define(to, &text)
            }
            HostKind::Intrinsic(what, args) => self.intrinsic(inst, *what, args)?,
            HostKind::List(args) => Val::List(self.values(args)?),
            HostKind::Format(parts) => Val::Text(self.text(parts)?),
            HostKind::Fail(trap, text) => {
                let Val::Text(text) = self.value(text)? else { return Err(reason(&inst.kind)) };
                self.body += &self.stopped(inst.loc, StopCode::of_trap(*trap), text);
                return Ok(());
            }
            HostKind::Trap(trap, text) => {
                let code = StopCode::of_trap(*trap);
                self.body += &self.stopped(inst.loc, code, Text::plain(text));
                return Ok(());
            }
            HostKind::Assert(condition, text) => {
                let Val::Scalar(condition, _) = self.value(condition)? else {
                    return Err("it asserts what is no truth value".to_owned());
                };
                let text = Text::plain(&format!("assertion failed: {text}"));
                let stop = self.stopped(inst.loc, StopCode::Assertion, text);
                self.body += &format!("    if (!{condition})\n{stop}");
                return Ok(());
            }
            other => return Err(reason(other)),
        };
        if let [result] = inst.results.as_slice() {
            self.values.insert(result.number, value);
        }
        Ok(())
    }

    /// The statement that ends the function with a message.
    fn stopped(&self, loc: Loc, code: StopCode, text: Text) -> String {
        let place = kernel::place(loc, self.sources, self.export);
        Text::plain(&(place + &kernel::coded(code, ""))).then(text).stop()
    }

    fn text(&self, parts: &[FormatPart]) -> Result<Text> {
        let mut all = Text::default();
        for part in parts {
            all = all.then(match part {
                FormatPart::Text(text) => Text::plain(text),
                FormatPart::Value(arg, format) => match self.value(arg)? {
                    Val::Scalar(text, elem) => Text::number(&text, elem, format),
                    Val::Text(text) => text,
                    _ => Text::plain("…"),
                },
            });
        }
        Ok(all)
    }

    /// The tensor whose elements are written out.
    fn written_out(&mut self, list: &Val, ty: &HostType) -> Result<Val> {
        let HostType::Tensor(elem, rank) = *ty else { return Err("it makes a list".to_owned()) };
        let (mut shape, mut level) = (Vec::with_capacity(rank), vec![list.clone()]);
        for _ in 0..rank {
            let mut rows = Vec::with_capacity(level.len());
            for value in level {
                let Val::List(items) = value else { return Err("it makes a list".to_owned()) };
                rows.push(items);
            }
            let n = rows.first().map_or(0, Vec::len);
            if rows.iter().any(|row| row.len() != n) {
                return Err("it makes a list of lists that differ in length".to_owned());
            }
            shape.push(n);
            level = rows.into_iter().flatten().collect();
        }
        let (at, ty) = (self.tensor(), scalar::c_type(elem));
        let room = level.len().max(1);
        self.body += &format!(
            "    t[{at}].data = malloc({room} * sizeof({ty}));\n    if (!t[{at}].data) {{ fail(message, \
             message_size, \"there is not enough memory\"); goto done; }}\n    t[{at}].owned = 1;\n"
        );
        for (axis, n) in shape.iter().enumerate() {
            self.body += &format!("    t[{at}].shape[{axis}] = {n};\n");
        }
        for (place, value) in level.iter().enumerate() {
            let Val::Scalar(text, _) = value else { return Err("it makes a list".to_owned()) };
            self.body += &format!("    (({ty} *)t[{at}].data)[{place}] = {text};\n");
        }
        Ok(Val::Tensor(at, elem, rank))
    }

    /// Puts the body of a function in place of a call; one that calls itself is called.
    fn call(
        &mut self,
        inst: &HostInst,
        name: &Ident,
        args: &[HostArg],
        native: &Native,
    ) -> Result<()> {
        let callee = self.callee(name)?;
        if own::calls_itself(&self.lowered.program, callee) {
            return self.call_own(inst, callee, args, native);
        }
        self.n_calls += 1;
        if self.n_calls > MOST_CALLS {
            return Err("it calls too many functions outside of tensors".to_owned());
        }
        for (param, value) in callee.body.params.iter().zip(self.values(args)?) {
            self.values.insert(param.number, value);
        }
        for inner in &callee.body.insts {
            self.inst(inner, native)?;
        }
        for (result, value) in inst.results.iter().zip(self.values(&callee.body.results)?) {
            self.values.insert(result.number, value);
        }
        Ok(())
    }

    fn callee(&self, name: &Ident) -> Result<&'a HostFn> {
        let callee = self.lowered.program.functions.iter().find(|function| function.name == *name);
        callee.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A variable for a scalar.
    fn define(&mut self, elem: Elem, text: &str) -> Val {
        self.n_scalars += 1;
        let number = self.n_scalars;
        self.body += &format!("    {} v{number} = {text};\n", scalar::c_type(elem));
        Val::Scalar(format!("v{number}"), elem)
    }

    fn intrinsic(&mut self, inst: &HostInst, what: Intrinsic, args: &[HostArg]) -> Result<Val> {
        let to = match inst.results.first().map(|result| &result.ty) {
            Some(HostType::Scalar(elem)) => Some(*elem),
            _ => None,
        };
        match (what, self.values(args)?.as_slice(), to) {
            (Intrinsic::Element, [Val::Tensor(at, elem, 0)], Some(_)) => {
                let text = format!("*({} *)t[{at}].data", scalar::c_type(*elem));
                Ok(self.define(*elem, &text))
            }
            (Intrinsic::Extent, [Val::Tensor(at, _, rank), _], Some(to)) => {
                let axis = match &args[1] {
                    HostArg::Const(axis) => axis.as_int().and_then(|a| usize::try_from(a).ok()),
                    _ => None,
                };
                let axis = axis.filter(|axis| axis < rank).ok_or("it asks for a computed axis")?;
                let text = format!("({})t[{at}].shape[{axis}]", scalar::c_type(to));
                Ok(self.define(to, &text))
            }
            (Intrinsic::Scalar, [Val::Scalar(text, elem)], _) => {
                let at = self.tensor();
                let ty = scalar::c_type(*elem);
                self.body += &format!(
                    "    t[{at}].data = malloc(sizeof({ty}));\n    if (!t[{at}].data) {{ fail(message, \
                     message_size, \"there is not enough memory\"); goto done; }}\n    t[{at}].owned = 1;\n    \
                     *({ty} *)t[{at}].data = {text};\n"
                );
                Ok(Val::Tensor(at, *elem, 0))
            }
            (Intrinsic::ListToTensor, [list @ Val::List(_)], _) => {
                let ty = inst.results.first().map(|result| &result.ty);
                self.written_out(list, ty.ok_or("no result")?)
            }
            (Intrinsic::Show, [Val::Scalar(text, elem)], _) => {
                Ok(Val::Text(Text::number(text, *elem, "")))
            }
            (Intrinsic::Show, [Val::Text(text)], _) => Ok(Val::Text(text.clone())),
            (Intrinsic::Concat, [Val::Text(a), Val::Text(b)], _) => {
                Ok(Val::Text(a.clone().then(b.clone())))
            }
            (Intrinsic::Print, ..) => Err("it prints".to_owned()),
            _ if what.effect() == Effect::World => Err("it reads or writes files".to_owned()),
            _ => Err(format!("it does `{}` outside of tensors", what.name())),
        }
    }

    /// Calls a kernel.
    fn run(
        &mut self,
        inst: &HostInst,
        module: &str,
        args: &[HostArg],
        native: &Native,
    ) -> Result<()> {
        let name = format!("{}${}", self.name, self.n_kernels);
        self.n_kernels += 1;
        let of = self.lowered.program.modules.iter().find(|of| of.name == module);
        let choices = Choices { checkpoint: Checkpoint::None, ..Choices::default() };
        let planned = plan(of.ok_or("tensor code is missing")?, &choices);
        let planned = planned.map_err(|not| format!("its tensor code has no loops: {not}"))?;
        let object = native.0.object(&planned.kernel, &name)?;
        let calls = self.service(&object.calls, &name, native)?;
        let names = (name.as_str(), calls.as_str());
        self.kernels += &kernel::describe(&planned, &object, names, self.sources, self.export)?;
        self.frame = Some(object.frame);
        let (mut inputs, mut numbers) = (String::new(), String::new());
        for value in self.values(args)? {
            match value {
                Val::Tensor(at, ..) => inputs += &format!("&t[{at}], "),
                Val::Scalar(text, _) => numbers += &format!("(int64_t){text}, "),
                Val::Tuple(_) | Val::Variant(..) | Val::List(_) | Val::Text(_) => {
                    return Err("it passes a record to tensor code".to_owned());
                }
            }
        }
        let mut outputs = String::new();
        for result in &inst.results {
            let HostType::Tensor(elem, rank) = result.ty else {
                return Err("tensor code gives what is no tensor".to_owned());
            };
            let at = self.tensor();
            outputs += &format!("&t[{at}], ");
            self.values.insert(result.number, Val::Tensor(at, elem, rank));
        }
        let depth = self.depth;
        self.body += &format!(
            "    {{\n        tensor *const inputs[] = {{{inputs}0}};\n        const int64_t numbers[] = \
             {{{numbers}0}};\n        tensor *const outputs[] = {{{outputs}0}};\n        \
             if (runKernel(&{name}$info, {depth}, inputs, numbers, outputs, message, message_size)) goto done;\n    }}\n"
        );
        self.objects.push((name, object.code));
        Ok(())
    }

    /// The scalars and tensors of a value, in order.
    fn flatten(&self, value: &Val, ty: &HostType) -> Result<Vec<Val>> {
        let types: Vec<HostType> = match ty {
            HostType::Tuple(types) => types.clone(),
            HostType::Struct(name) => self.fields(name).iter().map(|f| f.1.clone()).collect(),
            HostType::Scalar(_) => return Ok(vec![value.clone()]),
            HostType::Tensor(_, rank) if *rank <= MAX_AXES => return Ok(vec![value.clone()]),
            HostType::Tensor(..) => return Err(format!("a result has more than {MAX_AXES} axes")),
            other => return Err(format!("it gives {other}")),
        };
        let Val::Tuple(parts) = value else {
            return Err("it gives a record as a whole".to_owned());
        };
        let mut flat = Vec::new();
        for (part, ty) in parts.iter().zip(&types) {
            flat.extend(self.flatten(part, ty)?);
        }
        Ok(flat)
    }

    fn result(&mut self, name: &str, value: &Val) {
        match value {
            Val::Scalar(text, elem) => {
                self.results.push(format!("{} *{name}", scalar::c_type(*elem)));
                self.body += &format!("    *{name} = {text};\n");
            }
            Val::Tensor(at, elem, rank) => {
                self.results.push(format!("einlang_tensor *{name}"));
                let (tag, size) = (scalar::tag(*elem), elem.bits() / 8);
                self.body += &format!(
                    "    if (handed(&t[{at}], {tag}, {rank}, {size}, {name}, message, message_size)) goto done;\n"
                );
                self.ending += &format!("    if (status) {}_release({name});\n", self.library);
            }
            Val::Tuple(_) | Val::Variant(..) | Val::List(_) | Val::Text(_) => {}
        }
    }

    /// Adds the function to the library.
    pub(super) fn finish(self, made: &mut Made) {
        // A star stands beside the name.
        let spaced = |ty: &str| if ty.ends_with('*') { ty.to_owned() } else { format!("{ty} ") };
        let head = |name: &dyn Fn(&(String, String, String)) -> String| {
            let params = self.params.iter().map(|param| spaced(&param.0) + &name(param));
            let always = ["char *message".to_owned(), "size_t message_size".to_owned()];
            let params: Vec<String> =
                params.chain(self.results.iter().cloned()).chain(always).collect();
            format!("int32_t {}({})", self.name, params.join(", "))
        };
        let (shown, head) = (head(&|param| param.1.clone()), head(&|param| param.2.clone()));
        let doc: String = self.export.doc.iter().map(|line| format!(" {line}")).collect();
        let doc = doc.replace("*/", "* /");
        let doc = if doc.is_empty() { String::new() } else { format!("/*{doc} */\n") };
        made.names.push(self.name.clone());
        made.prototypes.push(format!("{doc}{shown};\n"));
        let cleared =
            self.results.iter().filter_map(|result| result.strip_prefix("einlang_tensor *"));
        let cleared: String =
            cleared.map(|name| format!("    memset({name}, 0, sizeof *{name});\n")).collect();
        let wanted = |result: &String| result.split_once('*').map(|(_, name)| name.to_owned());
        let nulls = self.results.iter().filter_map(wanted).map(|name| {
            format!(
                "    if (!{name}) return fail(message, message_size, \"result `{name}` is null\");\n"
            )
        });
        let nulls: String = nulls.collect();
        let n = self.n_tensors.max(1);
        made.functions += &format!(
            "{}{}{}{head} {{\n{nulls}    int32_t status = 1;\n    tensor t[{n}];\n    memset(t, 0, sizeof t);\n\
             {cleared}{}    status = 0;\ndone:\n{}    for (int32_t i = 0; i < {n}; i++)\n        \
             if (t[i].owned) free(t[i].data);\n    return status;\n}}\n\n",
            self.declared, self.kernels, self.defined, self.body, self.ending
        );
        made.objects.extend(self.objects);
        made.frame = made.frame.or(self.frame);
    }
}

/// Why an instruction has no C.
fn reason(kind: &HostKind) -> String {
    let what = match kind {
        HostKind::Match(..) => "it matches what is no variant of an enum",
        HostKind::List(_) => "it makes a list",
        HostKind::For(..) | HostKind::While(..) => "it loops outside of tensors",
        HostKind::Closure(..) | HostKind::Apply(..) => "it passes functions as values",
        HostKind::Format(_) => "it makes strings",
        HostKind::Try(_) => "it catches errors",
        HostKind::Trap(..) | HostKind::Fail(..) => "it stops the program",
        _ => "it works outside of tensors",
    };
    what.to_owned()
}
