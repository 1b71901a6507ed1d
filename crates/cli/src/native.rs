//! Machine code: what makes it, and where it is kept.

use std::env;
use std::path::PathBuf;

use einlang_driver::Native;
use einlang_driver::cache::Cache;

/// The most bytes that are kept.
const LIMIT: u64 = 256 << 20;

/// The maker of machine code, in builds that have one.
pub(crate) fn compiler(use_cache: bool) -> Option<Native> {
    #[cfg(feature = "native")]
    {
        use einlang_codegen::Llvm;
        let cache = cache().filter(|_| use_cache);
        let mut llvm = cache.map_or_else(Llvm::default, Llvm::with_cache);
        // For tests: the sanitizer must have been loaded with the process.
        if env::var_os("EINLANG_SANITISE").is_some() {
            llvm = llvm.sanitised();
        }
        Some(Native(std::sync::Arc::new(llvm)))
    }
    #[cfg(not(feature = "native"))]
    {
        let _ = use_cache;
        None
    }
}

/// The cache of this user, where there is a place for one.
pub(crate) fn cache() -> Option<Cache> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        let of_user = given("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let of_user = of_user.or_else(|| given("HOME").map(|home| home.join(".cache")));
        of_user.map(|folder| folder.join("einlang"))
    };
    let folder = given("EINLANG_CACHE_DIR").or_else(usual)?;
    Some(Cache::new(folder, LIMIT))
}
