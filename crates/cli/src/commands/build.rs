//! `einlang build`: a library for C of a file's public functions.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use einlang_driver::{Failure, Library, Session};

use crate::args::{HELP_TEMPLATE, ProgramArg};
use crate::commands::failure::told;
use crate::exit::{Exit, Stop};
use crate::inputs::{self, Input};
use crate::message::Message;
use crate::{Shell, native};

const EXAMPLES: &str = "\
Examples:
  einlang build model.ein                   write libmodel.so and model.h
  einlang build model.ein -o libmodel.a     write a static library and model.h
  einlang build model.ein -o out/libm.so    the functions begin with `m_`
  einlang build - -o libm.so                the program comes from standard input";

/// Build a library for C, with one function per `pub fn`
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang build [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    program: ProgramArg,
    /// The library: a file that ends with `.so` or `.a` [default: lib, the name of FILE, and .so]
    #[arg(short, long, value_name = "LIBRARY")]
    output: Option<PathBuf>,
}

/// Where the files of a library go.
struct Target {
    library: PathBuf,
    header: PathBuf,
    /// The name with which its functions begin.
    name: String,
    is_static: bool,
}

pub(crate) fn run(args: &BuildArgs, shell: &Shell) -> Result<Exit, Stop> {
    let input = inputs::single(&args.program, "build")?;
    let target = target(&input, args.output.as_deref())?;
    let Some(native) = native::compiler(false) else {
        let message = Message::error("this build of einlang has no machine code");
        return Err(Stop::Usage(
            message.with_help("build it with LLVM 22, as `cargo xtask run` does"),
        ));
    };
    let mut session = Session::new(&shell.world);
    let made = match input.load(&mut session) {
        Ok(file) => session.library(file, &target.name, &native),
        Err(errors) => Err(Failure::Program(errors)),
    };
    match made {
        Ok(library) => write(&library, &target).map(|()| Exit::Fine).map_err(Stop::Output),
        Err(failure) => told(failure, &format!("build `{}`", input.name()), &session, shell),
    }
}

/// The files that are asked for; what is no file gives no name to its library.
fn target(input: &Input, output: Option<&Path>) -> Result<Target, Stop> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let library = match (output, input) {
        (Some(output), _) => output.to_owned(),
        (None, Input::File(file)) => PathBuf::from(format!("lib{}.so", c_name(&stem(file)))),
        (None, Input::Stdin | Input::Text(_)) => {
            let message = Message::error("the library has no name");
            return Err(Stop::Usage(message.with_help("name it, as with `-o libmodel.so`")));
        }
    };
    let is_static = match library.extension().and_then(|extension| extension.to_str()) {
        Some("so") => false,
        Some("a") => true,
        _ => {
            let text = format!("`{}` is neither a shared nor a static library", library.display());
            return Err(Stop::Usage(
                Message::error(text).with_help("end its name with `.so` or `.a`"),
            ));
        }
    };
    let stem = stem(&library);
    let name = c_name(stem.strip_prefix("lib").filter(|rest| !rest.is_empty()).unwrap_or(&stem));
    let header = library.with_file_name(format!("{name}.h"));
    Ok(Target { library, header, name, is_static })
}

/// A name that C can spell.
fn c_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = text.chars().map(plain).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}

/// Compiles the C part and links everything, in a folder that goes away.
fn write(library: &Library, target: &Target) -> Result<(), Message> {
    let cannot = |what: &Path, error: std::io::Error| {
        Message::error(format!("cannot write `{}`: {error}", what.display()))
    };
    let scratch = tempfile::tempdir().map_err(|error| cannot(&env::temp_dir(), error))?;
    let inside = |name: &str| scratch.path().join(name);
    let save = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(|e| cannot(path, e));
    let source = inside("functions.c");
    save(&source, library.source.as_bytes())?;
    save(&inside(&format!("{}.h", target.name)), library.header.as_bytes())?;
    let compiled = inside("functions.o");
    let mut objects = vec![compiled.clone()];
    for (name, code) in &library.objects {
        let path = inside(&format!("{name}.o"));
        save(&path, code)?;
        objects.push(path);
    }
    let compiler = env::var_os("CC").filter(|cc| !cc.is_empty()).unwrap_or(OsString::from("cc"));
    let mut compile = Command::new(&compiler);
    compile
        .args(["-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-c", "-o"])
        .arg(&compiled)
        .arg(&source);
    call(&mut compile)?;
    let made = inside("library");
    match target.is_static {
        true => call(Command::new("ar").arg("rcs").arg(&made).args(&objects))?,
        false => {
            let mut link = Command::new(&compiler);
            link.args(["-shared", "-Wl,--no-undefined", "-o"]).arg(&made).args(&objects).arg("-lm");
            call(&mut link)?;
        }
    }
    let bytes = fs::read(&made).map_err(|error| cannot(&made, error))?;
    save(&target.library, &bytes)?;
    save(&target.header, library.header.as_bytes())
}

/// Runs a tool to its end.
fn call(command: &mut Command) -> Result<(), Message> {
    let tool = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Message::error(format!("`{tool}` has failed: {}", text.trim())))
        }
        Err(error) => {
            let message = Message::error(format!("cannot start `{tool}`: {error}"));
            Err(message.with_help("a C compiler links the library; `CC` names one"))
        }
    }
}
