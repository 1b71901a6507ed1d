//! The header of a library, and the C source as a whole.

use super::kernel::MAX_RANK;
use super::{MAX_AXES, scalar};
use einlang_tir::types::Elem;

/// What surrounds kernels.
const SUPPORT: &str = include_str!("support.c");

/// What numbers need beyond what C has.
const NUMBERS: &str = include_str!("numbers.c");

/// The tensor of the interface, the same for every library.
fn tensor() -> String {
    let tags = Elem::ALL.iter().enumerate().map(|(at, elem)| {
        let what = match elem {
            Elem::F8E4M3 | Elem::F16 | Elem::BF16 => "their bits, in ",
            _ => "",
        };
        let tag = scalar::tag(*elem);
        format!("    {tag} = {at}, /* {what}{} */\n", scalar::c_type(*elem))
    });
    let tags: String = tags.collect();
    format!(
        "#ifndef EINLANG_TENSOR
#define EINLANG_TENSOR

/* Element types. */
enum {{
{tags}}};

/* A tensor. The element at (i, j, ...) is data[i * strides[0] + j * strides[1] + ...], counted in
   elements. Arguments may have any strides; those that do not lie in row-major order are copied.
   Results lie in row-major order. */
typedef struct einlang_tensor {{
    void *data;           /* the element at (0, 0, ...) */
    int32_t elem;         /* one of the element types above */
    int32_t rank;         /* the number of axes, at most {MAX_AXES} */
    int64_t extents[{MAX_AXES}];   /* the length of each axis */
    int64_t strides[{MAX_AXES}];   /* from one element to the next along each axis */
}} einlang_tensor;

#endif
"
    )
}

/// The header.
pub(super) fn text(name: &str, prototypes: &[String]) -> String {
    let guard = format!("EINLANG_{}_H", name.to_uppercase());
    let prototypes = prototypes.join("\n");
    format!(
        "/* Made by `einlang build`. Every function returns 0 if all went well. Otherwise it returns another
   number, gives nothing, and writes what went wrong to `message`, of which `message_size` bytes are
   used at most; `message` may be null. There is no global state, and functions may be called from
   several threads at once. Tensors that a function gives are released with `{name}_release`. */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {{
#endif

{}
/* Releases the memory of a result. */
void {name}_release(einlang_tensor *tensor);

{prototypes}
#ifdef __cplusplus
}}
#endif

#endif
",
        tensor()
    )
}

/// The C source, or the service that it does not have.
pub(super) fn source(name: &str, frame: &[&str], functions: &str) -> Result<String, String> {
    let mut fields = String::new();
    let mut values = String::new();
    for field in frame {
        let (ty, value) = match *field {
            "env" => ("void *".to_owned(), "env".to_owned()),
            "told" => ("void *".to_owned(), "env->told".to_owned()),
            "sizes" | "views" => ("const void *".to_owned(), (*field).to_owned()),
            "alloc" | "free" | "grow" | "copy" | "tick" | "scalar" | "call" | "sorted"
            | "add_key" | "sort" | "visit" | "next" | "own" => {
                ("void (*".to_owned(), format!("(void (*)(void)){}", service(field)))
            }
            // Code in libraries has no teams, and is made thoroughly.
            "team" | "barrier" | "wave" | "follow" | "pass" | "take" | "chains" => {
                ("void (*".to_owned(), "0".to_owned())
            }
            "wait" => ("uint64_t ".to_owned(), "0".to_owned()),
            other => return Err(other.to_owned()),
        };
        let end = if ty.ends_with("(*") { ")(void)" } else { "" };
        fields += &format!("    {ty}field_{field}{end};\n");
        values += &format!("        {value},\n");
    }
    // The frame stands between the types and the services, which `support.c` has in one piece.
    let made = format!(
        "struct frame {{\n{fields}}};\n\nstatic struct frame makeFrame(environment *env, const int64_t *sizes, view *views);\n"
    );
    let maker = format!(
        "static struct frame makeFrame(environment *env, const int64_t *sizes, view *views) {{\n    \
         struct frame frame = {{\n{values}    }};\n    return frame;\n}}\n"
    );
    let support =
        SUPPORT.replacen("static int32_t fail(", &format!("{made}\nstatic int32_t fail("), 1);
    Ok(format!(
        "#include \"{name}.h\"\n#define MAXRANK {MAX_RANK}\n{support}\n{maker}\n{NUMBERS}\n\
         void {name}_release(einlang_tensor *tensor) {{\n    if (!tensor) return;\n    free(tensor->data);\n    \
         tensor->data = 0;\n}}\n\n{functions}"
    ))
}

/// The function behind a field of the frame. Names at file scope have no underscore, and so are none of those
/// that the functions of a library have.
fn service(field: &str) -> String {
    let mut name = String::from("service");
    for word in field.split('_') {
        let (first, rest) = word.split_at(word.len().min(1));
        name += &first.to_uppercase();
        name += rest;
    }
    name
}
