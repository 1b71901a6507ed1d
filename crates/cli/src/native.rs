//! Machine code: what makes it, and how the process ends while it is being made.

use std::io::Write;
use std::sync::OnceLock;

use einlang_driver::Native;

/// What makes machine code for programs that run. It lives as long as the process, which need not wait for
/// what is made in the background.
static OF_RUNS: OnceLock<Native> = OnceLock::new();

/// The maker of machine code, in builds that have one.
pub(crate) fn compiler(use_cache: bool) -> Option<Native> {
    #[cfg(feature = "llvm")]
    {
        use einlang_codegen::Llvm;
        let cache = einlang_driver::cache::Cache::of_user().filter(|_| use_cache);
        let mut llvm = cache.map_or_else(Llvm::default, Llvm::with_cache);
        // For tests: the sanitizer must have been loaded with the process.
        if std::env::var_os("EINLANG_SANITISE").is_some() {
            llvm = llvm.sanitised();
        }
        let native = Native(std::sync::Arc::new(llvm));
        let _ = OF_RUNS.set(native.clone());
        Some(native)
    }
    #[cfg(not(feature = "llvm"))]
    {
        let _ = use_cache;
        None
    }
}

/// Makes no more machine code in the background, and waits for what is being made; true if nothing is.
pub(crate) fn end(in_any_case: bool) -> bool {
    OF_RUNS.get().is_none_or(|native| native.0.end(in_any_case))
}

/// Ends the process at once if machine code is being made that nobody waits for.
pub(crate) fn leave(code: u8) {
    if !end(false) {
        // What nobody reads any more is lost in any case.
        let _ = std::io::stdout().flush();
        leave_now(code);
    }
}

/// Ends the process at once, whatever is being made.
pub(crate) fn leave_now(code: u8) -> ! {
    #[cfg(feature = "llvm")]
    einlang_codegen::leave(code);
    #[cfg(not(feature = "llvm"))]
    std::process::exit(code.into());
}
