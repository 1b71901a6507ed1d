//! .
/// .
pub struct TextError;
