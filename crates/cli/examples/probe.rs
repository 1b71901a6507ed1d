//! Runs a program once per line of its input and prints how long its kernels took and what they gave.
//!
//! `probe FILE [--schedule FILE] [--show loops|emitted|llvm|asm] [NAME=VALUE …]`; a line of the answer is the
//! seconds that machine code ran and the sum of the elements of the last output.
//! `cargo xtask bench probes` compares that with C.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use einlang_codegen::{Shown, Timed};
use einlang_driver::{
    Backend, CodeForm, Given, Native, Permits, Printer, ProjectIo, RunOptions, Session,
    parse_schedules,
};
use einlang_source::MemoryWorld;

struct Nowhere;

impl Printer for Nowhere {
    fn line(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What was asked for.
struct Asked {
    file: String,
    schedules: Vec<einlang_driver::Schedule>,
    stage: Option<Shown>,
    inputs: Vec<(String, Given)>,
}

fn asked() -> Result<Asked, String> {
    let mut args = std::env::args().skip(1);
    let mut asked =
        Asked { file: String::new(), schedules: Vec::new(), stage: None, inputs: Vec::new() };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--schedule" => {
                let path = args.next().unwrap_or_default();
                let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
                asked.schedules.extend(parse_schedules(&text).map_err(|e| e.to_string())?);
            }
            "--show" => {
                asked.stage = match args.next().as_deref() {
                    Some("asm") => Some(Shown::Code(CodeForm::Assembly)),
                    Some("emitted") => Some(Shown::Code(CodeForm::Emitted)),
                    Some("loops") => Some(Shown::Loops),
                    _ => Some(Shown::Code(CodeForm::Optimised)),
                };
            }
            _ => match arg.split_once('=') {
                Some((name, value)) => {
                    asked.inputs.push((name.to_owned(), Given::Text(value.to_owned())));
                }
                None => asked.file = arg,
            },
        }
    }
    Ok(asked)
}

/// A scalar as a float.
fn number(value: einlang_driver::Const) -> f64 {
    value.as_float().or(value.as_int().map(|n| n as f64)).unwrap_or(f64::NAN)
}

fn run() -> Result<(), String> {
    let asked = asked()?;
    let folder = Path::new(&asked.file).parent().unwrap_or(Path::new("")).to_owned();
    let mut world = MemoryWorld::new();
    for entry in folder.read_dir().map_err(|e| e.to_string())?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "ein") {
            let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
            world = world.with(path, text);
        }
    }
    let mut session = Session::new(&world);
    let file = session.load(Path::new(&asked.file)).map_err(|e| format!("{e:?}"))?;
    let executable = session.build(file).map_err(|failure| format!("{failure:?}"))?;
    let timed = Arc::new(Timed::showing(asked.stage));
    let mut options = RunOptions { inputs: asked.inputs, ..RunOptions::default() };
    options.limits.backend = Backend::Native;
    options.limits.memory = 32 << 30;
    options.limits.native = Some(Native(timed.clone()));
    options.limits.schedules = asked.schedules;
    for line in std::io::stdin().lock().lines() {
        line.map_err(|e| e.to_string())?;
        let permits = Permits::new(&folder, &[], &[]).map_err(|e| e.to_string())?;
        let mut printer = Nowhere;
        let mut io = ProjectIo::new(permits, &mut printer, options.limits.memory);
        let outcome = executable.run(&options, &mut io).map_err(|f| format!("{f:?}"))?;
        let regions = options.limits.report.regions();
        if let Some(region) = regions.iter().find(|region| region.fallback.is_some()) {
            return Err(format!("{}: {:?}", region.module, region.fallback));
        }
        let output = outcome.outputs.last().ok_or("no output")?;
        let sum: f64 = match (output.value.as_scalar(), output.value.as_tensor()) {
            (Some(scalar), _) => number(scalar),
            (None, Some(tensor)) => tensor.consts().map(number).sum(),
            (None, None) => f64::NAN,
        };
        println!("{:.9} {sum:e}", timed.take().as_secs_f64());
        std::io::stdout().flush().map_err(|e| e.to_string())?;
    }
    Ok(())
}
