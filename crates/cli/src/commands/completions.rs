//! `einlang completions`: prints a completion script for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell as ShellKind;

use crate::Shell;
use crate::args::{Cli, HELP_TEMPLATE};
use crate::exit::{Exit, Stop};

const EXAMPLES: &str = "\
Examples:
  einlang completions bash > ~/.local/share/bash-completion/completions/einlang
  einlang completions zsh > ~/.zfunc/_einlang
  einlang completions fish > ~/.config/fish/completions/einlang.fish";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP_TEMPLATE)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: ShellKind,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs, shell: &Shell) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "einlang", &mut script);
    shell.terminal.print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
