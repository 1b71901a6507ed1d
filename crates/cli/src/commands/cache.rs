//! `einlang cache`: looks at the machine code that is kept, or removes it.

use clap::{Args, ValueEnum};
use einlang_driver::cache::{Cache, Contents};

use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::Message;

const EXAMPLES: &str = "\
Examples:
  einlang cache          where machine code is kept, and how much of it
  einlang cache clear    remove it; it is made again when it is needed";

/// Show or clear the machine code that is kept between runs
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP_TEMPLATE)]
pub(crate) struct CacheArgs {
    /// What to do: info or clear
    #[arg(value_name = "ACTION", default_value = "info", hide_possible_values = true)]
    action: Action,
}

/// What is done with the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Action {
    Info,
    Clear,
}

pub(crate) fn run(args: &CacheArgs, shell: &Shell) -> Result<Exit, Stop> {
    let Some(cache) = Cache::of_user() else {
        let message = Message::error("there is no folder for a cache");
        return Err(Stop::Usage(message.with_help("set `EINLANG_CACHE_DIR` to a folder")));
    };
    match args.action {
        Action::Info => {
            let Contents { n_entries, bytes } = cache.contents();
            let (folder, limit) = (cache.folder().display(), cache.limit());
            shell.terminal.print(&format!(
                "folder: {folder}\nkernels: {n_entries}\nbytes: {bytes} of at most {limit}\n"
            ))?;
        }
        Action::Clear => clear(&cache, shell)?,
    }
    Ok(Exit::Fine)
}

fn clear(cache: &Cache, shell: &Shell) -> Result<(), Stop> {
    match cache.clear() {
        Ok(Contents { n_entries, bytes }) => {
            shell.terminal.summary(&format!("removed {n_entries} kernels ({bytes} bytes)"));
            Ok(())
        }
        Err(error) => {
            let folder = cache.folder().display();
            Err(Stop::Output(Message::error(format!("cannot clear `{folder}`: {error}"))))
        }
    }
}
