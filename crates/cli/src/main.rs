//! The `einlang` binary.

use std::process::ExitCode;

/// Checking allocates many small values for a short time, which this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let code = einlang_cli::main(std::env::args_os().collect());
    einlang_cli::leave(code);
    ExitCode::from(code)
}
