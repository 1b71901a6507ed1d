//! Running the teams of kernels on threads.
//!
//! Each thread has a frame of its own, whose services know the team. What changes memory is done by the
//! first thread while all wait, and everybody gets its answer; counting rounds only adds up, and looks at
//! limits without stopping others; what is rare in teams is refused, and never emitted there. The first
//! thread that ends early ends the team, and its code is the team's.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use einlang_interp::native::{Limits, apply_to_bits};
use einlang_runtime::pool::Team;
use rustc_hash::FxHashMap as HashMap;

use crate::frame::{self, Frame, Part, Services, Tables};

/// What the threads of a team have in common.
struct Common {
    /// The services of the first thread. Only it uses them, and only while the others wait.
    services: *mut c_void,
    /// The frame of the kernel.
    frame: *const Frame,
    function: Part,
    argument: *mut c_void,
    tables: *const Tables,
    limits: Limits,
    n_rounds: AtomicU64,
    /// The answer to what the first thread was asked.
    answer: AtomicI64,
    /// How the first thread that ended early ended.
    code: AtomicI64,
}

// SAFETY: what the pointers lead to outlives the team, is only read by several threads, or is used by
// the first one while the others wait at a barrier.
unsafe impl Send for Common {}
// SAFETY: as above.
unsafe impl Sync for Common {}

/// A thread of a team, which its frame leads to.
struct Member<'a> {
    common: &'a Common,
    team: &'a Team,
    number: usize,
    /// The memory that only this thread uses, by buffer.
    own: RefCell<HashMap<u64, Vec<Line>>>,
}

/// As much memory as a processor moves at once.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only where it lies matters")] [u8; 64]);

/// Runs a function on so many threads; its code, and how many rounds were counted.
pub(crate) fn run(
    services: &mut Services<'_, '_>,
    n_threads: usize,
    function: Part,
    argument: *mut c_void,
) -> (i64, u64) {
    let (pool, frame) = (services.pool(), services.frame());
    let (tables, limits) = (services.tables(), services.limits());
    let common = Arc::new(Common {
        services: std::ptr::from_mut(services).cast(),
        frame: &frame,
        function,
        argument,
        tables,
        limits,
        n_rounds: AtomicU64::new(0),
        answer: AtomicI64::new(0),
        code: AtomicI64::new(0),
    });
    let of_threads = Arc::clone(&common);
    pool.run(n_threads, Arc::new(move |team: &Team, number| take_part(&of_threads, team, number)));
    (common.code.load(Ordering::SeqCst), common.n_rounds.load(Ordering::SeqCst))
}

fn take_part(common: &Common, team: &Team, number: usize) {
    let mut member = Member { common, team, number, own: RefCell::default() };
    let env: *mut c_void = std::ptr::from_mut(&mut member).cast();
    // SAFETY: the frame of the kernel lives as long as the team.
    let outer = unsafe { &*common.frame };
    let mut frame = Frame {
        env,
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
        team: nested,
        barrier,
        wave,
        follow,
        pass,
        take,
        own,
        ..*outer
    };
    let (number, total) = (number as u64, team.n_threads() as u64);
    let code = (common.function)(&mut frame, common.argument, number, total);
    if code != 0 {
        let _ = common.code.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
        team.stop();
    }
}

/// The thread behind a pointer that code was given and gives back.
fn member<'a>(env: *mut c_void) -> &'a Member<'a> {
    // SAFETY: code passes on the `env` of the frame it was called with, which points to a member that
    // outlives the call.
    unsafe { &*env.cast::<Member<'a>>() }
}

/// Lets the first thread do something while all wait; everybody gets its answer.
fn together(env: *mut c_void, act: impl FnOnce(*mut c_void) -> i64) -> i64 {
    let member = member(env);
    if !member.team.barrier(member.number) {
        return 0;
    }
    if member.number == 0 {
        member.common.answer.store(act(member.common.services), Ordering::SeqCst);
    }
    if !member.team.barrier(member.number) {
        return 0;
    }
    member.common.answer.load(Ordering::SeqCst)
}

extern "C" fn alloc(env: *mut c_void, buffer: u64, extents: *const i64) -> i64 {
    together(env, |services| frame::alloc(services, buffer, extents))
}

