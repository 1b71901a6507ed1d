//! The `einlang` binary.

use std::process::ExitCode;

#[cfg(not(feature = "system-memory"))]
#[global_allocator]
static ALLOCATOR: einlang_runtime::memory::Allocator = einlang_runtime::memory::Allocator;

fn main() -> ExitCode {
    einlang_runtime::memory::keep_for_a_while();
    let code = einlang_cli::main(std::env::args_os().collect());
    einlang_cli::leave(code);
    ExitCode::from(code)
}
