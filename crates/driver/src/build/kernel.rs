//! The description of a kernel in C, beside its object.

use einlang_index::Quasi;
use einlang_interp::native::NativeObject;
use einlang_interp::stop::StopCode;
use einlang_loops::ir::{Buffer, Fault, Layout, Site, Size};
use einlang_loops::plan::Plan;
use einlang_source::Sources;
use einlang_tir::op::Trap;
use einlang_tir::types::Loc;

use super::exports::Export;
use super::scalar;

/// The most axes of a buffer inside a kernel.
pub(super) const MAX_RANK: usize = 16;

/// The description of a kernel, or why there is none. Its function has this name, and so begins everything
/// else; the function that calls others for it is `calls`, or 0.
pub(super) fn describe(
    planned: &Plan,
    object: &NativeObject,
    (name, calls): (&str, &str),
    sources: &Sources,
    export: &Export,
) -> Result<String, String> {
    let kernel = &planned.kernel;
    if kernel.buffers.iter().any(|buffer| buffer.dims.len() > MAX_RANK) {
        return Err(format!("a tensor has more than {MAX_RANK} axes"));
    }
    let layouts: Vec<String> = kernel.buffers.iter().map(layout).collect();
    let buffers = kernel.buffers.iter().enumerate().map(|(at, buffer)| {
        let (rank, size) = (buffer.dims.len(), buffer.elem.bits() / 8);
        format!("    {{{rank}, {size}, {}, {name}$layout{at}}},\n", u8::from(buffer.marks))
    });
    let buffers: String = buffers.collect();
    let outputs: String = kernel.outputs.iter().map(|output| format!("{}, ", output.0)).collect();
    let sites: String = kernel
        .sites
        .iter()
        .map(|of| format!("    {},\n", site(of, planned, sources, export)))
        .collect();
    let sizes = kernel.sizes.iter().map(|(_, size)| match size {
        Size::Argument => "{-1, 0}, ".to_owned(),
        Size::Shape(buffer, axis) => format!("{{{}, {axis}}}, ", buffer.0),
    });
    let sizes: String = sizes.collect();
    let mut text = String::new();
    for (at, layout) in layouts.iter().enumerate() {
        text += &format!("static const int64_t {name}$layout{at}[] = {{{layout}0}};\n");
    }
    text +=
        &format!("static const bufferInfo {name}$buffers[] = {{\n{buffers}    {{0, 1, 0, 0}}}};\n");
    text += &format!("static const int32_t {name}$outputs[] = {{{outputs}-1}};\n");
    text += &format!(
        "static const siteInfo {name}$sites[] = {{\n{sites}    {{0, 0, 0, {{0, 0}}, {{0, 0}}}}}};\n"
    );
    text += &format!("static const int32_t {name}$sizes[][2] = {{{sizes}{{0, 0}}}};\n");
    text += &format!("extern int64_t {name}(void *) __attribute__((visibility(\"hidden\")));\n");
    let service = service(object, name)?;
    text += &service;
    let service = if service.is_empty() { "0".to_owned() } else { format!("{name}$scalar") };
    text += &format!(
        "static const kernelInfo {name}$info = {{{}, {}, {}, {}, {}, {}, {name}$buffers, {name}$outputs,\n    \
         {name}$sites, {name}$sizes, {name}, {service}, {calls}}};\n\n",
        kernel.buffers.len(),
        kernel.n_inputs,
        kernel.outputs.len(),
        object.n_keys,
        kernel.sites.len(),
        kernel.sizes.len()
    );
    Ok(text)
}

fn layout(buffer: &Buffer) -> String {
    let each = buffer.dims.iter().map(|dim| match dim.layout {
        Layout::Full => "FULL, ".to_owned(),
        Layout::Open => "OPEN, ".to_owned(),
        Layout::Mod(width) => format!("{width}, "),
    });
    each.collect()
}