extern "C" fn free(env: *mut c_void, buffer: u64) -> i64 {
    together(env, |services| frame::free(services, buffer))
}

extern "C" fn grow(env: *mut c_void, buffer: u64, axis: u64, extent: i64) -> i64 {
    together(env, |services| frame::grow(services, buffer, axis, extent))
}

extern "C" fn copy(env: *mut c_void, to: u64, from: u64) -> i64 {
    together(env, |services| frame::copy(services, to, from))
}

extern "C" fn wave(env: *mut c_void) -> i64 {
    let member = member(env);
    member.team.begin_wave(member.number) as i64
}

extern "C" fn follow(env: *mut c_void, row: u64, point: i64) -> i64 {
    let member = member(env);
    i64::from(member.team.follow(member.number, row, point))
}

extern "C" fn pass(env: *mut c_void, row: u64, point: i64, last: u64) -> i64 {
    let member = member(env);
    match last {
        0 => member.team.pass(member.number, row, point),
        _ => member.team.pass_row(member.number, row),
    }
    1
}

extern "C" fn take(env: *mut c_void, n_rounds: u64, is_first: u64, out: *mut u64) -> i64 {
    let member = member(env);
    frame::give(member.team.take(member.number, n_rounds, is_first != 0), out)
}

extern "C" fn barrier(env: *mut c_void) -> i64 {
    let member = member(env);
    i64::from(member.team.barrier(member.number))
}

/// Memory of a thread, as much as it needs for some time. It is kept until the team ends.
extern "C" fn own(env: *mut c_void, buffer: u64, _: *const i64, kept: *const i64) -> i64 {
    let member = member(env);
    // SAFETY: code passes how many factors there are, and then the factors.
    let factors = unsafe { std::slice::from_raw_parts(kept.add(1), *kept as usize) };
    let bytes = factors.iter().try_fold(1_usize, |bytes, factor| {
        bytes.checked_mul(usize::try_from((*factor).max(0)).ok()?)
    });
    let Some(n_lines) = bytes.map(|bytes| bytes.div_ceil(size_of::<Line>()).max(1)) else {
        return 0;
    };
    let mut own = member.own.borrow_mut();
    let lines = own.entry(buffer).or_default();
    if lines.len() < n_lines {
        let more = n_lines - lines.len();
        if !member.common.limits.allow(more.saturating_mul(size_of::<Line>()) as u64)
            || lines.try_reserve_exact(more).is_err()
        {
            return 0;
        }
        lines.resize(n_lines, Line([0; 64]));
    }
    lines.as_mut_ptr() as i64
}

extern "C" fn tick(env: *mut c_void, rounds: u64) -> i64 {
    let member = member(env);
    let before = member.common.n_rounds.fetch_add(rounds, Ordering::Relaxed);
    let total = before.saturating_add(rounds);
    i64::from(!member.team.is_stopped() && !member.common.limits.are_reached(total))
}

extern "C" fn scalar(env: *mut c_void, number: u64, x: u64, y: u64, z: u64, out: *mut u64) -> i64 {
    // SAFETY: tables belong to the code that runs, and nobody changes them.
    let tables = unsafe { &*member(env).common.tables };
    let Some(of) = tables.scalars.get(number as usize) else { return 0 };
    match apply_to_bits(of.op, of.elems, of.result, [x, y, z], tables.checked) {
        Some(bits) => {
            // SAFETY: code passes the place of one word.
            unsafe { *out = bits };
            1
        }
        None => 0,
    }
}

extern "C" fn call(_: *mut c_void, _: u64, _: *const u64, _: *mut u64) -> i64 {
    0
}

extern "C" fn sorted(_: *mut c_void, _: u64, _: u64) -> i64 {
    0
}

extern "C" fn add_key(_: *mut c_void, _: u64, _: u64, _: u64, _: *const i64) -> i64 {
    0
}

extern "C" fn sort(_: *mut c_void, _: u64) -> i64 {
    0
}

extern "C" fn visit(_: *mut c_void, _: u64, _: u64) -> i64 {
    0
}

extern "C" fn next(_: *mut c_void, _: u64, _: u64, _: *mut i64) -> i64 {
    -1
}

extern "C" fn nested(_: *mut c_void, _: Part, _: *mut c_void, _: i64) -> i64 {
    -1
}
