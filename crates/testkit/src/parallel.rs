//! Many independent checks at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Judges every item, on as many threads as the machine has, and fails with all complaints.
pub fn judge_all<T: Sync>(
    items: &[T],
    name: impl Fn(&T) -> String + Sync,
    judge: impl Fn(usize, &T) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| {
            let n = next.fetch_add(1, Ordering::Relaxed);
            Some((n, items.get(n)?))
        });
        taken
            .filter_map(|(n, item)| Some(format!("{}: {}", name(item), judge(n, item).err()?)))
            .collect::<Vec<_>>()
    };
    let n_workers = thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a verdict")).collect()
    });
    let n_wrong = wrong.len();
    assert!(wrong.is_empty(), "{n_wrong} of {} are wrong\n\n{}", items.len(), wrong.join("\n\n"));
}
