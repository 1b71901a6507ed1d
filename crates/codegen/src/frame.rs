//! What machine code and its surroundings know of each other.
//!
//! Code is one function that takes a [`Frame`] and returns 0 when it has run to its end, -1 when a
//! service refused, and otherwise one more than the number of the site where it trapped. The fields of
//! the frame are known to `emit` by their position: all are one word wide.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;

use einlang_interp::native::{Limits, NativeMachine, apply_to_bits};
use einlang_runtime::pool::Pool;
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

use crate::chains::{Chains, chains};

/// Operations and functions that code asks for by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) checked: bool,
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) calls: Vec<Call>,
    /// How many reductions by keys there are.
    pub(crate) n_keys: u64,
}

/// An operation that is not worth code of its own.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Scalar {
    pub(crate) op: Op,
    pub(crate) elems: [Elem; 2],
    pub(crate) result: Elem,
}

/// A call of the program around.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: Ident,
    pub(crate) args: Vec<Elem>,
    pub(crate) results: Vec<Elem>,
}

/// A buffer as code sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    data: *mut u8,
    marks: *mut u8,
    shape: *const i64,
}

/// The words of a [`View`].
pub(crate) const VIEW_WORDS: u64 = 3;

macro_rules! frame {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// The argument of the code.
        #[repr(C)]
        pub(crate) struct Frame {
            $($(#[$doc])* pub(crate) $field: $ty,)*
        }

        /// The positions of the fields.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy)]
        pub(crate) enum Field { $($field,)* }

        /// The names of the fields, in order.
        pub(crate) const FIELDS: &[&str] = &[$(stringify!($field),)*];
    };
}

frame! {
    /// A [`Services`].
    env: *mut c_void,
    /// The sizes of the kernel.
    sizes: *const i64,
    /// One [`View`] per buffer.
    views: *mut View,
    /// `(env, buffer, extents) -> done`
    alloc: extern "C" fn(*mut c_void, u64, *const i64) -> i64,
    /// `(env, buffer) -> done`
    free: extern "C" fn(*mut c_void, u64) -> i64,
    /// `(env, buffer, axis, extent) -> done`
    grow: extern "C" fn(*mut c_void, u64, u64, i64) -> i64,
    /// `(env, to, from) -> done`
    copy: extern "C" fn(*mut c_void, u64, u64) -> i64,
    /// `(env, rounds) -> done`
    tick: extern "C" fn(*mut c_void, u64) -> i64,
    /// `(env, number, x, y, z, result) -> done`
    scalar: extern "C" fn(*mut c_void, u64, u64, u64, u64, *mut u64) -> i64,
    /// `(env, number, arguments, results) -> done`
    call: extern "C" fn(*mut c_void, u64, *const u64, *mut u64) -> i64,
    /// `(env, table, dimensions) -> sorted`
    sorted: extern "C" fn(*mut c_void, u64, u64) -> i64,
    /// `(env, table, dimensions, key, point) -> done`
    add_key: extern "C" fn(*mut c_void, u64, u64, u64, *const i64) -> i64,
    /// `(env, table) -> done`
    sort: extern "C" fn(*mut c_void, u64) -> i64,
    /// `(env, table, key) -> done`
    visit: extern "C" fn(*mut c_void, u64, u64) -> i64,
    /// `(env, table, dimensions, point) -> more`
    next: extern "C" fn(*mut c_void, u64, u64, *mut i64) -> i64,
    /// `(env, function, argument, work) -> code`
    team: extern "C" fn(*mut c_void, Part, *mut c_void, i64) -> i64,
    /// `(env) -> go on`
    barrier: extern "C" fn(*mut c_void) -> i64,
    /// `(env) -> threads that take part`
    wave: extern "C" fn(*mut c_void) -> i64,
    /// `(env, row, point) -> go on`
    follow: extern "C" fn(*mut c_void, u64, i64) -> i64,
    /// `(env, row, point, whether it was the last) -> done`
    pass: extern "C" fn(*mut c_void, u64, i64, u64) -> i64,
    /// `(env, rounds, whether they are the first of a loop, first and end) -> some`
    take: extern "C" fn(*mut c_void, u64, u64, *mut u64) -> i64,
    /// `(env, buffer, extents, bytes per dimension) -> place`
    own: extern "C" fn(*mut c_void, u64, *const i64, *const i64) -> i64,
    /// `(env, chains) -> done`
    chains: extern "C" fn(*mut c_void, *const Chains) -> i64,
    /// What threads lose by waiting for each other, in the unit of work.
    wait: u64,
    /// Where code of libraries writes what goes wrong, see [`Told`]; other code does not.
    told: *mut i64,
}

/// What code of libraries tells before it returns with the number of a site: its kind as the first word.
#[derive(Clone, Copy)]
pub(crate) enum Told {
    /// An axis, the index on it, and its extent.
    Outside = 1,
    /// A point of the own group that is not there.
    Missing = 2,
    /// What was divided by zero.
    Divided = 3,
}

/// The function of a team: `(frame, argument, number of this thread, number of threads) -> code`.
pub(crate) type Part = extern "C" fn(*mut Frame, *mut c_void, u64, u64) -> i64;

/// What stands behind `env`.
pub(crate) struct Services<'a, 'm> {
    machine: &'a mut NativeMachine<'m>,
    tables: &'a Tables,
    pool: &'a Pool,
    views: Vec<View>,
}

impl<'a, 'm> Services<'a, 'm> {
    pub(crate) fn new(
        machine: &'a mut NativeMachine<'m>,
        tables: &'a Tables,
        pool: &'a Pool,
    ) -> Services<'a, 'm> {
        let mut services = Services { machine, tables, pool, views: Vec::new() };
        for buffer in 0..services.machine.n_buffers() {
            let view = services.view(buffer);
            services.views.push(view);
        }
        services
    }

    /// The frame; it is good as long as the services stay where they are.
    pub(crate) fn frame(&mut self) -> Frame {
        Frame {
            sizes: self.machine.sizes().as_ptr(),
            views: self.views.as_mut_ptr(),
            env: std::ptr::from_mut(self).cast(),
            alloc,
            free,
            grow,
            copy,
            tick,
            scalar,
            call,
            sorted,
            add_key,
            sort,
            visit,
            next,
            team,
            barrier,
            wave: barrier,
            follow,
            pass,
            take,
            own,
            chains,
            wait: self.machine.wait(),
            told: std::ptr::null_mut(),
        }
    }

    pub(crate) fn tables(&self) -> &'a Tables {
        self.tables
    }

    pub(crate) fn pool(&self) -> &'a Pool {
        self.pool
    }

    pub(crate) fn limits(&self) -> Limits {
        self.machine.limits()
    }

    fn view(&mut self, buffer: usize) -> View {
        let place = self.machine.place(buffer);
        View { data: place.data, marks: place.marks, shape: self.machine.shape(buffer).as_ptr() }
    }

    /// Looks again where a buffer lies.
    fn look(&mut self, buffer: usize) {
        let view = self.view(buffer);
        if let Some(place) = self.views.get_mut(buffer) {
            *place = view;
        }
    }
}

