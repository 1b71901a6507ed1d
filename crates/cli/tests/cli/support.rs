//! A folder of files, the binary started in it, and what it answered.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder in which the binary is started.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// What the binary answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.write(name, content);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// The binary with these arguments, in this folder, with nothing else in its environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
        command.args(args).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        command
    }

    pub(crate) fn einlang(&self, args: &[&str]) -> Answer {
        Answer::of(&self.command(args).output().expect("the binary starts"))
    }

    pub(crate) fn einlang_with_stdin(&self, args: &[&str], input: &[u8]) -> Answer {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // The binary may refuse the input before it has read all of it.
        let _ = stdin.write_all(input);
        drop(stdin);
        Answer::of(&child.wait_with_output().expect("the binary ends"))
    }

    /// Compares everything that a call prints, and its exit code, with a file of `tests/cli/`.
    #[track_caller]
    pub(crate) fn transcript(&self, name: &str, args: &[&str]) -> Answer {
        let answer = self.einlang(args);
        let call = args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ");
        let (stdout, stderr, code) = (&answer.stdout, &answer.stderr, answer.code);
        let actual = format!("$ einlang {call}\n{stdout}{stderr}[exit code {code}]\n");
        compare(&repository().join("tests/cli").join(format!("{name}.txt")), &actual);
        answer
    }
}

impl Sandbox {
    /// The same for a call that reads text from a pipe, which becomes part of the transcript.
    #[track_caller]
    pub(crate) fn transcript_of(&self, name: &str, args: &[&str], input: &str) -> Answer {
        let answer = self.einlang_with_stdin(args, input.as_bytes());
        let (call, code) = (args.join(" "), answer.code);
        let (stdout, stderr) = (&answer.stdout, &answer.stderr);
        let actual = format!(
            "$ einlang {call} << END\n{input}END\n{stdout}--- standard error\n{stderr}[exit code {code}]\n"
        );
        compare(&repository().join("tests/cli").join(format!("{name}.txt")), &actual);
        answer
    }
}

impl Answer {
    pub(crate) fn of(output: &Output) -> Answer {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Answer {
            code: output.status.code().expect("an exit code"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Fails unless the exit code is this one.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Answer {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Fails unless both streams are exactly these.
    #[track_caller]
    pub(crate) fn says(self, stdout: &str, stderr: &str) -> Answer {
        assert_eq!((self.stdout.as_str(), self.stderr.as_str()), (stdout, stderr));
        self
    }
}

/// An argument as one would type it.
fn quoted(arg: &str) -> String {
    if arg.contains([' ', ';', '<']) { format!("'{arg}'") } else { arg.to_owned() }
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether expectations are to be rewritten.
pub(crate) fn is_blessing() -> bool {
    env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1")
}

/// Compares a text with a file, or writes it there.
#[track_caller]
pub(crate) fn compare(path: &Path, actual: &str) {
    if is_blessing() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        return fs::write(path, actual).expect("the expectation can be written");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    let hint = "run with EINLANG_BLESS=1 to accept the new text";
    assert_eq!(actual, expected, "{} differs; {hint}", path.display());
}
