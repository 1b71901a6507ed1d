//! `einlang explain`: prints the page of a diagnostic code.

use anstyle::Style;
use clap::Args;
use einlang_driver::explain;

use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::{Message, painted};

const EXAMPLES: &str = "\
Examples:
  einlang explain E0101    what the code means, a program that fails and one that does not
  einlang explain --list   every code with its title";

/// Explain a diagnostic code
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP_TEMPLATE)]
#[group(required = true, multiple = false)]
pub(crate) struct ExplainArgs {
    /// A code such as E0101
    code: Option<String>,
    /// List every code with its title
    #[arg(long)]
    list: bool,
}

/// Prints one page, or the titles of all.
pub(crate) fn run(args: &ExplainArgs, shell: &Shell) -> Result<Exit, Stop> {
    let text = match &args.code {
        Some(wanted) => page(wanted, shell.terminal.color_out())?,
        None => titles(),
    };
    shell.terminal.print(&text)?;
    Ok(Exit::Fine)
}

fn titles() -> String {
    let codes = explain::PAGES.iter().map(|(code, _)| code);
    codes.map(|code| format!("{code}  {}\n", code.title())).collect()
}

fn page(wanted: &str, color: bool) -> Result<String, Stop> {
    let page = explain::find(wanted).and_then(explain::page).ok_or_else(|| unknown(wanted))?;
    Ok(page.lines().map(|line| styled(line, color) + "\n").collect())
}

/// Headings stand out and the marks around programs step back.
fn styled(line: &str, color: bool) -> String {
    if line.starts_with("# ") {
        painted(color, Style::new().bold(), line)
    } else if line.starts_with("```") {
        painted(color, Style::new().dimmed(), line)
    } else {
        line.to_owned()
    }
}

fn unknown(wanted: &str) -> Stop {
    let help = match explain::nearest_code(wanted) {
        Some(near) => format!("did you mean `{near}`? `einlang explain --list` lists all codes"),
        None => "`einlang explain --list` lists all codes".to_owned(),
    };
    Stop::Usage(Message::error(format!("there is no code `{wanted}`")).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_printed_as_they_are() {
        for (code, text) in explain::PAGES {
            assert_eq!(page(code.as_str(), false).ok().as_deref(), Some(*text));
        }
    }

    #[test]
    fn headings_are_bold() {
        assert_eq!(styled("# E0101: x", true), "\u{1b}[1m# E0101: x\u{1b}[0m");
        assert_eq!(styled("plain", true), "plain");
    }
}
