//! Generated programs, ready to run.

use einlang_driver::Session;
use einlang_driver::run::Executable;
use einlang_sema::shapes::Options;
use einlang_source::MemoryWorld;

/// A program of which `o` is observed, if it has no errors.
pub(crate) fn build(text: &str) -> Option<Executable> {
    let world = MemoryWorld::new();
    let options = Options { outputs: Some(vec!["o".to_owned()]), ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("generated.ein", text);
    session.build(file).ok()
}
