//! Ctrl-C: the process ends at once, but neither in the middle of a file nor with lines unwritten.
//! In a session it only stops what is running.

use std::time::Duration;

use einlang_driver::{Interrupt, files};

use super::Console;
use crate::native;

/// What shells expect of a process that was interrupted.
const INTERRUPTED: u8 = 130;

/// How long a file that is being written may take to get finished.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends the process when it is interrupted from now on.
pub(crate) fn watch(console: &Console) {
    let console = console.clone();
    // Without a handler Ctrl-C still ends the process, only less tidily.
    let _ = ctrlc::set_handler(move || {
        let _no_file_is_begun = files::hold_writes(PATIENCE);
        console.flush_soon(PATIENCE);
        native::leave_now(INTERRUPTED);
    });
}

/// Stops the evaluation, and nothing else, when the process is interrupted from now on.
pub(crate) fn cancel_with(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    let _ = ctrlc::set_handler(move || interrupt.set());
}
