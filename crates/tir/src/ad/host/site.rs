//! One request: what lies between the parameter and the target in the function around it.

use rustc_hash::FxHashSet as HashSet;

use super::dual::Dual;
use super::{Host, for_each_inst, is_request, uses};
use crate::ad::fault::{Fault, R};
use crate::constant::Const;
use crate::host::{Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic};
use crate::op::Op;
use crate::types::{Elem, Ident, Loc};

/// What has been evaluated when a request is reached.
enum Step {
    /// The parameters of a block, with the operands of the instruction around it; whether the
    /// instruction is a loop, whose parameters change from round to round.
    Enter(Vec<HostDef>, Vec<HostArg>, bool),
    Inst(HostInst),
}

impl Host<'_> {
    /// Expands the requests of a function.
    pub(super) fn expand(&mut self, body: &mut Block) -> R<()> {
        let mut past = vec![Step::Enter(body.params.clone(), Vec::new(), false)];
        self.expand_block(body, &mut past)
    }

    fn expand_block(&mut self, block: &mut Block, past: &mut Vec<Step>) -> R<()> {
        let n_past = past.len();
        for mut inst in std::mem::take(&mut block.insts) {
            if is_request(&inst) {
                for inst in self.request(&inst, past)? {
                    past.push(Step::Inst(inst.clone()));
                    block.insts.push(inst);
                }
                continue;
            }
            let args: Vec<HostArg> = inst.args().into_iter().cloned().collect();
            let is_loop = matches!(inst.kind, HostKind::For(..) | HostKind::While(..));
            for inner in inst.blocks_mut() {
                past.push(Step::Enter(inner.params.clone(), args.clone(), is_loop));
                self.expand_block(inner, past)?;
                past.pop();
            }
            past.push(Step::Inst(inst.clone()));
            block.insts.push(inst);
        }
        past.truncate(n_past);
        Ok(())
    }

    /// What a value is called in a module, or in one that gives tangents of that and defines it again.
    pub(super) fn copy_in<'c>(
        &self,
        module: &Ident,
        copies: &'c [(Ident, Ident)],
    ) -> Option<&'c Ident> {
        let origin = self.origins.get(module).unwrap_or(module);
        let copy = copies.iter().find(|copy| copy.0 == *origin).map(|copy| &copy.1)?;
        // What nobody reads there is left out of a module.
        let found = self.program.modules.iter().find(|of| of.name == module.as_str())?;
        found.bindings().any(|binding| binding.name == *copy).then_some(copy)
    }

    /// Whether an instruction runs such a module.
    fn defines_again(&self, inst: &HostInst, copies: &[(Ident, Ident)]) -> bool {
        let runs = |inst: &HostInst| match &inst.kind {
            HostKind::Run(name, _) => self.copy_in(name, copies).is_some(),
            _ => false,
        };
        let mut found = runs(inst);
        for block in inst.blocks() {
            for_each_inst(block, &mut |inst| found |= runs(inst));
        }
        found
    }

    /// The code for one request.
    fn request(&mut self, inst: &HostInst, past: &[Step]) -> R<Vec<HostInst>> {
        let HostKind::Intrinsic(_, args) = &inst.kind else { return Ok(Vec::new()) };
        let [of, HostArg::Value(by), copies @ ..] = &args[..] else {
            return Err(Fault::unsupported("this value", inst.loc));
        };
        let (marks, copies) = named_copies(copies).into_iter().partition(is_mark);
        let mark = Vec::into_iter(marks).next().map(|mark: (Ident, Ident)| mark.1);
        let by = By { number: *by, copies, mark };
        let (of_ty, by_ty) = (self.type_of(of), self.type_of(&args[1]));
        let HostType::Tensor(_, rank) = by_ty else {
            return Err(Fault::unsupported("this value", inst.loc));
        };
        let list = HostType::List(Box::new(of_ty.clone()));
        let mut out = Dual::new(self, inst.loc);
        let zero = HostArg::Const(Const::int(Elem::I64, 0));
        let all = match rank {
            0 => {
                let tangent = follow(&mut out, past, of, &by, zero, inst.loc)?;
                out.value(list, HostKind::List(vec![tangent]))
            }
            _ => {
                let n_points = n_points(&mut out, &args[1], rank);
                let empty = out.value(list.clone(), HostKind::List(Vec::new()));
                let counter = out.host.new_def(HostType::Scalar(Elem::I64));
                let so_far = out.host.new_def(list.clone());
                let outer = std::mem::take(&mut out.out);
                let point = HostArg::Value(counter.number);
                let tangent = follow(&mut out, past, of, &by, point, inst.loc)?;
                let given = vec![HostArg::Value(so_far.number), tangent];
                let kind = HostKind::Intrinsic(Intrinsic::ListPush, given);
                let pushed = out.value(list.clone(), kind);
                let insts = std::mem::replace(&mut out.out, outer);
                let params = vec![counter, so_far];
                let body = Block { params, insts, results: vec![pushed] };
                out.value(list, HostKind::For(zero, n_points, vec![empty], body))
            }
        };
        let kind = HostKind::Intrinsic(Intrinsic::Jacobian, vec![all, of.clone(), args[1].clone()]);
        out.out.push(HostInst { results: inst.results.clone(), kind, loc: inst.loc });
        Ok(out.out)
    }
}

