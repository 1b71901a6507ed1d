//! On how many threads a program runs: what the command line says, or else the environment.

use std::env;

use einlang_driver::Threads;

/// The most threads that can be asked for.
const MOST: usize = 256;

/// Reads a number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST) => Ok(n),
        _ => Err(format!("a number of threads is 1 to {MOST}")),
    }
}

/// The number of threads that was asked for. `EINLANG_LEAST_WORK`, for tests, is how much work is worth
/// more than one.
pub(crate) fn chosen_threads(given: Option<usize>, usual: Threads) -> Threads {
    let set = |name: &str| env::var(name).ok();
    let of_environment = || set("EINLANG_THREADS").and_then(|text| threads(&text).ok());
    let least_work = set("EINLANG_LEAST_WORK").and_then(|text| text.parse().ok());
    Threads {
        most: given.or_else(of_environment).unwrap_or(usual.most),
        least_work: least_work.unwrap_or(usual.least_work),
    }
}
