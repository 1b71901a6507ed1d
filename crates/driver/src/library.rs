//! The standard library, embedded: texts by path, given to the resolver, which parses only what a
//! program reaches.
//!
//! Invariant: the list below names exactly the files of the folder `std`.

use std::sync::Arc;

use einlang_sema::Library;

macro_rules! files {
    ($($path:literal)*) => {
        /// The files of the library with their texts, by path.
        const FILES: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../../std/", $path))),)*];
    };
}

files! {
    "array/creation.ein"
    "array/cumulative.ein"
    "array/joining.ein"
    "array/matrices.ein"
    "array/mod.ein"
    "array/moving.ein"
    "array/ordering.ein"
    "array/positions.ein"
    "array/searching.ein"
    "array/segments.ein"
    "array/selection.ein"
    "array/shapes.ein"
    "array/statistics.ein"
    "image/colours.ein"
    "image/files.ein"
    "image/mod.ein"
    "io/mod.ein"
    "io/paths.ein"
    "io/tables.ein"
    "io/tensors.ein"
    "io/texts.ein"
    "linalg/cholesky.ein"
    "linalg/determinants.ein"
    "linalg/eigen.ein"
    "linalg/functions.ein"
    "linalg/lu.ein"
    "linalg/mod.ein"
    "linalg/products.ein"
    "linalg/qr.ein"
    "linalg/rotations.ein"
    "linalg/solving.ein"
    "linalg/svd.ein"
    "linalg/triangular.ein"
    "math/circular.ein"
    "math/constants.ein"
    "math/integers.ein"
    "math/logistic.ein"
    "math/mod.ein"
    "math/powers.ein"
    "math/rounding.ein"
    "math/special.ein"
    "ml/activations.ein"
    "ml/attention.ein"
    "ml/columns.ein"
    "ml/convolution.ein"
    "ml/ctc.ein"
    "ml/embedding.ein"
    "ml/losses.ein"
    "ml/mod.ein"
    "ml/normalisation.ein"
    "ml/pooling.ein"
    "ml/quantisation.ein"
    "ml/recurrent.ein"
    "ml/resizing.ein"
    "ml/softmax.ein"
    "ml/transposed.ein"
    "mod.ein"
    "numerics/adam.ein"
    "numerics/descent.ein"
    "numerics/fitting.ein"
    "numerics/fourier.ein"
    "numerics/graphs.ein"
    "numerics/interpolation.ein"
    "numerics/markov.ein"
    "numerics/memory.ein"
    "numerics/mod.ein"
    "numerics/ode.ein"
    "numerics/quadrature.ein"
    "numerics/roots.ein"
    "random/continuous.ein"
    "random/discrete.ein"
    "random/keys.ein"
    "random/mod.ein"
    "random/threefry.ein"
    "testing/closeness.ein"
    "testing/derivatives.ein"
    "testing/mod.ein"
    "text/characters.ein"
    "text/mod.ein"
    "text/numbers.ein"
    "text/pieces.ein"
}

/// The standard library of this binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Std;

impl Std {
    /// The paths of all files.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(path, _)| *path)
    }
}

impl Library for Std {
    fn text(&self, path: &str) -> Option<Arc<str>> {
        let found = FILES.binary_search_by(|(name, _)| (*name).cmp(path)).ok()?;
        Some(Arc::from(FILES[found].1))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn files_below(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            match entry.path().is_dir() {
                true => files_below(&entry.path(), &format!("{path}/"), found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn every_file_is_embedded_and_found() {
        let mut found = Vec::new();
        files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../std"), "", &mut found);
        found.retain(|path| path.ends_with(".ein"));
        found.sort();
        assert_eq!(Std::paths().collect::<Vec<_>>(), found);
        assert!(Std::paths().all(|path| Std.text(path).is_some()));
        assert!(Std.text("none.ein").is_none());
    }
}
