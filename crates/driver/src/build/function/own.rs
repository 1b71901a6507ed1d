//! Functions of the program that stay functions in C: those that call themselves, and those that tensor code calls.
//!
//! Each takes how deep calls are nested, its parameters, places for its results, and the message. Scalars and
//! tensors cross the border; a tensor that a function gives belongs to its caller, unless it is the caller's.

use std::collections::HashSet;

use einlang_interp::native::Native;
use einlang_interp::stop::StopCode;
use einlang_tir::host::{HostArg, HostFn, HostInst, HostKind, HostType, Program};
use einlang_tir::types::Ident;

use super::{Function, Result, Val};
use crate::build::words::Text;
use crate::build::{kernel, scalar};

/// How deep calls may be nested, as long as they fit into so many bytes of the stack.
const DEEPEST: usize = 10_000;
const STACK_BYTES: usize = 2 << 20;

/// About what a call takes, and a tensor in it.
const CALL_BYTES: usize = 400;
const TENSOR_BYTES: usize = 160;

/// Whether a call of a function can lead to another one of it.
pub(super) fn calls_itself(program: &Program, of: &HostFn) -> bool {
    let (mut seen, mut waiting) = (HashSet::new(), vec![of]);
    while let Some(function) = waiting.pop() {
        let mut called = Vec::new();
        function.body.insts.iter().for_each(|inst| add_called(inst, &mut called));
        for name in called {
            if name == of.name {
                return true;
            }
            if seen.insert(name.clone()) {
                waiting.extend(program.functions.iter().find(|function| function.name == name));
            }
        }
    }
    false
}

fn add_called(inst: &HostInst, called: &mut Vec<Ident>) {
    if let HostKind::Call(name, _) = &inst.kind {
        called.push(name.clone());
    }
    for block in inst.blocks() {
        block.insts.iter().for_each(|inst| add_called(inst, called));
    }
}

