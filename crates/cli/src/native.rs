//! Machine code: what makes it.

use einlang_driver::Native;

/// The maker of machine code, in builds that have one.
pub(crate) fn compiler(use_cache: bool) -> Option<Native> {
    #[cfg(feature = "llvm")]
    {
        let cache = einlang_driver::cache::Cache::of_user().filter(|_| use_cache);
        let llvm =
            cache.map_or_else(einlang_codegen::Llvm::default, einlang_codegen::Llvm::with_cache);
        Some(Native(std::sync::Arc::new(llvm)))
    }
    #[cfg(not(feature = "llvm"))]
    {
        let _ = use_cache;
        None
    }
}
