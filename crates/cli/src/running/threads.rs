//! On how many threads a program runs: what the command line says, or else the environment.

use einlang_driver::Threads;

use super::setting;
use crate::exit::Stop;

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
pub(crate) fn chosen_threads(given: Option<usize>, usual: Threads) -> Result<Threads, Stop> {
    let most = match given {
        Some(given) => Some(given),
        None => setting("EINLANG_THREADS", threads)?,
    };
    let work = |text: &str| text.parse().map_err(|_| "an amount of work is a number".to_owned());
    let least_work = setting("EINLANG_LEAST_WORK", work)?;
    Ok(Threads { most: most.unwrap_or(usual.most), least_work: least_work.or(usual.least_work) })
}