impl Function<'_> {
    /// Calls a function of C.
    pub(super) fn call_own(
        &mut self,
        inst: &HostInst,
        callee: &HostFn,
        args: &[HostArg],
        native: &Native,
    ) -> Result<()> {
        let name = self.own(callee, native)?;
        let mut passed = String::new();
        for value in self.values(args)? {
            passed += &match value {
                Val::Scalar(text, _) => format!("{text}, "),
                Val::Tensor(at, ..) => format!("t[{at}], "),
                _ => return Err(records(callee)),
            };
        }
        for result in &inst.results {
            let place = self.room(&result.ty)?;
            passed += &match &place {
                Val::Scalar(name, _) => format!("&{name}, "),
                Val::Tensor(at, ..) => format!("&t[{at}], "),
                _ => return Err(records(callee)),
            };
            self.values.insert(result.number, place);
        }
        let depth = self.depth;
        self.body +=
            &format!("    if ({name}({depth} + 1, {passed}message, message_size)) goto done;\n");
        Ok(())
    }

    /// The name of a function in C, which is made unless it is there.
    fn own(&mut self, callee: &HostFn, native: &Native) -> Result<String> {
        if let Some(name) = self.own.get(&callee.name) {
            return Ok(name.clone());
        }
        let name = format!("{}$f{}", self.name, self.own.len());
        self.own.insert(callee.name.clone(), name.clone());
        let (mut head, mut results) =
            (format!("static int32_t {name}(int32_t depth, "), Vec::new());
        let outer = (std::mem::take(&mut self.body), self.n_tensors, self.depth);
        (self.n_tensors, self.depth) = (0, "depth");
        for (at, param) in callee.body.params.iter().enumerate() {
            let value = match param.ty {
                HostType::Scalar(elem) => {
                    head += &format!("{} a{at}, ", scalar::c_type(elem));
                    Val::Scalar(format!("a{at}"), elem)
                }
                HostType::Tensor(elem, rank) => {
                    head += &format!("tensor a{at}, ");
                    let to = self.tensor();
                    self.body += &format!("    t[{to}] = a{at};\n    t[{to}].owned = 0;\n");
                    Val::Tensor(to, elem, rank)
                }
                _ => return Err(records(callee)),
            };
            self.values.insert(param.number, value);
        }
        for (at, ty) in callee.results.iter().enumerate() {
            results.push(match ty {
                HostType::Scalar(elem) => format!("{} *r{at}, ", scalar::c_type(*elem)),
                HostType::Tensor(..) => format!("tensor *r{at}, "),
                _ => return Err(records(callee)),
            });
        }
        head += &format!("{}char *message, size_t message_size)", results.concat());
        self.declared += &format!("__attribute__((noinline)) {head};\n");
        for inner in &callee.body.insts {
            self.inst(inner, native)?;
        }
        for (at, value) in self.values(&callee.body.results)?.into_iter().enumerate() {
            self.body += &match value {
                Val::Scalar(text, _) => format!("    *r{at} = {text};\n"),
                Val::Tensor(of, ..) => {
                    format!("    *r{at} = moved(t, sizeof t / sizeof *t, {of});\n")
                }
                _ => return Err(records(callee)),
            };
        }
        let n = self.n_tensors.max(1);
        let most = (STACK_BYTES / (CALL_BYTES + n * TENSOR_BYTES)).min(DEEPEST);
        let said = format!("calls of `{}` are nested more than {most} deep", callee.name);
        let said = Text::plain(&kernel::coded(StopCode::Depth, &said)).stop();
        let body = std::mem::take(&mut self.body);
        self.defined += &format!(
            "{head} {{\n    int32_t status = 1;\n    tensor t[{n}];\n    memset(t, 0, sizeof t);\n    \
             if (depth > {most})\n{said}{body}    status = 0;\ndone:\n    for (int32_t i = 0; i < {n}; i++)\n        \
             if (t[i].owned) free(t[i].data);\n    return status;\n}}\n\n"
        );
        (self.body, self.n_tensors, self.depth) = outer;
        Ok(name)
    }

    /// The function that calls others for a kernel, or 0.
    pub(super) fn service(
        &mut self,
        calls: &[Ident],
        kernel: &str,
        native: &Native,
    ) -> Result<String> {
        if calls.is_empty() {
            return Ok("0".to_owned());
        }
        let mut cases = String::new();
        for (number, name) in calls.iter().enumerate() {
            let callee = self.callee(name)?;
            let own = self.own(callee, native)?;
            let (mut places, mut passed, mut given) = (String::new(), String::new(), String::new());
            for (at, param) in callee.body.params.iter().enumerate() {
                let HostType::Scalar(elem) = param.ty else { return Err(records(callee)) };
                passed += &format!("{}, ", scalar::of_bits(elem, &format!("args[{at}]")));
            }
            for (at, ty) in callee.results.iter().enumerate() {
                let HostType::Scalar(elem) = *ty else { return Err(records(callee)) };
                places += &format!("{} r{at}; ", scalar::c_type(elem));
                passed += &format!("&r{at}, ");
                given += &format!("out[{at}] = {}; ", scalar::to_bits(elem, &format!("r{at}")));
            }
            cases += &format!(
                "    case {number}: {{ {places}if ({own}(env->depth + 1, {passed}env->message, env->size)) \
                 return said(env); {given}return 1; }}\n"
            );
        }
        let name = format!("{kernel}$call");
        self.kernels += &format!(
            "static int64_t {name}(void *e, uint64_t number, const uint64_t *args, uint64_t *out) {{\n    \
             environment *env = e;\n    (void)args; (void)out;\n    switch (number) {{\n{cases}    \
             default: return 0;\n    }}\n}}\n"
        );
        Ok(name)
    }
}

/// Why a function cannot be one in C.
fn records(callee: &HostFn) -> String {
    let name = &callee.name;
    format!("`{name}` calls itself or is called by tensor code, and takes or gives a record")
}
