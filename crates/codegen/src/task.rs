//! One kernel compiled, from loop IR to objects.
//!
//! How code is made may depend on how large it is, which is known once the kernel is emitted. So it is emitted
//! as if it were made quickly, and again if that was wrong and makes a difference.

use std::sync::mpsc;
use std::thread;

use einlang_loops::ir::Kernel;
use inkwell::context::Context;

use crate::emit::{self, Emitted};
use crate::jit::ENTRY;
use crate::object::Object;
use crate::rounds::Forms;
use crate::tiers::{Quality, Size};
use crate::{STACK_BYTES, optimise, share};

/// What is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Task<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) checked: bool,
    /// The name of the function, if it is made thoroughly.
    pub(crate) name: &'k str,
    pub(crate) sanitised: bool,
    /// Whether it tells what goes wrong.
    pub(crate) tells: bool,
}

/// How it is compiled.
#[derive(Clone, Copy)]
pub(crate) enum Choice<'c> {
    Known(Quality),
    BySize(&'c dyn Fn(Size) -> Quality),
}

impl Choice<'_> {
    /// What it may be, as long as the size is not known.
    fn first(self) -> Quality {
        match self {
            Choice::Known(quality) => quality,
            Choice::BySize(_) => Quality::Quick,
        }
    }

    fn of(self, size: Size) -> Quality {
        match self {
            Choice::Known(quality) => quality,
            Choice::BySize(choose) => choose(size),
        }
    }
}

impl Task<'_> {
    /// Compiles a kernel, on several threads where it is large.
    pub(crate) fn compile(
        &self,
        most: usize,
        choice: Choice<'_>,
    ) -> Result<(Object, Quality), String> {
        let (first, forms) = (choice.first(), &Forms::new(self.kernel));
        let is_cut = emit::is_cut(forms.of(first));
        let n_helpers = if is_cut { most.saturating_sub(1) } else { 0 };
        thread::scope(|scope| {
            // They emit the kernel meanwhile, and learn then which functions are theirs.
            let mut helpers = Vec::new();
            for _ in 0..n_helpers {
                let (sender, receiver) = mpsc::channel::<Share>();
                let help = move || self.share(forms, first, &mut || receiver.recv().ok());
                let builder = thread::Builder::new().stack_size(STACK_BYTES);
                let thread = builder.spawn_scoped(scope, help);
                helpers.extend(thread.ok().map(|thread| (sender, thread)));
            }
            let context = optimise::nameless();
            let emitted = self.emitted(&context, forms, first)?;
            let n_instructions = share::n_instructions_of(&emitted.module) + emitted.n_spared;
            let size = Size { n_instructions, sums: emitted.sums };
            let quality = choice.of(size);
            let emitted = self.emitted_as(&context, forms, emitted, quality)?;
            let name = quality.name(self.name).into_owned();
            optimise::rename(&emitted.module, ENTRY, &name);
            let shares = share::shares(&emitted.module, 1 + helpers.len(), quality);
            let [first, others @ ..] = &shares[..] else {
                return Err("there is no function".to_owned());
            };
            let mut helped = Vec::new();
            for ((sender, thread), names) in helpers.into_iter().zip(others) {
                let share = Share { names: names.clone(), name: name.clone(), quality };
                let _ = sender.send(share.clone());
                helped.push((share, thread));
            }
            let mut codes = vec![match others.is_empty() {
                true => optimise::object(&emitted.module, self.sanitised, (quality, emitted.sums))?,
                false => {
                    let share = Share { names: first.clone(), name, quality };
                    self.own(&emitted, &share, true)?
                }
            }];
            for (share, thread) in helped {
                // Without the other thread this one does it.
                let made = thread.join().ok().flatten();
                let made = made.or_else(|| self.share(forms, quality, &mut || Some(share.clone())));
                codes.push(made.ok_or("a share is missing")??);
            }
            Ok((Object { tables: emitted.tables, codes, size }, quality))
        })
    }

    /// The kernel for code of a quality. What is called is not tested by AddressSanitizer.
    fn emitted<'c>(
        &self,
        context: &'c Context,
        forms: &Forms<'_>,
        quality: Quality,
    ) -> Result<Emitted<'c>, String> {
        let quality = if self.sanitised { Quality::Thorough } else { quality };
        let jammed = forms.of(quality);
        emit::emit(context, jammed, (self.checked, self.tells), quality).map_err(|no| no.0)
    }

    /// What was emitted as if it were made quickly, for code of a quality.
    fn emitted_as<'c>(
        &self,
        context: &'c Context,
        forms: &Forms<'_>,
        emitted: Emitted<'c>,
        quality: Quality,
    ) -> Result<Emitted<'c>, String> {
        match quality == Quality::Thorough && emitted.n_spared > 0 {
            true => self.emitted(context, forms, quality),
            false => Ok(emitted),
        }
    }

    /// The object of a share of the kernel, which is known once the kernel is emitted; nothing if there is none.
    fn share(
        &self,
        forms: &Forms<'_>,
        first: Quality,
        which: &mut dyn FnMut() -> Option<Share>,
    ) -> Option<Result<Vec<u8>, String>> {
        let context = optimise::nameless();
        let emitted = self.emitted(&context, forms, first);
        let share = which()?;
        let emitted =
            emitted.and_then(|emitted| self.emitted_as(&context, forms, emitted, share.quality));
        Some(emitted.and_then(|emitted| {
            optimise::rename(&emitted.module, ENTRY, &share.name);
            self.own(&emitted, &share, false)
        }))
    }

    /// The object of a share of what was emitted.
    fn own(&self, emitted: &Emitted<'_>, share: &Share, is_first: bool) -> Result<Vec<u8>, String> {
        let module = &emitted.module;
        share::keep(module, &share.names, is_first, &share.name);
        optimise::drop_others(module)?;
        optimise::object(module, self.sanitised, (share.quality, emitted.sums))
    }
}

/// The part of a kernel that one thread compiles.
#[derive(Clone)]
struct Share {
    /// The names of its functions.
    names: Vec<String>,
    /// The name of the function of the kernel.
    name: String,
    quality: Quality,
}
