//! The report as JSON: the object `storage` of `run --json`, and `explain-storage --json`.

use einlang_interp::show::json_text;
use einlang_loops::window::{
    AxisOrder, AxisStorage, BindingStorage, Keep, ScheduledAxis, StorageReport,
};
use einlang_source::Sources;

use super::names::spelled;
use super::segments::{Segments, segments_json};
use super::{hints, words};

/// An object with one entry for each recurrent binding, with what is computed again of it.
pub fn json(report: &StorageReport, segments: &[Segments], sources: &Sources) -> String {
    let (report, segments) = spelled(report, segments, sources);
    let entry = |binding: &BindingStorage| {
        let name = binding.name.as_str();
        let segments = segments_json(name, &segments);
        format!("{}: {}", json_text(name), binding_json(binding, &segments, sources))
    };
    format!("{{{}}}", report.bindings.iter().map(entry).collect::<Vec<_>>().join(", "))
}

fn binding_json(binding: &BindingStorage, segments: &str, sources: &Sources) -> String {
    let axes: Vec<String> = binding
        .axes
        .iter()
        .enumerate()
        .map(|(at, axis)| axis_json(binding, at, axis, sources))
        .collect();
    let schedule = match &binding.schedule {
        AxisOrder::Axes(levels) => {
            let levels: Vec<String> = levels.iter().map(level_json).collect();
            format!("[{}]", levels.join(", "))
        }
        AxisOrder::Other => "null".to_owned(),
    };
    let with = binding
        .along_with
        .as_ref()
        .map_or(String::new(), |other| format!(", \"along_with\": {}", json_text(other.as_str())));
    let hint = hints::hint(binding)
        .map_or(String::new(), |hint| format!(", \"hint\": {}", json_text(&hint)));
    format!(
        "{{\"axes\": [{}], \"schedule\": {schedule}, \"bytes\": {{\"full\": {}, \"kept\": {}}}{with}{segments}{hint}}}",
        axes.join(", "),
        number(binding.full_bytes()),
        number(binding.kept_bytes()),
    )
}

fn level_json(level: &ScheduledAxis) -> String {
    let direction = if level.descending { "descending" } else { "ascending" };
    let shift = match level.shift {
        0 => String::new(),
        n => format!(", \"shift\": {n}"),
    };
    format!("{{\"axis\": {}, \"direction\": \"{direction}\"{shift}}}", level.axis)
}

fn axis_json(binding: &BindingStorage, at: usize, axis: &AxisStorage, sources: &Sources) -> String {
    let window = match axis.keep {
        Keep::Window(n) => n.to_string(),
        Keep::Full => "\"full\"".to_owned(),
    };
    let place = |(file, line, column, text): (String, u32, u32, String)| {
        let (file, text) = (json_text(&file), json_text(&text));
        format!("{{\"file\": {file}, \"line\": {line}, \"column\": {column}, \"text\": {text}}}")
    };
    let sentences = axis.reasons.iter().map(|reason| words::sentence(reason, binding, at, sources));
    let reasons: Vec<(String, Option<String>)> =
        sentences.map(|(words, at)| (words, at.map(place))).collect();
    let reason = reasons.iter().map(|reason| reason.0.as_str()).collect::<Vec<_>>().join("; ");
    let places: Vec<String> = reasons.iter().filter_map(|reason| reason.1.clone()).collect();
    let conditions: Vec<String> = axis.condition_text.iter().map(|text| json_text(text)).collect();
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!(", \"conditions\": [{}]", conditions.join(", ")),
    };
    format!(
        "{{\"axis\": {at}, \"name\": {}, \"extent\": {}, \"lookback\": {}, \"tail\": {}, \"window\": {window}{conditions}, \"reason\": {}, \"places\": [{}]}}",
        json_text(&axis.name),
        axis.extent_now.map_or_else(|| json_text(&axis.extent_text), |n| n.to_string()),
        number(axis.lookback),
        number(axis.tail),
        json_text(&reason),
        places.join(", "),
    )
}

fn number<N: ToString>(n: Option<N>) -> String {
    n.map_or_else(|| "null".to_owned(), |n| n.to_string())
}
