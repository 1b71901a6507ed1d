//! Hash tables for small keys: ids, names, pairs of them.
//!
//! The keys are our own numbers, so nobody can choose them to collide, and a hash that is made for
//! numbers costs a fraction of the default one.

use rustc_hash::FxBuildHasher;

/// A table by small keys.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;

/// A set of small keys.
pub type HashSet<T> = std::collections::HashSet<T, FxBuildHasher>;
