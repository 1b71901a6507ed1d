//! What happens when the compiler itself fails: a short request to report it, and exit code 3.
//!
//! The work is done on a thread of its own, for two reasons: its stack is large enough for the
//! deepest tree that the parser lets through in every later pass, and a panic ends the thread and
//! not the process before it has an exit code.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::thread;

use crate::exit::Exit;

/// The stack of the working thread. Pages of it that are never touched cost nothing.
const STACK_BYTES: usize = 512 << 20;

/// Does the work on the large stack; a panic in it becomes a report and [`Exit::Bug`].
pub(crate) fn guard(work: impl FnOnce() -> Exit + Send + 'static) -> Exit {
    panic::set_hook(Box::new(|info| {
        // The terminal may be what failed; then there is nobody to tell.
        let _ = io::stderr().lock().write_all(report(info).as_bytes());
    }));
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let finished = worker.map(|worker| worker.join().unwrap_or(Exit::Bug));
    finished.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "error: cannot start a thread: {error}");
        Exit::Bug
    })
}

fn report(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or("unknown".to_owned(), ToString::to_string);
    let what = info.payload_as_str().unwrap_or("no message");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    };
    words(what, &place) + &backtrace
}

/// Reports a promise that the compiler broke without a panic.
pub(crate) fn tell(what: &str) {
    let _ = io::stderr().lock().write_all(words(what, "evaluation").as_bytes());
}

fn words(what: &str, place: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "error: einlang has failed; this is a bug in einlang and not in your program\n\
         \n    message: {what}\
         \n    place:   {place}\
         \n    version: einlang {version} ({system} {machine})\n\
         \nPlease report it with these lines and, if you can, the program. \
         RUST_BACKTRACE=1 adds details.\n"
    )
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::{self, Command, Output};

    use super::*;

    /// Runs the test `the_child_fails` in a process of its own.
    fn child(backtrace: &str) -> Output {
        let mut command = Command::new(env::current_exe().expect("this test"));
        command.args(["--exact", "bug::tests::the_child_fails", "--ignored", "--nocapture"]);
        command.env("RUST_BACKTRACE", backtrace).output().expect("a child process")
    }

    #[test]
    #[ignore = "fails on purpose; run by the other tests"]
    fn the_child_fails() {
        let exit = guard(|| panic!("the axis {} is lost", "k"));
        process::exit(exit as i32);
    }

    #[test]
    fn a_panic_is_reported_and_ends_with_code_3() {
        let output = child("0");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("message: the axis k is lost\n"), "{said}");
        assert!(said.contains("version: einlang 0.") && said.contains("Please report"), "{said}");
        assert!(!said.contains("stack backtrace") && !said.contains("bug::tests::"), "{said}");
    }

    #[test]
    fn a_backtrace_is_shown_on_request() {
        let output = child("1");
        assert!(String::from_utf8_lossy(&output.stderr).contains("bug::tests::the_child_fails"));
    }

    #[test]
    fn the_stack_is_large() {
        let deep = || {
            fn descend(n: u32) -> u32 {
                let room = std::hint::black_box([0_u8; 1024]);
                if n == 0 { 0 } else { descend(n - 1) + 1 + u32::from(room[0]) }
            }
            Exit::with_errors(descend(20_000) == 20_000)
        };
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(deep);
        assert_eq!(worker.expect("a thread").join().ok(), Some(Exit::ProgramError));
    }
}
