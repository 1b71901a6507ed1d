//! Functions with a derivative rule of the user's.

use super::context::Ad;
use super::fault::{Fault, R};
use crate::region::{Arg, Inst};
use crate::types::Ident;

impl Ad<'_> {
    /// The tangents of a call's results.
    pub(super) fn call_tangents(
        &mut self,
        _out: &mut Vec<Inst>,
        inst: &Inst,
        function: &Ident,
        _args: &[Arg],
        _tangents: &[Option<Arg>],
    ) -> R<Vec<Option<Arg>>> {
        Err(Fault::unsupported(&format!("`{}`", function.as_str()), inst.loc))
    }
}
