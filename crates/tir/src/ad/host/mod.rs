//! Derivatives that pass through host code: recursion, `match`, functions that print, lists.
//!
//! `lower_host_requests` replaces every `host_deriv` of a program by code that computes tangents
//! beside the values: for each point of the parameter, what lies between it and the target is
//! followed once more with the tangent of every value next to it, and nothing of it is printed
//! again. Tensor code on the way becomes a module of its own whose outputs are products of
//! Jacobians with the tangents, so all rules are those of [`super::lower_requests`].
//!
//! | file | owns |
//! |---|---|
//! | `site` | one request: what lies between parameter and target |
//! | `dual` | tangents of straight-line host code |
//! | `control` | tangents of branches, loops and calls |
//! | `tensors` | tangents of tensor code and of scalar operations |
//! | `functions` | functions with tangents, one for each choice of what changes |
//! | `deeper` | functions that are differentiated for the sake of their own requests |
//! | `ruled` | functions that have a rule of the user's |
//! | `linear` | whether such a rule is linear |
//! | `quiet` | functions that compute the same and print nothing |
//! | `pairs` | sums and products of tangents |
//! | `watched` | comparing rules with differences, if asked to |
//! | `slices` | perturbed points that are tensors |
//! | `calls` | calls from tensor code, which get a rule |
//! | `values` | calls of function values |
//!
//! A tangent has the type of its value; what is no float in it is a copy. Invariants: no
//! `host_deriv` is left; a path that cannot be followed is a diagnostic, never zero.

mod calls;
mod control;
mod deeper;
mod dual;
mod functions;
mod linear;
mod pairs;
mod quiet;
mod ruled;
mod site;
mod slices;
mod tensors;
mod values;
mod watched;

use einlang_source::{Diagnostics, FileId, Span};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::fault::R;
use super::watch::Watch;
use crate::host::{Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic, Program};
use crate::op::Op;
use crate::types::{Elem, Ident};

/// Expands every request whose path leads through host code. If rules are watched, calls of functions
/// with a rule compare it with differences; the answer says which.
pub fn lower_host_requests(
    program: &mut Program,
    watched: bool,
) -> Result<Vec<Watch>, Diagnostics> {
    let written: Vec<Ident> = program.functions.iter().map(|f| f.name.clone()).collect();
    let mut watches = Vec::new();
    let mut asks = false;
    for function in &program.functions {
        for_each_inst(&function.body, &mut |inst| asks |= is_request(inst));
    }
    if asks || program.modules.iter().any(calls::asks_for_rules) {
        let place = Span::new(FileId::FIRST, 0, 0);
        let mut host = Host::new(program);
        host.expand_all().map_err(|fault| fault.into_diagnostic(place))?;
        if watched {
            watches = host.watch_rules(&written);
        }
    }
    ruled::drop_rules(program);
    Ok(watches)
}

fn is_request(inst: &HostInst) -> bool {
    matches!(inst.kind, HostKind::Intrinsic(Intrinsic::HostDeriv, _))
}

/// The program under construction.
struct Host<'a> {
    program: &'a mut Program,
    /// The next number of a value.
    next: u32,
    types: HashMap<u32, HostType>,
    /// The functions that give tangents beside their results.
    duals: HashMap<functions::Key, Ident>,
    /// The functions that print nothing.
    quiet: HashMap<Ident, Ident>,
    /// Modules that add or multiply two tensors.
    pairs: HashMap<(pairs::Pair, Elem, usize), Ident>,
    /// The modules that give directions.
    patterns: HashMap<(Elem, usize), Ident>,
    /// The modules that take slices.
    slices: HashMap<slices::SliceKey, Ident>,
    /// The modules that give tangents: by module, inputs that have one, and what is perturbed.
    runs: HashMap<(Ident, Vec<usize>, Option<Ident>), Ident>,
    /// The modules that those were made of, first of all; they define the same tensors.
    origins: HashMap<Ident, Ident>,
    /// Modules of one scalar operation.
    ops: HashMap<(Op, Vec<Elem>, Elem), Ident>,
    names: HashSet<String>,
    /// Functions whose requests are being expanded, or were.
    expanding: HashSet<Ident>,
    /// Those of them whose expansion has not ended, outermost first, as they are written.
    open: Vec<Ident>,
    /// Copies of such functions, by how many were open.
    deeper: HashMap<(Ident, usize), Ident>,
    /// The functions that those are copies of.
    written: HashMap<Ident, Ident>,
}

