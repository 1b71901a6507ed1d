//! What tells LLVM that accesses of different buffers never meet.
//!
//! Each buffer is a scope of its own, and an access says which scope is its own and which are others. Both lists are
//! the same for all accesses of a buffer, so they are made once: a large kernel has as many buffers as accesses.

use std::cell::OnceCell;

use inkwell::context::Context;
use inkwell::values::{InstructionValue, MetadataValue};

use super::{Emit, Refused, Result};

/// The scopes of the buffers of a kernel.
pub(super) struct Scopes<'c> {
    /// One for each buffer.
    scopes: Vec<MetadataValue<'c>>,
    /// For each buffer its own scope and the others, once somebody asked.
    lists: Vec<OnceCell<[MetadataValue<'c>; 2]>>,
    /// The kinds of both lists.
    kinds: [u32; 2],
}

impl<'c> Scopes<'c> {
    pub(super) fn new(context: &'c Context, n_buffers: usize) -> Scopes<'c> {
        let text = |text: &str| context.metadata_string(text);
        let domain = context.metadata_node(&[text("buffers").into()]);
        let scope = |number: usize| {
            let name = text(&format!("buffer {number}"));
            context.metadata_node(&[name.into(), domain.into()])
        };
        Scopes {
            scopes: (0..n_buffers).map(scope).collect(),
            lists: vec![OnceCell::new(); n_buffers],
            kinds: ["alias.scope", "noalias"].map(|name| context.get_kind_id(name)),
        }
    }

    fn of(&self, context: &'c Context, buffer: usize) -> [MetadataValue<'c>; 2] {
        *self.lists[buffer].get_or_init(|| {
            let others = self.scopes.iter().enumerate().filter(|(other, _)| *other != buffer);
            let others: Vec<_> = others.map(|(_, scope)| (*scope).into()).collect();
            [context.metadata_node(&[self.scopes[buffer].into()]), context.metadata_node(&others)]
        })
    }
}

impl<'c> Emit<'c, '_> {
    /// Tells LLVM that an access touches this buffer and no other.
    pub(super) fn tell(&self, buffer: usize, access: Option<InstructionValue<'c>>) -> Result<()> {
        let Some(access) = access else { return Ok(()) };
        let lists = self.scopes.of(self.context, buffer);
        for (list, kind) in lists.into_iter().zip(self.scopes.kinds) {
            let refuse = |_| Refused("metadata was refused".to_owned());
            access.set_metadata(list, kind).map_err(refuse)?;
        }
        Ok(())
    }
}
