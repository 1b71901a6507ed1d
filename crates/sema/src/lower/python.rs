//! Calls of functions of Python: host instructions with the path, the names of the last arguments, and
//! the arguments.

use einlang_source::Name;
use einlang_tir::host::{HostArg, HostKind, Intrinsic};

use super::Lower;
use super::value::{R, Val};
use crate::hir::Arg;
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// A call with arguments that may have names; Python wants those last.
    pub(super) fn call_python(&mut self, path: Name, args: &'p [Arg], ret: &Ty) -> R<Val<'p>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.eval(arg.value)?;
            values.push(self.settled(&value)?);
        }
        let (mut operands, mut named, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (arg, value) in args.iter().zip(&values) {
            let operand = self.hosted(value, &self.ty(arg.value))?;
            match arg.name {
                None => operands.push(operand),
                Some(name) => {
                    names.push(self.spelling(name.name).to_owned());
                    named.push(operand);
                }
            }
        }
        operands.extend(named);
        self.python_inst(path, &names, operands, ret)
    }

    /// A call of a function value.
    pub(super) fn apply_python(
        &mut self,
        path: Name,
        args: Vec<Val<'p>>,
        types: &[Ty],
        ret: &Ty,
    ) -> R<Val<'p>> {
        let args: Vec<Val<'p>> = args.iter().map(|arg| self.settled(arg)).collect::<R<_>>()?;
        let mut operands = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(types) {
            operands.push(self.hosted(arg, ty)?);
        }
        self.python_inst(path, &[], operands, ret)
    }

    fn python_inst(
        &mut self,
        path: Name,
        names: &[String],
        args: Vec<HostArg>,
        ret: &Ty,
    ) -> R<Val<'p>> {
        let path = self.spelling(path).to_owned();
        let operands = [vec![HostArg::Str(path), HostArg::Str(names.join(","))], args].concat();
        self.flush();
        let host = self.host_type(ret)?;
        let kind = HostKind::Intrinsic(Intrinsic::CallPython, operands);
        let value = self.host_value_of(host, kind);
        match *ret == Ty::unit() {
            true => Ok(Val::unit()),
            false => self.lifted(value, ret, "python"),
        }
    }
}