/// The services behind a pointer that code was given and gives back.
fn services<'a>(env: *mut c_void) -> &'a mut Services<'a, 'a> {
    // SAFETY: code passes on the `env` of the frame it was called with, which points to services
    // that outlive the call and that nothing else uses meanwhile.
    unsafe { &mut *env.cast() }
}

pub(crate) extern "C" fn alloc(env: *mut c_void, buffer: u64, extents: *const i64) -> i64 {
    let services = services(env);
    let rank = services.machine.shape(buffer as usize).len();
    // SAFETY: code passes one extent per axis of the buffer.
    let extents = match rank {
        0 => &[][..],
        _ => unsafe { std::slice::from_raw_parts(extents, rank) },
    };
    let done = services.machine.alloc(buffer as usize, extents);
    services.look(buffer as usize);
    i64::from(done)
}

pub(crate) extern "C" fn free(env: *mut c_void, buffer: u64) -> i64 {
    let services = services(env);
    services.machine.free(buffer as usize);
    services.look(buffer as usize);
    1
}

pub(crate) extern "C" fn grow(env: *mut c_void, buffer: u64, axis: u64, extent: i64) -> i64 {
    let services = services(env);
    let done = services.machine.grow(buffer as usize, axis as usize, extent);
    services.look(buffer as usize);
    i64::from(done)
}

pub(crate) extern "C" fn copy(env: *mut c_void, to: u64, from: u64) -> i64 {
    let services = services(env);
    let done = services.machine.copy(to as usize, from as usize);
    services.look(to as usize);
    i64::from(done)
}

extern "C" fn tick(env: *mut c_void, rounds: u64) -> i64 {
    i64::from(services(env).machine.tick(rounds))
}

extern "C" fn scalar(env: *mut c_void, number: u64, x: u64, y: u64, z: u64, out: *mut u64) -> i64 {
    let services = services(env);
    let Some(of) = services.tables.scalars.get(number as usize) else { return 0 };
    let checked = services.tables.checked;
    match apply_to_bits(of.op, of.elems, of.result, [x, y, z], checked) {
        Some(bits) => {
            // SAFETY: code passes the place of one word.
            unsafe { *out = bits };
            1
        }
        None => 0,
    }
}

