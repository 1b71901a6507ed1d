//! The pool: every thread takes part once, barriers keep rounds apart, nobody waits for a team that
//! was stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use einlang_runtime::pool::{Pool, Team};

#[test]
fn every_thread_takes_part_once() {
    let pool = Pool::default();
    for n_threads in [1, 2, 3, 5, 2, 5] {
        for _ in 0..50 {
            let seen = Arc::new(AtomicU64::new(0));
            let of_work = Arc::clone(&seen);
            pool.run(
                n_threads,
                Arc::new(move |team: &Team, number| {
                    assert_eq!(team.n_threads(), n_threads);
                    of_work.fetch_add(1 << (8 * number), Ordering::SeqCst);
                }),
            );
            let wanted = (0..n_threads).map(|number| 1 << (8 * number)).sum::<u64>();
            assert_eq!(seen.load(Ordering::SeqCst), wanted);
        }
    }
}

#[test]
fn rounds_stay_apart() {
    let pool = Pool::default();
    let (n_threads, n_rounds) = (3, 500);
    let slots: Arc<Vec<AtomicUsize>> =
        Arc::new((0..n_threads).map(|_| AtomicUsize::new(0)).collect());
    let of_work = Arc::clone(&slots);
    pool.run(
        n_threads,
        Arc::new(move |team: &Team, number| {
            for round in 1..=n_rounds {
                of_work[number].store(round, Ordering::Relaxed);
                assert!(team.barrier(number));
                assert!(of_work.iter().all(|slot| slot.load(Ordering::Relaxed) == round));
                assert!(team.barrier(number));
            }
        }),
    );
    assert!(slots.iter().all(|slot| slot.load(Ordering::Relaxed) == n_rounds));
}

/// Rows of a wave: a point of a row comes after the same point of the row before, in waves one after the other.
#[test]
fn rows_follow_each_other() {
    let (n_rows, n_points) = (23, 40);
    for n_threads in [1, 2, 3, 5] {
        let pool = Pool::default();
        let done: Arc<Vec<AtomicUsize>> =
            Arc::new((0..n_rows).map(|_| AtomicUsize::new(0)).collect());
        let of_work = Arc::clone(&done);
        pool.run(
            n_threads,
            Arc::new(move |team: &Team, number| {
                for wave in 0..20 {
                    assert_eq!(team.begin_wave(number), n_threads);
                    for row in (number..n_rows).step_by(n_threads) {
                        for point in 0..n_points {
                            assert!(team.follow(number, row as u64, point as i64 - 3));
                            let far = wave * n_points + point;
                            let before = row.checked_sub(1).map(|before| &of_work[before]);
                            assert!(before.is_none_or(|b| b.load(Ordering::Relaxed) > far));
                            of_work[row].store(far + 1, Ordering::Relaxed);
                            team.pass(number, row as u64, point as i64 - 3);
                        }
                        team.pass_row(number, row as u64);
                    }
                }
            }),
        );
        assert!(done.iter().all(|row| row.load(Ordering::Relaxed) == 20 * n_points));
    }
}

/// Every round of a loop is run once, whatever the numbers of rounds and threads, and however long threads take; also
/// of loops that follow each other without a barrier.
#[test]
fn rounds_are_taken_once() {
    for (n_threads, in_turns) in [(1, false), (2, false), (3, false), (7, false), (3, true)] {
        let pool = if in_turns { Pool::in_turns() } else { Pool::default() };
        let n_rounds = [0, 1, 2, 3, 10, 57, 1000];
        let n_loops = 40 * n_rounds.len();
        let done: Arc<Vec<Vec<AtomicUsize>>> = Arc::new(
            (0..n_loops)
                .map(|at| (0..n_rounds[at % 7]).map(|_| AtomicUsize::new(0)).collect())
                .collect(),
        );
        let of_work = Arc::clone(&done);
        pool.run(
            n_threads,
            Arc::new(move |team: &Team, number| {
                for rounds in of_work.iter() {
                    let mut is_first = true;
                    while let Some(taken) = team.take(number, rounds.len() as u64, is_first) {
                        assert!(!taken.is_empty());
                        for round in taken {
                            rounds[round as usize].fetch_add(1, Ordering::SeqCst);
                            (0..number * 50).for_each(|_| std::hint::spin_loop());
                        }
                        is_first = false;
                    }
                }
            }),
        );
        assert!(done.iter().flatten().all(|round| round.load(Ordering::SeqCst) == 1));
    }
}

/// More rounds than are counted one by one.
#[test]
fn very_many_rounds_are_taken() {
    let (pool, n_rounds) = (Pool::default(), (1_u64 << 40) + 12_345);
    let n_taken = Arc::new(AtomicU64::new(0));
    let of_work = Arc::clone(&n_taken);
    pool.run(
        3,
        Arc::new(move |team: &Team, number| {
            let mut is_first = true;
            while let Some(taken) = team.take(number, n_rounds, std::mem::take(&mut is_first)) {
                assert!(taken.end <= n_rounds);
                of_work.fetch_add(taken.end - taken.start, Ordering::SeqCst);
            }
        }),
    );
    assert_eq!(n_taken.load(Ordering::SeqCst), n_rounds);
}

#[test]
fn a_stopped_team_waits_for_nobody() {
    let pool = Pool::default();
    for stopper in 0..3 {
        let n_stopped = Arc::new(AtomicUsize::new(0));
        let of_work = Arc::clone(&n_stopped);
        pool.run(
            3,
            Arc::new(move |team: &Team, number| {
                if number == stopper {
                    team.stop();
                } else if !team.barrier(number) {
                    of_work.fetch_add(1, Ordering::SeqCst);
                }
            }),
        );
        assert_eq!(n_stopped.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn a_busy_pool_leaves_work_to_who_brings_it() {
    let pool = Arc::new(Pool::default());
    let inner = Arc::clone(&pool);
    let n_alone = Arc::new(AtomicUsize::new(0));
    let of_work = Arc::clone(&n_alone);
    pool.run(
        2,
        Arc::new(move |_: &Team, number| {
            if number == 0 {
                let of_work = Arc::clone(&of_work);
                inner.run(
                    2,
                    Arc::new(move |team: &Team, _| {
                        of_work.fetch_add(team.n_threads(), Ordering::SeqCst);
                    }),
                );
            }
        }),
    );
    assert_eq!(n_alone.load(Ordering::SeqCst), 1);
}

#[test]
fn turns_find_missing_barriers() {
    let pool = Pool::in_turns();
    let n_threads = 3;
    let mut n_wrong = [0, 0];
    for (with, wrong) in n_wrong.iter_mut().enumerate() {
        for _ in 0..50 {
            let slots: Arc<Vec<AtomicUsize>> =
                Arc::new((0..n_threads).map(|_| AtomicUsize::new(0)).collect());
            let (of_work, n_unset) = (Arc::clone(&slots), Arc::new(AtomicUsize::new(0)));
            let unset = Arc::clone(&n_unset);
            pool.run(
                n_threads,
                Arc::new(move |team: &Team, number| {
                    of_work[number].store(1, Ordering::SeqCst);
                    if with == 1 {
                        team.barrier(number);
                    }
                    let next = of_work[(number + 1) % n_threads].load(Ordering::SeqCst);
                    unset.fetch_add(usize::from(next == 0), Ordering::SeqCst);
                }),
            );
            *wrong += n_unset.load(Ordering::SeqCst);
        }
    }
    assert!(n_wrong[0] >= 50, "{n_wrong:?}");
    assert_eq!(n_wrong[1], 0);
}
