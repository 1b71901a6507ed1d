//! A line on standard error that shows that a long run is alive.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Console;

/// Shorter runs show nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(500);

/// The line, as long as this value lives.
pub(crate) struct Progress {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows the line for a run that begins now, if anybody is there to see it.
    pub(crate) fn start(console: &Console, name: &str, is_wanted: bool) -> Progress {
        if !is_wanted {
            return Progress { done: None, thread: None };
        }
        let (done, finished) = mpsc::channel();
        let console = console.clone();
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let work = move || {
            let start = Instant::now();
            let mut wait = SHOWN_AFTER;
            while finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let seconds = start.elapsed().as_secs();
                console.show_progress(&format!("running {name} for {seconds} s"));
                wait = EVERY;
            }
            console.end_progress();
        };
        Progress { done: Some(done), thread: thread::Builder::new().spawn(work).ok() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
