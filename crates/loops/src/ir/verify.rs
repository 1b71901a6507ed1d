//! .
/// .
pub fn verify() {}
