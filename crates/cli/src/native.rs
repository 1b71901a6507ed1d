//! Machine code: what makes it.

use einlang_driver::Native;

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
        Some(Native(std::sync::Arc::new(llvm)))
    }
    #[cfg(not(feature = "llvm"))]
    {
        let _ = use_cache;
        None
    }
}
