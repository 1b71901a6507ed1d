//! `einlang cache`: looks at the machine code and schedules that are kept, or removes them.

use clap::{Args, ValueEnum};
use einlang_driver::cache::{Cache, Contents};
use einlang_driver::tune::Store;

use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::Message;

const EXAMPLES: &str = "\
Examples:
  einlang cache          where machine code is kept, and how much of it
  einlang cache clear    remove it, and what `einlang tune` found; code is made again when it is needed";

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
            let n_tuned = tuned().map_or(0, |store| store.cache().contents().n_entries);
            let (folder, limit) = (cache.folder().display(), cache.limit());
            shell.terminal.print(&format!(
                "folder: {folder}\nkernels and plans: {n_entries}\nbytes: {bytes} of at most {limit}\n\
                 tuned schedules: {n_tuned}\n"
            ))?;
        }
        Action::Clear => clear(&cache, shell)?,
    }
    Ok(Exit::Fine)
}

/// The schedules that `einlang tune` has found.
fn tuned() -> Option<Store> {
    Store::of_user().filter(|store| store.cache().folder().is_dir())
}

fn clear(cache: &Cache, shell: &Shell) -> Result<(), Stop> {
    let n_tuned = tuned().map_or(Ok(0), |store| store.cache().clear().map(|gone| gone.n_entries));
    match n_tuned.and_then(|n_tuned| Ok((cache.clear()?, n_tuned))) {
        Ok((Contents { n_entries, bytes }, n_tuned)) => {
            let tuned = match n_tuned {
                0 => String::new(),
                n => format!(" and {n} tuned schedules"),
            };
            shell
                .terminal
                .summary(&format!("removed {n_entries} kernels and plans ({bytes} bytes){tuned}"));
            Ok(())
        }
        Err(error) => {
            let folder = cache.folder().display();
            Err(Stop::Output(Message::error(format!("cannot clear `{folder}`: {error}"))))
        }
    }
}
