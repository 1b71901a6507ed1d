//! What is found out about a program once, however often it runs: where its functions, modules and
//! types are, and where the values of functions live.

use std::collections::HashMap;

use einlang_tir::host::{HostFn, HostType, Program, TypeDecl};
use einlang_tir::types::Ident;

use super::names::Names;
use crate::stop::Stop;

/// The places of a program's parts. It belongs to the program that it was made of.
#[derive(Debug)]
pub struct Index {
    functions: HashMap<Ident, usize>,
    modules: HashMap<String, usize>,
    structs: HashMap<Ident, usize>,
    pub(super) names: Names,
}

impl Index {
    /// The index of a program.
    pub fn new(program: &Program) -> Result<Index, Stop> {
        let functions = program.functions.iter().enumerate();
        let modules = program.modules.iter().enumerate();
        let structs = program.types.iter().enumerate().filter_map(|(at, decl)| match decl {
            TypeDecl::Struct { name, .. } => Some((name.clone(), at)),
            TypeDecl::Enum { .. } => None,
        });
        Ok(Index {
            functions: functions.map(|(at, function)| (function.name.clone(), at)).collect(),
            modules: modules.map(|(at, module)| (module.name.clone(), at)).collect(),
            structs: structs.collect(),
            names: Names::new(program)?,
        })
    }

    pub(super) fn function<'p>(&self, program: &'p Program, name: &Ident) -> Option<&'p HostFn> {
        program.functions.get(*self.functions.get(name)?)
    }

    /// Where a module is.
    pub(super) fn module(&self, name: &str) -> Option<usize> {
        self.modules.get(name).copied()
    }

    /// The fields of a struct.
    pub(super) fn fields<'p>(
        &self,
        program: &'p Program,
        name: &Ident,
    ) -> Option<&'p [(Ident, HostType)]> {
        match program.types.get(*self.structs.get(name)?)? {
            TypeDecl::Struct { fields, .. } => Some(fields),
            TypeDecl::Enum { .. } => None,
        }
    }
}
