//! Running child processes: with their output shown, captured, or both.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;

/// Runs the command with our own input and output; the exit status is the answer.
pub(crate) fn show(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(|error| cannot_start(command, &error))
}

/// Runs the command without input and keeps what it prints.
pub(crate) fn capture(command: &mut Command) -> Result<Output, String> {
    command.stdin(Stdio::null()).output().map_err(|error| cannot_start(command, &error))
}

/// Whether the command starts and succeeds; nothing is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    capture(command).is_ok_and(|output| output.status.success())
}

/// Runs the command, shows both its streams as they come, and keeps their lines.
pub(crate) fn tee(command: &mut Command) -> Result<(ExitStatus, String), String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let text = thread::scope(|scope| {
        let out = scope.spawn(|| forward(out, &mut io::stdout()));
        let err = scope.spawn(|| forward(err, &mut io::stderr()));
        [out, err].map(|reader| reader.join().unwrap_or_default()).concat()
    });
    let status = child.wait().map_err(|error| cannot_start(command, &error))?;
    Ok((status, text))
}

/// The exit code to pass on for a finished child; a child killed by a signal has none.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

fn forward(from: Option<impl Read>, to: &mut impl Write) -> String {
    let mut kept = String::new();
    let Some(from) = from else {
        return kept;
    };
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // A closed output must not stop the child: the lines are still kept.
        let _ = writeln!(to, "{line}");
        kept.push_str(&line);
        kept.push('\n');
    }
    kept
}

fn cannot_start(command: &Command, error: &io::Error) -> String {
    format!("cannot run `{}`: {error}", command.get_program().to_string_lossy())
}
