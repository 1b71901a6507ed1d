//! Where a program prints.
//!
//! Lines go to standard output, buffered unless somebody watches; with `--json` that place belongs
//! to the answer, and lines go to standard error. Invariants: what was printed is written before
//! anything is said about it, also when the program stops or is interrupted; the line that shows
//! progress never mixes with what is printed.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use einlang_driver::Printer;
use serde_json::json;

use crate::exit::Stop;
use crate::message::Message;

/// How long printed lines may wait for others.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Standard output.
    Output,
    /// Standard error, as they are.
    Error,
    /// Standard error, one object per line.
    ErrorAsJson,
}

/// The place where a program prints, shared with who interrupts it and who shows progress.
#[derive(Clone)]
pub(crate) struct Console(Arc<Mutex<State>>);

struct State {
    target: Target,
    out: BufWriter<Stdout>,
    is_watched: bool,
    flushed: Instant,
    n_lines: u64,
    has_progress: bool,
    failed: Option<io::Error>,
}

impl Console {
    pub(crate) fn new(target: Target) -> Console {
        let is_watched = io::stdout().is_terminal();
        Console(Arc::new(Mutex::new(State {
            target,
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            is_watched,
            flushed: Instant::now(),
            n_lines: 0,
            has_progress: false,
            failed: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// How many lines were printed.
    pub(crate) fn n_lines(&self) -> u64 {
        self.state().n_lines
    }

    /// Writes what is still waiting, and says whether something could not be written.
    pub(crate) fn finish(&self) -> Result<(), Stop> {
        let mut state = self.state();
        state.erase_progress();
        let flushed = state.out.flush();
        match state.failed.take().or(flushed.err()) {
            None => Ok(()),
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Stop::NobodyReads),
            Some(error) => {
                Err(Stop::Output(Message::error(format!("cannot write the output: {error}"))))
            }
        }
    }

    /// Writes what is still waiting if nobody is printing just now, without waiting for long.
    pub(crate) fn flush_soon(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if let Ok(mut state) = self.0.try_lock() {
                state.erase_progress();
                let _ = state.out.flush();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Shows a line that the next one replaces.
    pub(crate) fn show_progress(&self, text: &str) {
        let mut state = self.state();
        state.erase_progress();
        let _ = write!(io::stderr(), "{text}");
        state.has_progress = true;
    }

    /// Takes that line away.
    pub(crate) fn end_progress(&self) {
        self.state().erase_progress();
    }
}

impl State {
    fn erase_progress(&mut self) {
        if std::mem::take(&mut self.has_progress) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        match self.target {
            Target::Output => {
                self.out.write_all(line.as_bytes())?;
                self.out.write_all(b"\n")?;
                if self.is_watched || self.flushed.elapsed() > FLUSH_AFTER {
                    self.out.flush()?;
                    self.flushed = Instant::now();
                }
                Ok(())
            }
            Target::Error => writeln!(io::stderr(), "{line}"),
            Target::ErrorAsJson => {
                let severity = "print";
                let object = json!({
                    "severity": severity, "code": null, "message": line, "span": null, "help": null,
                });
                writeln!(io::stderr(), "{object}")
            }
        }
    }
}

impl Printer for Console {
    fn line(&mut self, line: &str) -> io::Result<()> {
        let mut state = self.state();
        state.erase_progress();
        state.n_lines += 1;
        // The program may catch its failure; the place it prints to stays broken.
        let written = state.write(line);
        if let Err(error) = &written {
            state.failed = Some(io::Error::new(error.kind(), error.to_string()));
        }
        written
    }
}
