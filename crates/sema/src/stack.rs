//! Room for recursion. Trees may be a thousand nodes high, and specialisation follows calls into
//! calls, which is more than the stack of a caller's thread may hold.

/// Enough for the deepest recursion without optimisation; only what is used takes memory.
const STACK_BYTES: usize = 512 << 20;

/// Runs `work` on a thread with a large stack. A panic in it goes on in the caller.
pub(crate) fn with_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if cfg!(target_family = "wasm") {
        return work();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let worker = builder.spawn_scoped(scope, work);
        let worker = worker.expect("invariant: a process can start one more thread");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
