//! Colours: the option first, then the environment, then the terminal.

use crate::support::{Answer, Sandbox};

const ESCAPE: char = '\u{1b}';

/// What a failing check says, with this option and environment. No test has a terminal.
fn said(option: Option<&str>, environment: &[(&str, &str)]) -> String {
    let mut args = vec!["check", "-c", "let x = ;"];
    args.extend(option);
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&args);
    command.envs(environment.iter().copied());
    Answer::of(&command.output().expect("the binary starts")).ends_with(1).stderr
}

#[test]
fn a_pipe_gets_no_colours() {
    assert!(!said(None, &[]).contains(ESCAPE));
    assert!(!said(Some("--color=auto"), &[("TERM", "xterm-256color")]).contains(ESCAPE));
    assert!(!said(Some("--color=never"), &[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
}

#[test]
fn colours_can_be_demanded() {
    assert!(said(Some("--color=always"), &[]).contains(ESCAPE));
    assert!(said(Some("--color=always"), &[("NO_COLOR", "1")]).contains(ESCAPE));
    assert!(said(None, &[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
}

#[test]
fn no_color_wins_in_the_environment() {
    assert!(!said(None, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
}

#[test]
fn colours_change_nothing_else() {
    let colored = said(Some("--color=always"), &[]);
    let mut plain = String::new();
    let mut in_escape = false;
    for c in colored.chars() {
        match c {
            ESCAPE => in_escape = true,
            'm' if in_escape => in_escape = false,
            c if !in_escape => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain, said(None, &[]));
}

#[test]
fn the_option_also_holds_for_help_and_complaints() {
    let sandbox = Sandbox::new();
    let colored = |args: &[&str]| {
        let answer = sandbox.einlang(args);
        (answer.stdout + &answer.stderr).contains(ESCAPE)
    };
    for args in
        [["--help", "--color=always"], ["chekc", "--color=always"], ["run", "--color=always"]]
    {
        assert!(colored(&args), "{args:?}");
    }
    for args in [["--help", "--color=never"], ["--nonsense", "--color=never"]] {
        assert!(!colored(&args), "{args:?}");
    }
}

#[test]
fn json_is_never_coloured() {
    let args = ["check", "-c", "let x = ;", "--color=always", "--message-format=json"];
    assert!(!Sandbox::new().einlang(&args).ends_with(1).stderr.contains(ESCAPE));
}
