//! Branches: by truth values, numbers and variants.
//!
//! What a branch gives has room before it, which each side sets.

use einlang_interp::native::Native;
use einlang_tir::host::{Block, HostArg, HostInst, HostType, TypeDecl, Variant};
use einlang_tir::types::Ident;

use super::{Function, Result, Val, reason};
use crate::build::scalar;

/// How deep enums may lie in each other; one that has itself as a part never ends.
const DEEPEST: usize = 8;

impl<'a> Function<'a> {
    /// One of several blocks, each with the text before it.
    pub(super) fn branch(
        &mut self,
        inst: &HostInst,
        sides: &[(String, &Block)],
        native: &Native,
    ) -> Result<()> {
        let places: Vec<Val> =
            inst.results.iter().map(|result| self.room(&result.ty)).collect::<Result<_>>()?;
        for (begin, side) in sides {
            self.body += &format!("    {begin} {{\n");
            for inner in &side.insts {
                self.inst(inner, native)?;
            }
            for (place, value) in places.iter().zip(self.values(&side.results)?) {
                self.body += &assigned(place, &value)?;
            }
            self.body += "    }\n";
        }
        for (result, place) in inst.results.iter().zip(places) {
            self.values.insert(result.number, place);
        }
        Ok(())
    }

    /// One of several blocks by variant; a block's parameters are the fields.
    pub(super) fn matched(
        &mut self,
        inst: &HostInst,
        on: &HostArg,
        (arms, otherwise): (&[(Ident, Block)], Option<&Block>),
        native: &Native,
    ) -> Result<()> {
        let Val::Variant(of, tag, fields) = self.value(on)? else {
            return Err(reason(&inst.kind));
        };
        let variants = self.variants(&of);
        let mut sides = Vec::new();
        for (name, block) in arms {
            let at = variants.iter().position(|variant| variant.name == *name);
            let at = at.ok_or("a variant that is not there")?;
            // What the value cannot be is not matched.
            let Some(Some(values)) = fields.get(at) else { continue };
            for (param, value) in block.params.iter().zip(values) {
                self.values.insert(param.number, value.clone());
            }
            let again = if sides.is_empty() { "" } else { "else " };
            sides.push((format!("{again}if ({tag} == {at})"), block));
        }
        if let Some(block) = otherwise {
            let again = if sides.is_empty() { "" } else { "else" };
            sides.push((again.to_owned(), block));
        }
        self.branch(inst, &sides, native)
    }

    /// The variants of an enum.
    pub(super) fn variants(&self, name: &Ident) -> &'a [Variant] {
        let of = self.lowered.program.types.iter().find_map(|decl| match decl {
            TypeDecl::Enum { name: of, variants } if of == name => Some(&variants[..]),
            _ => None,
        });
        of.unwrap_or_default()
    }

    /// Room for a value of a type that is set later.
    pub(super) fn room(&mut self, ty: &HostType) -> Result<Val> {
        let types = match ty {
            HostType::Scalar(elem) => {
                self.n_scalars += 1;
                let name = format!("v{}", self.n_scalars);
                self.body += &format!("    {} {name};\n", scalar::c_type(*elem));
                return Ok(Val::Scalar(name, *elem));
            }
            HostType::Tensor(elem, rank) => return Ok(Val::Tensor(self.tensor(), *elem, *rank)),
            HostType::Tuple(types) => types.clone(),
            HostType::Struct(name) => self.fields(name).iter().map(|f| f.1.clone()).collect(),
            HostType::Enum(name) => {
                self.n_scalars += 1;
                let tag = format!("v{}", self.n_scalars);
                self.body += &format!("    int32_t {tag};\n");
                let mut fields = Vec::new();
                self.nesting += 1;
                if self.nesting > DEEPEST {
                    return Err(format!("the parts of `{name}` have no end"));
                }
                for variant in self.variants(name) {
                    let parts = variant.fields.iter().map(|ty| self.room(ty));
                    fields.push(Some(parts.collect::<Result<_>>()?));
                }
                self.nesting -= 1;
                return Ok(Val::Variant(name.clone(), tag, fields));
            }
            other => return Err(format!("it branches to {other}")),
        };
        let parts = types.iter().map(|ty| self.room(ty));
        Ok(Val::Tuple(parts.collect::<Result<_>>()?))
    }
}

/// The statements that set what there is room for. A tensor stays with its owner.
fn assigned(place: &Val, value: &Val) -> Result<String> {
    match (place, value) {
        (Val::Scalar(place, _), Val::Scalar(text, _)) => Ok(format!("    {place} = {text};\n")),
        (Val::Tensor(to, ..), Val::Tensor(from, ..)) => {
            Ok(format!("    t[{to}] = t[{from}];\n    t[{to}].owned = 0;\n"))
        }
        (Val::Tuple(to), Val::Tuple(from)) if to.len() == from.len() => {
            to.iter().zip(from).map(|(to, from)| assigned(to, from)).collect()
        }
        (Val::Variant(_, to, places), Val::Variant(_, tag, fields))
            if places.len() == fields.len() =>
        {
            let mut text = format!("    {to} = {tag};\n");
            for (places, fields) in places.iter().flatten().zip(fields) {
                for (place, value) in places.iter().zip(fields.iter().flatten()) {
                    text += &assigned(place, value)?;
                }
            }
            Ok(text)
        }
        _ => Err("its branches differ".to_owned()),
    }
}
