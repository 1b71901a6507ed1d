//! Help and version.

use crate::support::Sandbox;

const COMMANDS: &[&str] = &[
    "run",
    "repl",
    "check",
    "fmt",
    "doc",
    "explain",
    "explain-storage",
    "explain-derivatives",
    "ir",
    "bench",
    "profile",
    "tune",
    "build",
    "cache",
    "completions",
];

#[test]
fn the_help_of_the_binary() {
    Sandbox::new().transcript("help", &["--help"]).ends_with(0);
}

#[test]
fn the_help_of_each_command() {
    for command in COMMANDS {
        Sandbox::new().transcript(&format!("help-{command}"), &[command, "--help"]).ends_with(0);
    }
}

#[test]
fn the_ways_to_ask_for_help_agree() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let long = sandbox.einlang(&[command, "--help"]).ends_with(0).stdout;
        sandbox.einlang(&[command, "-h"]).ends_with(0).says(&long, "");
        sandbox.einlang(&["help", command]).ends_with(0).says(&long, "");
    }
}

#[test]
fn without_arguments_the_help_is_a_complaint() {
    let sandbox = Sandbox::new();
    let help = sandbox.einlang(&["--help"]).stdout;
    sandbox.einlang(&[]).ends_with(2).says("", &help);
}

#[test]
fn versions_are_long_and_short() {
    let sandbox = Sandbox::new();
    let version = env!("CARGO_PKG_VERSION");
    let native = if cfg!(feature = "native") { ", native (machine code)" } else { "" };
    let backends =
        format!("backends: interp (evaluates point by point), bytecode (runs loops){native}");
    sandbox
        .einlang(&["--version"])
        .ends_with(0)
        .says(&format!("einlang {version}\n{backends}\n"), "");
    sandbox.einlang(&["-V"]).ends_with(0).says(&format!("einlang {version}\n"), "");
}

#[test]
fn completions_are_scripts() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = sandbox.einlang(&["completions", shell]).ends_with(0);
        assert!(answer.stdout.contains("einlang") && answer.stdout.contains("explain"), "{shell}");
        assert_eq!(answer.stderr, "");
    }
    sandbox.einlang(&["completions", "tcsh"]).ends_with(2);
}
