//! What a small edit would gain: a binding that is kept in full only because something looks at
//! more of it than it needs to.

use einlang_loops::window::{AxisStorage, BindingStorage, Keep, Why};

/// The advice for a binding, if there is some.
pub(super) fn hint(binding: &BindingStorage) -> Option<String> {
    let name = binding.name.as_str();
    let root = name.split('.').next().unwrap_or(name);
    let recurs = |axis: &&AxisStorage| axis.keep == Keep::Full && axis.lookback > Some(0);
    let axis = binding.axes.iter().filter(recurs).find(|axis| axis.possible.is_some())?;
    let window = axis.possible?;
    let points = if window == 1 { "1 point".to_owned() } else { format!("{window} points") };
    let gain = format!("then {points} of `{}` would be enough", axis.name);
    let has = |find: fn(&Why) -> bool| axis.reasons.iter().any(|reason| find(&reason.why));
    if has(|why| matches!(why, Why::Printed)) {
        return Some(format!(
            "printing observes all of `{root}`; print the points that matter, such as `{root}[last]`, and {gain}"
        ));
    }
    if has(|why| matches!(why, Why::Output(_))) {
        return Some(format!(
            "name the outputs you need with `--outputs`, without `{root}`, and {gain}"
        ));
    }
    Some(format!("save or return the points that matter instead of all of `{root}`, and {gain}"))
}