impl<'a> Host<'a> {
    fn new(program: &'a mut Program) -> Host<'a> {
        let mut types = HashMap::default();
        for function in &program.functions {
            collect_types(&function.body, &mut types);
        }
        let next = types.keys().max().map_or(0, |number| number.saturating_add(1));
        let functions = program.functions.iter().map(|f| f.name.as_str().to_owned());
        let modules = program.modules.iter().map(|module| module.name.clone());
        let names = functions.chain(modules).collect();
        Host {
            program,
            next,
            types,
            duals: HashMap::default(),
            quiet: HashMap::default(),
            pairs: HashMap::default(),
            patterns: HashMap::default(),
            slices: HashMap::default(),
            runs: HashMap::default(),
            origins: HashMap::default(),
            ops: HashMap::default(),
            names,
            expanding: HashSet::default(),
            open: Vec::new(),
            deeper: HashMap::default(),
            written: HashMap::default(),
        }
    }

    fn expand_all(&mut self) -> R<()> {
        for at in 0..self.program.functions.len() {
            self.expand_function(at)?;
        }
        self.give_rules()
    }

    /// Expands the requests of a function, unless that is going on.
    fn expand_function(&mut self, at: usize) -> R<()> {
        let function = &self.program.functions[at];
        let mut asks = false;
        for_each_inst(&function.body, &mut |inst| asks |= is_request(inst));
        if !asks || !self.expanding.insert(function.name.clone()) {
            return Ok(());
        }
        let written = self.written.get(&function.name).unwrap_or(&function.name);
        self.open.push(written.clone());
        let mut body = function.body.clone();
        self.expand(&mut body)?;
        self.open.pop();
        self.program.functions[at].body = body;
        Ok(())
    }

    fn unique(&mut self, base: &str) -> Ident {
        let mut name = format!("{base}.tan");
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{base}.tan{n}");
        }
        Ident::new(&name)
    }

    fn new_def(&mut self, ty: HostType) -> HostDef {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.types.insert(number, ty.clone());
        HostDef { number, ty }
    }

    fn type_of(&self, arg: &HostArg) -> HostType {
        match arg {
            HostArg::Const(constant) => HostType::Scalar(constant.elem()),
            HostArg::Str(_) => HostType::Str,
            HostArg::Value(number) => {
                self.types.get(number).cloned().unwrap_or(HostType::Tuple(Vec::new()))
            }
        }
    }

    /// Whether values of a type hold floats, and so have tangents.
    fn carries(&self, ty: &HostType) -> bool {
        self.carries_within(ty, &mut HashSet::default())
    }

    fn carries_within(&self, ty: &HostType, open: &mut HashSet<Ident>) -> bool {
        match ty {
            HostType::Scalar(elem) | HostType::Tensor(elem, _) => elem.is_float(),
            HostType::Str => false,
            // It may have captured some.
            HostType::Fn(..) => true,
            HostType::List(of) => self.carries_within(of, open),
            HostType::Tuple(parts) => parts.iter().any(|part| self.carries_within(part, open)),
            HostType::Struct(name) | HostType::Enum(name) => {
                if !open.insert(name.clone()) {
                    return false;
                }
                let fields = self.field_types(name);
                fields.iter().any(|field| self.carries_within(field, open))
            }
        }
    }

    /// The types of all fields of a struct or of all variants of an enum.
    fn field_types(&self, name: &Ident) -> Vec<HostType> {
        use crate::host::TypeDecl;
        let found = self.program.types.iter().find(|decl| decl.name() == name);
        match found {
            Some(TypeDecl::Struct { fields, .. }) => fields.iter().map(|f| f.1.clone()).collect(),
            Some(TypeDecl::Enum { variants, .. }) => {
                variants.iter().flat_map(|variant| variant.fields.clone()).collect()
            }
            None => Vec::new(),
        }
    }
}

fn for_each_inst(block: &Block, each: &mut dyn FnMut(&HostInst)) {
    for inst in &block.insts {
        each(inst);
        inst.blocks().into_iter().for_each(|inner| for_each_inst(inner, each));
    }
}

fn collect_types(block: &Block, types: &mut HashMap<u32, HostType>) {
    types.extend(block.params.iter().map(|def| (def.number, def.ty.clone())));
    for inst in &block.insts {
        types.extend(inst.results.iter().map(|def| (def.number, def.ty.clone())));
        inst.blocks().into_iter().for_each(|inner| collect_types(inner, types));
    }
}

/// The values that an instruction uses, those inside its blocks included.
fn uses(inst: &HostInst) -> Vec<u32> {
    let mut found = Vec::new();
    let mut note = |arg: &HostArg| {
        if let HostArg::Value(number) = arg {
            found.push(*number);
        }
    };
    inst.args().into_iter().for_each(&mut note);
    for block in inst.blocks() {
        for_each_inst(block, &mut |inner| inner.args().into_iter().for_each(&mut note));
        block.results.iter().for_each(&mut note);
    }
    let mut inner = Vec::new();
    for block in inst.blocks() {
        for_each_inst(block, &mut |inst| {
            for block in inst.blocks() {
                inner.extend(block.results.iter().filter_map(|arg| match arg {
                    HostArg::Value(number) => Some(*number),
                    _ => None,
                }));
            }
        });
    }
    found.extend(inner);
    found
}