extern "C" fn call(env: *mut c_void, number: u64, args: *const u64, out: *mut u64) -> i64 {
    let services = services(env);
    let Some(of) = services.tables.calls.get(number as usize) else { return 0 };
    let mut given = Vec::with_capacity(of.args.len());
    for (at, elem) in of.args.iter().enumerate() {
        // SAFETY: code passes one word per argument.
        given.push(Const::from_bits(*elem, unsafe { *args.add(at) }));
    }
    match services.machine.call(&of.function, &given, &of.results) {
        Some(results) => {
            for (at, bits) in results.into_iter().take(of.results.len()).enumerate() {
                // SAFETY: code passes the place of one word per result.
                unsafe { *out.add(at) = bits };
            }
            1
        }
        None => 0,
    }
}

extern "C" fn sorted(env: *mut c_void, table: u64, n_dims: u64) -> i64 {
    i64::from(services(env).machine.is_sorted(table as usize, n_dims as usize))
}

extern "C" fn add_key(
    env: *mut c_void,
    table: u64,
    n_dims: u64,
    key: u64,
    point: *const i64,
) -> i64 {
    // SAFETY: code passes one index per dimension, of which there is at least one.
    let point = unsafe { std::slice::from_raw_parts(point, n_dims as usize) };
    services(env).machine.add_key(table as usize, key, point);
    1
}

extern "C" fn sort(env: *mut c_void, table: u64) -> i64 {
    i64::from(services(env).machine.sort_keys(table as usize))
}

extern "C" fn visit(env: *mut c_void, table: u64, key: u64) -> i64 {
    services(env).machine.visit(table as usize, key);
    1
}

extern "C" fn next(env: *mut c_void, table: u64, n_dims: u64, out: *mut i64) -> i64 {
    let services = services(env);
    if !services.machine.tick(1) {
        return -1;
    }
    let Some(point) = services.machine.next_point(table as usize) else { return 0 };
    for (at, index) in point.iter().take(n_dims as usize).enumerate() {
        // SAFETY: code passes a place for one index per dimension.
        unsafe { *out.add(at) = *index };
    }
    1
}

extern "C" fn team(env: *mut c_void, function: Part, argument: *mut c_void, work: i64) -> i64 {
    let services = services(env);
    let n_threads = services.machine.n_threads(u64::try_from(work).unwrap_or(0));
    if n_threads < 2 {
        return function(&mut services.frame(), argument, 0, 1);
    }
    let (code, n_rounds) = crate::team::run(services, n_threads, function, argument);
    // Counted once more, a limit that was reached has its reason.
    match services.machine.tick_at_once(n_rounds) {
        true => code,
        false => -1,
    }
}

/// Memory of the thread: what it had before, if that is as large as what it needs now.
extern "C" fn own(env: *mut c_void, buffer: u64, extents: *const i64, _: *const i64) -> i64 {
    let services = services(env);
    let number = buffer as usize;
    let rank = services.machine.shape(number).len();
    // SAFETY: code passes one extent per axis of the buffer, which has some.
    let wanted = unsafe { std::slice::from_raw_parts(extents, rank) };
    let there = services.views.get(number).is_some_and(|view| !view.data.is_null());
    let same = there && services.machine.shape(number) == wanted;
    if !same && alloc(env, buffer, extents) == 0 {
        return 0;
    }
    services.views.get(number).map_or(0, |view| view.data as i64)
}

/// One thread waits for nobody.
extern "C" fn barrier(_: *mut c_void) -> i64 {
    1
}

/// One thread follows nobody.
extern "C" fn follow(_: *mut c_void, _: u64, _: i64) -> i64 {
    1
}

/// One thread takes all rounds at once.
extern "C" fn take(_: *mut c_void, n_rounds: u64, is_first: u64, out: *mut u64) -> i64 {
    give((is_first != 0 && n_rounds > 0).then_some(0..n_rounds), out)
}

/// Hands over the rounds that a thread takes, if there are any.
pub(crate) fn give(taken: Option<Range<u64>>, out: *mut u64) -> i64 {
    let Some(taken) = taken else { return 0 };
    // SAFETY: code passes the place of two words.
    unsafe {
        *out = taken.start;
        *out.add(1) = taken.end;
    }
    1
}

extern "C" fn pass(_: *mut c_void, _: u64, _: i64, _: u64) -> i64 {
    1
}
