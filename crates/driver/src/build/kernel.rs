//! The description of a kernel in C, beside its object.

use einlang_interp::native::NativeObject;
use einlang_loops::ir::{Buffer, Kernel, Layout, Site, Size};
use einlang_source::Sources;

use super::exports::Export;
use super::scalar;

/// The most axes of a buffer inside a kernel.
pub(super) const MAX_RANK: usize = 16;

/// The description of a kernel whose function and description have these names, or why there is none.
pub(super) fn describe(
    kernel: &Kernel,
    object: &NativeObject,
    name: &str,
    sources: &Sources,
    export: &Export,
) -> Result<String, String> {
    if let Some(function) = object.calls.first() {
        return Err(format!("its tensor code calls `{function}`, which is not tensor code"));
    }
    if kernel.buffers.iter().any(|buffer| buffer.dims.len() > MAX_RANK) {
        return Err(format!("a tensor has more than {MAX_RANK} axes"));
    }
    let layouts: Vec<String> = kernel.buffers.iter().map(layout).collect();
    let buffers = kernel.buffers.iter().enumerate().map(|(at, buffer)| {
        let (rank, size) = (buffer.dims.len(), buffer.elem.bits() / 8);
        format!("    {{{rank}, {size}, {}, {name}_layout_{at}}},\n", u8::from(buffer.marks))
    });
    let buffers: String = buffers.collect();
    let outputs: String = kernel.outputs.iter().map(|output| format!("{}, ", output.0)).collect();
    let sites: String = kernel
        .sites
        .iter()
        .map(|site| format!("    {},\n", quote(&words(site, sources, export))))
        .collect();
    let sizes = kernel.sizes.iter().map(|(_, size)| match size {
        Size::Argument => "{-1, 0}, ".to_owned(),
        Size::Shape(buffer, axis) => format!("{{{}, {axis}}}, ", buffer.0),
    });
    let sizes: String = sizes.collect();
    let mut text = String::new();
    for (at, layout) in layouts.iter().enumerate() {
        text += &format!("static const int64_t {name}_layout_{at}[] = {{{layout}0}};\n");
    }
    text += &format!(
        "static const buffer_info {name}_buffers[] = {{\n{buffers}    {{0, 1, 0, 0}}}};\n"
    );
    text += &format!("static const int32_t {name}_outputs[] = {{{outputs}-1}};\n");
    text += &format!("static const char *const {name}_sites[] = {{\n{sites}    0}};\n");
    text += &format!("static const int32_t {name}_sizes[][2] = {{{sizes}{{0, 0}}}};\n");
    text += &format!("extern int64_t {name}(void *) __attribute__((visibility(\"hidden\")));\n");
    let service = service(object, name)?;
    text += &service;
    let service = if service.is_empty() { "0".to_owned() } else { format!("{name}_scalar") };
    text += &format!(
        "static const kernel_info {name}_info = {{{}, {}, {}, {}, {}, {}, {name}_buffers, {name}_outputs,\n    \
         {name}_sites, {name}_sizes, {name}, {service}}};\n\n",
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

/// What a trap says: where, and what went wrong there. What is written for the call of the function
/// is said of the function.
fn words(site: &Site, sources: &Sources, export: &Export) -> String {
    let said = export.in_own_words(&site.what);
    let what = match said.as_str() {
        "div" | "rem" => "integer division by zero".to_owned(),
        "ipow" => "a negative power of an integer".to_owned(),
        "the shape of an input" => "the extents of the arguments do not fit together".to_owned(),
        read if read.starts_with("a read of") => format!("{read} at a point that is not there"),
        check if check.ends_with("must have the same extent") => {
            match check.strip_suffix(" and the annotation must have the same extent") {
                Some(axis) => format!("{axis} has another extent than its type says"),
                None => said,
            }
        }
        other => format!("{other} is not possible"),
    };
    match site.loc.0 {
        Some(span) => {
            let span = if span.start < export.end { span } else { export.span };
            let (file, place) = (sources.name(span.file), sources.line_col(span));
            format!("{file}:{}:{}: {what}", place.line, place.col)
        }
        None => what,
    }
}

/// The service for rare operations; empty if the kernel has none.
fn service(object: &NativeObject, name: &str) -> Result<String, String> {
    if object.scalars.is_empty() {
        return Ok(String::new());
    }
    let mut text = format!(
        "static int64_t {name}_scalar(void *env, uint64_t number, uint64_t x, uint64_t y, uint64_t z,\n    \
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
