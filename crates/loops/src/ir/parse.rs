//! .
/// .
pub fn parse_kernel() {}
