//! Code that is divided among threads where it was left to one, made when sizes come that are worth it.
//!
//! A kernel is divided for the shapes of the call that it is made for. What is too little work then runs
//! as code that was never divided, which is faster on one thread. Larger inputs may come later: for
//! them there is the same kernel with everything divided that can be. Invariant: both compute the same
//! bits, and nothing is compiled more than twice.

use std::iter;
use std::sync::{Arc, OnceLock};

use einlang_loops::ir::Kernel;
use einlang_loops::plan::Choices;
use einlang_loops::threads::{Left, Worth, divide_work, is_bounded, work_of};
use einlang_tir::module::Module;

use super::divided::undivided;
use crate::native::{NativeKernel, Wanted};
use crate::options::Options;

/// What a kernel becomes for more work than it was made for.
#[derive(Debug)]
pub(super) struct Wider {
    /// Nothing if it cannot be planned again.
    of: OnceLock<Option<Undivided>>,
    /// What it is planned from, if it was found divided.
    from: Option<Box<(Module, Choices)>>,
    /// Sizes that are not worth more, and neither are smaller ones.
    enough: OnceLock<Vec<i64>>,
    made: OnceLock<Option<(Kernel, Arc<dyn NativeKernel>)>>,
}

/// A kernel before anything was divided.
#[derive(Debug)]
pub(super) struct Undivided {
    pub(super) kernel: Kernel,
    /// What is left to one thread.
    pub(super) left: Vec<Left>,
}

impl Wider {
    pub(super) fn of(undivided: Undivided) -> Wider {
        let of = OnceLock::from(Some(undivided));
        Wider { of, from: None, enough: OnceLock::new(), made: OnceLock::new() }
    }

    /// The same for a kernel that was found divided, and sizes that are known not to be worth more.
    pub(super) fn later(module: Module, choices: Choices, enough: Option<Vec<i64>>) -> Wider {
        let from = Some(Box::new((module, choices)));
        let enough = enough.map_or_else(OnceLock::new, OnceLock::from);
        Wider { of: OnceLock::new(), from, enough, made: OnceLock::new() }
    }

    /// The kernel for these sizes, if it is another than that for the first ones.
    pub(super) fn get(
        &self,
        sizes: &[i64],
        options: &Options,
    ) -> Option<&(Kernel, Arc<dyn NativeKernel>)> {
        let within = |enough: &Vec<i64>| enough.iter().zip(sizes).all(|(most, size)| size <= most);
        if self.enough.get().is_some_and(within) {
            return None;
        }
        let again = || {
            let (module, choices) = &**self.from.as_ref()?;
            undivided(module, choices, options)
        };
        let Undivided { kernel, left } = self.of.get_or_init(again).as_ref()?;
        let worth = options.worth();
        if !left.iter().any(|left| left.is_worth_more(kernel, sizes, worth)) {
            self.enough.get_or_init(|| sizes.to_vec());
            return None;
        }
        let make = || {
            let mut kernel = kernel.clone();
            divide_work(&mut kernel, Worth::ALWAYS, &[]);
            let sizes: Vec<Option<i64>> = sizes.iter().copied().map(Some).collect();
            let (checked, compile) = (options.checked, options.compile);
            let work = work_of(&kernel, &sizes, iter::empty());
            let wanted = Wanted { checked, compile, work, is_bounded: is_bounded(&kernel) };
            let code = options.native.as_ref()?.0.compile(&kernel, wanted).ok()?;
            Some((kernel, code))
        };
        self.made.get_or_init(make).as_ref()
    }
}