/// What a request perturbs: a value, and the definitions of it in modules, by name.
struct By {
    number: u32,
    copies: Vec<(Ident, Ident)>,
    /// The mark of its points, if they are perturbed where they are made.
    mark: Option<Ident>,
}

impl By {
    /// Whether points of it are made by an instruction.
    fn is_made_by(&self, inst: &HostInst) -> bool {
        let Some(mark) = &self.mark else { return false };
        let is_point = |inst: &HostInst| match &inst.kind {
            HostKind::Intrinsic(Intrinsic::Point, args) => {
                matches!(args.get(1), Some(HostArg::Str(text)) if text == mark.as_str())
            }
            _ => false,
        };
        let mut found = is_point(inst);
        for block in inst.blocks() {
            for_each_inst(block, &mut |inst| found |= is_point(inst));
        }
        found
    }
}

fn is_mark(copy: &(Ident, Ident)) -> bool {
    copy.0.as_str().is_empty()
}

fn named_copies(args: &[HostArg]) -> Vec<(Ident, Ident)> {
    let text = |arg: &HostArg| match arg {
        HostArg::Str(text) => Ident::new(text),
        _ => Ident::new(""),
    };
    args.chunks_exact(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

/// How many elements a tensor has.
pub(super) fn n_points(out: &mut Dual<'_, '_>, of: &HostArg, rank: usize) -> HostArg {
    let int = HostType::Scalar(Elem::I64);
    let mut total = HostArg::Const(Const::int(Elem::I64, 1));
    for axis in 0..rank {
        let axis = HostArg::Const(Const::int(Elem::I64, axis as i128));
        let kind = HostKind::Intrinsic(Intrinsic::Extent, vec![of.clone(), axis]);
        let extent = out.value(int.clone(), kind);
        total = out.value(int.clone(), HostKind::Op(Op::Mul, vec![total, extent]));
    }
    total
}

/// The tangent of the target when one element of the parameter is perturbed.
fn follow(
    out: &mut Dual<'_, '_>,
    past: &[Step],
    of: &HostArg,
    by: &By,
    point: HostArg,
    loc: Loc,
) -> R<HostArg> {
    let value = HostArg::Value(by.number);
    let kind = HostKind::Intrinsic(Intrinsic::OneHot, vec![value.clone(), point]);
    let seed = out.value(out.host.type_of(&value), kind);
    out.tangents.insert(by.number, seed.clone());
    let defines = |defs: &[HostDef]| defs.iter().any(|def| def.number == by.number);
    let start = past.iter().rposition(|step| match step {
        Step::Enter(params, ..) => defines(params),
        Step::Inst(inst) => defines(&inst.results),
    });
    let is_made = |step: &Step| matches!(step, Step::Inst(inst) if by.is_made_by(inst));
    let start = past.iter().position(is_made).or(start);
    out.seed = by.mark.as_ref().map(|mark| (mark.as_str().to_owned(), seed.clone()));
    out.defined = Some((by.copies.clone(), seed.clone()));
    let Some(start) = start else { return Err(Fault::unsupported("this value", loc)) };
    let needed = needed(&past[start..], of);
    let mut unknown: HashSet<u32> = HashSet::default();
    for (at, step) in past[start..].iter().enumerate() {
        let is_active = |number: &u32| out.tangents.contains_key(number);
        match step {
            Step::Enter(..) if at == 0 => {}
            Step::Enter(params, args, is_loop) => {
                let hit = args.iter().any(|arg| match arg {
                    HostArg::Value(number) => is_active(number) || unknown.contains(number),
                    _ => false,
                });
                let floats = params.iter().filter(|def| out.host.carries(&def.ty));
                unknown.extend(floats.filter(|_| hit || *is_loop).map(|def| def.number));
            }
            Step::Inst(inst) => {
                if !inst.results.iter().any(|def| needed.contains(&def.number)) {
                    continue;
                }
                if by.is_made_by(inst) || out.host.defines_again(inst, &by.copies) {
                    out.inst(inst)?;
                    continue;
                }
                if at == 0 {
                    continue;
                }
                let used = uses(inst);
                if used.iter().any(|number| unknown.contains(number)) {
                    unknown.extend(inst.results.iter().map(|def| def.number));
                } else if used.iter().any(is_active) {
                    out.inst(inst)?;
                }
            }
        }
    }
    if let HostArg::Value(number) = of
        && unknown.contains(number)
    {
        return Err(Fault::unsupported("a loop or `match` around the request", loc));
    }
    Ok(out.tangent_or_zero(of))
}

/// The values that the target is made of.
fn needed(past: &[Step], of: &HostArg) -> HashSet<u32> {
    let mut needed = HashSet::default();
    if let HostArg::Value(number) = of {
        needed.insert(*number);
    }
    for step in past.iter().rev() {
        let Step::Inst(inst) = step else { continue };
        if inst.results.iter().any(|def| needed.contains(&def.number)) {
            needed.extend(uses(inst));
        }
    }
    needed
}