/// What a site says, as the parts of a `siteInfo`: the place, what is wrong there, and which numbers are shown
/// with it. What is written for the call of the function is said of the function.
fn site(of: &Site, planned: &Plan, sources: &Sources, export: &Export) -> String {
    let said = export.in_own_words(&of.what);
    let place = quote(&place(of.loc, sources, export));
    let plain = |text: &str| format!("{{{place}, {}, 0, {{0, 0}}, {{0, 0}}}}", quote(text));
    match (of.fault, said.as_str()) {
        (Fault::Stop(Trap::Assertion), text) => {
            plain(&coded(StopCode::Assertion, &format!("assertion failed: {text}")))
        }
        (Fault::Stop(trap), text) => plain(&coded(StopCode::of_trap(trap), text)),
        (Fault::Read { own, by_data, plain }, read) => {
            let name = quote(read.strip_prefix("a read of ").unwrap_or(read));
            let boxed = own && !by_data;
            let outside = if boxed { StopCode::OutsideBox } else { StopCode::OutOfBounds };
            let missing = if by_data { StopCode::NotComputed } else { StopCode::NoBase };
            let number = |code: StopCode| code.as_str().trim_start_matches(['E', '0']).to_owned();
            let kind = if plain { "READ" } else { "READSOMEWHERE" };
            let (outside, missing) = (number(outside), number(missing));
            format!("{{{place}, {name}, {kind}, {{0, 0}}, {{{outside}, {missing}}}}}")
        }
        (Fault::Other, sign @ ("div" | "rem")) => {
            let text = coded(StopCode::Division, "integer division by zero");
            let sign = if sign == "div" { "'/'" } else { "'%'" };
            format!("{{{place}, {}, DIVISION, {{0, 0}}, {{{sign}, 0}}}}", quote(&text))
        }
        (Fault::Other, "ipow") => {
            plain(&coded(StopCode::Division, "a negative power of an integer"))
        }
        (Fault::Other, "a reduction of nothing") => {
            plain(&coded(StopCode::Empty, "a reduction of nothing that has no value then"))
        }
        (Fault::Other, "the shape of an input") => {
            plain(&coded(StopCode::Extents, "the extents of the arguments do not fit together"))
        }
        (Fault::Other, check) if check.ends_with("must have the same extent") => {
            let text = check.strip_suffix(" and the annotation must have the same extent");
            let text = text.map_or(said.clone(), |axis| {
                format!("{axis} has another extent than its type says")
            });
            let unknown = || ("0", "0, 0".to_owned(), "0, 0".to_owned());
            let (kind, from, of) = sides(of, planned).unwrap_or_else(unknown);
            let text = quote(&coded(StopCode::Extents, &text));
            format!("{{{place}, {text}, {kind}, {{{from}}}, {{{of}}}}}")
        }
        (Fault::Other, what) => plain(&format!("{what} is not possible")),
    }
}

/// The two extents that a check compares: whether each is a size, and its number or itself.
fn sides(of: &Site, planned: &Plan) -> Option<(&'static str, String, String)> {
    let mut checks = planned.module.checks.iter();
    let check = checks.find(|check| check.loc == of.loc && check.message == of.what)?;
    let side = |expr: &Quasi| match (expr.as_constant(), expr.as_var()) {
        (Some(number), _) => Some((0, number)),
        (None, var) => {
            let at = planned.kernel.sizes.iter().position(|size| Some(size.0) == var)?;
            Some((1, at as i64))
        }
    };
    let (left, right) = (side(&check.condition.left)?, side(&check.condition.right)?);
    let pair = |a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| format!("{a}, {b}");
    Some(("EXTENTS", pair(&left.0, &right.0), pair(&left.1, &right.1)))
}

/// A message with its code.
pub(super) fn coded(code: StopCode, text: &str) -> String {
    format!("{}: {text}", code.as_str())
}

/// The place of something in the source, as a message begins with it.
pub(super) fn place(loc: Loc, sources: &Sources, export: &Export) -> String {
    loc.0.map_or(String::new(), |span| {
        let span =
            if span.file != export.file || span.start < export.end { span } else { export.span };
        let (file, place) = (sources.name(span.file), sources.line_col(span));
        format!("{file}:{}:{}: ", place.line, place.col)
    })
}

/// The service for rare operations; empty if the kernel has none.
fn service(object: &NativeObject, name: &str) -> Result<String, String> {
    if object.scalars.is_empty() {
        return Ok(String::new());
    }
    let mut text = format!(
        "static int64_t {name}$scalar(void *env, uint64_t number, uint64_t x, uint64_t y, uint64_t z,\n    \
         uint64_t *out) {{\n    (void)env; (void)x; (void)y; (void)z;\n    switch (number) {{\n"
    );
    for (at, (op, elems, result)) in object.scalars.iter().enumerate() {
        let missing = || format!("`{}` of `{}` is not there for C yet", op.name(), elems[0]);
        let case = scalar::case(*op, *elems, *result).ok_or_else(missing)?;
        text += &format!("    case {at}: {{ {case} }}\n");
    }
    Ok(text + "    default: return 0;\n    }\n}\n")
}

/// A string of C.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', byte as char]),
            b' '..=b'~' if byte != b'?' => quoted.push(byte as char),
            _ => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted + "\""
}
