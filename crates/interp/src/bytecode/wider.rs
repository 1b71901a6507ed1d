//! Code that is divided among threads where it was left to one, made when sizes come that are worth it.
//!
//! A kernel is divided for the shapes of the call that it is made for. What is too little work then runs
//! as code that was never divided, which is faster on one thread. Larger inputs may come later: for
//! them there is the same kernel with everything divided that can be. Invariant: both compute the same
//! bits, and nothing is compiled more than twice.

use std::iter;
use std::sync::{Arc, OnceLock};

use einlang_loops::ir::Kernel;
use einlang_loops::threads::{Left, divide_work, is_bounded, work_of};

use crate::native::{NativeKernel, Wanted};
use crate::options::Options;

/// What a kernel becomes for more work than it was made for.
#[derive(Debug)]
pub(super) struct Wider {
    /// The kernel before anything was divided.
    kernel: Kernel,
    /// What is left to one thread.
    left: Vec<Left>,
    /// Sizes that are not worth more, and neither are smaller ones.
    enough: OnceLock<Vec<i64>>,
    made: OnceLock<Option<(Kernel, Arc<dyn NativeKernel>)>>,
}

impl Wider {
    pub(super) fn new(kernel: Kernel, left: Vec<Left>) -> Option<Wider> {
        let some = !left.is_empty();
        some.then(|| Wider { kernel, left, enough: OnceLock::new(), made: OnceLock::new() })
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
        let least = options.threads.least_work;
        if !self.left.iter().any(|left| left.is_worth_more(&self.kernel, sizes, least)) {
            self.enough.get_or_init(|| sizes.to_vec());
            return None;
        }
        let make = || {
            let mut kernel = self.kernel.clone();
            divide_work(&mut kernel, 0, &[]);
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
