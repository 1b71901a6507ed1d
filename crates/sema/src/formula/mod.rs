//! Differentials as readable mathematics: what `print(@y)` shows.
//!
//! | file | owns |
//! |---|---|
//! | `math` | sums of products, with like terms collected |
//! | `scope` | what names stand for where an expression is read, and the lines written so far |
//! | `value` | expressions as mathematics and text |
//! | `change` | the differentials of expressions |
//! | `calls` | calls and blocks: intermediate lines |
//! | `reduce` | reductions, `if`, `match` and `where` |
//! | `lines` | the equations of a binding |
//!
//! The text says how a binding follows the bindings that its definition names, in the names of the
//! program. It is made from the source alone and costs nothing when the program runs. What has no
//! short formula stays a differential of its own, `@(…)`, so nothing that is shown is untrue.

mod calls;
mod change;
mod lines;
mod math;
mod reduce;
mod scope;
mod value;

pub(crate) use scope::Writer;
