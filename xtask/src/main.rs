//! Project tasks: `cargo xtask run|test|tidy|bless|bench`.
fn main() {}
