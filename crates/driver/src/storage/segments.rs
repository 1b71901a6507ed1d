//! Which trajectories are computed again in segments, for people and for tools.

use einlang_interp::show::json_text;
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::plan::{Choices, Cut, Plan, plan};
use einlang_loops::schedule::{Checkpoints, Keep, Replay, Segment};
use einlang_loops::window::{self, StorageReport, index_name};
use einlang_tir::types::Ident;

use super::words;
use crate::run::Executable;

/// What is computed again in a module, and when.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Only where trajectories take more bytes than that.
    beyond: Option<u64>,
    replay: Replay,
    /// Two axes of a grid: where the second is longer than the first, all of this is along the second.
    unless: Option<(String, String)>,
}

impl Executable {
    /// What checkpoints do to the trajectories of this program; nothing if there are none.
    pub fn segments(&self, checkpoint: Checkpoint) -> Vec<Segments> {
        let (checkpoints, beyond) = match checkpoint {
            Checkpoint::None => return Vec::new(),
            Checkpoint::Segments(checkpoints) => (checkpoints, None),
            Checkpoint::Budget(bytes) => (Checkpoints::Sqrt, Some(bytes)),
        };
        let wanted = Checkpoint::Segments(checkpoints);
        let choices = Choices { checkpoint: wanted, ..Choices::default() };
        let other = Choices { cut: Cut::Other, ..choices.clone() };
        let mut found = Vec::new();
        for module in &self.lowered().program.modules {
            let Ok(made) = plan(module, &choices) else { continue };
            let has_segments = !made.schedule.replays.is_empty();
            let others = has_segments.then(|| plan(module, &other).ok()).flatten();
            for replay in &made.schedule.replays {
                let unless = others.as_ref().and_then(|other| longer(&made, replay, other));
                found.push(Segments { beyond, replay: replay.clone(), unless });
            }
        }
        found
    }
}

/// The names of the axes that two plans for a module cut, if they differ.
fn longer(made: &Plan, replay: &Replay, other: &Plan) -> Option<(String, String)> {
    replay.tensors.iter().find_map(|tensor| {
        let mut others = other.schedule.replays.iter();
        let instead = others.find_map(|replay| replay.tensor(&tensor.name))?;
        let axes = &made.module.binding(&tensor.name)?.axes;
        let name = |axis: usize| Some(index_name(&made.module, axes.get(axis)?.var));
        let names = (name(tensor.axis)?, name(instead.axis)?);
        (instead.axis != tensor.axis).then_some(names)
    })
}

impl Segments {
    /// The tensors that it names.
    pub(super) fn names(&mut self) -> impl Iterator<Item = &mut Ident> {
        let Replay { forward, backward, tensors, .. } = &mut self.replay;
        let parts = forward.iter_mut().chain(backward).map(|part| &mut part.group);
        parts.chain(tensors.iter_mut().map(|tensor| &mut tensor.name))
    }
}

/// The segments as the end of the table.
pub(super) fn segments_table(report: &StorageReport, segments: &[Segments]) -> String {
    let mut text = String::new();
    for Segments { beyond, replay, unless } in segments {
        let head = beyond.map_or_else(String::new, |bytes| {
            format!(" where trajectories take more than {}", words::bytes(bytes.into()))
        });
        text += &format!("\ncheckpoints{head}: {}\n", amount(replay.checkpoints));
        replay.tensors.iter().for_each(|tensor| text += &line(tensor, replay, report));
        if let Some((cut, other)) = unless {
            text +=
                &format!("  along `{cut}`; where `{other}` is longer, along `{other}` instead\n");
        }
    }
    text
}

/// The trajectories of which nothing is cut, where all should be, as the end of the table.
pub(super) fn whole_table(report: &StorageReport, segments: &[Segments]) -> String {
    let named = |name: &str| report.bindings.iter().any(|b| b.name.as_str() == name);
    let is_cut = |name: &str| {
        let mut tensors = segments.iter().flat_map(|segments| &segments.replay.tensors);
        tensors.any(|tensor| tensor.name.as_str() == name)
    };
    let mut text = String::new();
    for binding in &report.bindings {
        let name = binding.name.as_str();
        let is_whole = binding.axes.iter().any(|axis| {
            axis.keep == window::Keep::Full && axis.lookback.is_some_and(|steps| steps > 0)
        });
        if is_whole && named(&format!("{name}_adj")) && !is_cut(name) {
            text += &format!(
                "  {name}: as above, because what reads it does not go along with it in the opposite \
                 order, step by step\n"
            );
        }
    }
    let head = if segments.is_empty() { "\ncheckpoints: none\n" } else { "" };
    if text.is_empty() { text } else { head.to_owned() + &text }
}

/// What is kept of a binding's trajectory in segments, as the member `segments` of its object.
pub(super) fn segments_json(name: &str, segments: &[Segments]) -> String {
    let found = segments.iter().find_map(|of| {
        let tensor = of.replay.tensors.iter().find(|tensor| tensor.name.as_str() == name)?;
        Some((of, tensor.keep))
    });
    let Some((
        Segments { beyond, replay, .. },
        Keep::Segment { before, after, state, first, last, .. },
    )) = found
    else {
        return String::new();
    };
    let beyond = beyond.map_or_else(|| "null".to_owned(), |bytes| bytes.to_string());
    format!(
        ", \"segments\": {{\"checkpoints\": {}, \"beyond_bytes\": {beyond}, \"around\": {}, \
         \"in_checkpoint\": {state}, \"at_beginning\": {first}, \"at_end\": {last}}}",
        json_text(&replay.checkpoints.to_string()),
        before + after,
    )
}

fn amount(checkpoints: Checkpoints) -> String {
    match checkpoints {
        Checkpoints::Sqrt => {
            "one per segment, and about as many segments as a segment has planes".to_owned()
        }
        Checkpoints::Binomial(1) => "one; segments are computed again from it".to_owned(),
        Checkpoints::Binomial(n) => format!("{n}; segments are computed again from the nearest"),
    }
}

fn line(tensor: &Segment, replay: &Replay, report: &StorageReport) -> String {
    let name = tensor.name.as_str();
    let Keep::Segment { before, after, state, first, last, .. } = tensor.keep else {
        let binding = report.bindings.iter().find(|binding| binding.name == tensor.name);
        let axis = binding.and_then(|binding| binding.axes.get(tensor.axis));
        return match axis.map(|axis| axis.keep) {
            Some(window::Keep::Window(_)) => format!("  {name}: as above, in every segment\n"),
            _ => format!("  {name}: as above, because it is an output or read at other times\n"),
        };
    };
    let mut kept = vec!["one segment".to_owned()];
    let mut add = |n: i64, what: &str| match n {
        0 => {}
        1 => kept.push(format!("1 plane {what}")),
        n => kept.push(format!("{n} planes {what}")),
    };
    add(before + after, "around it");
    add(state, "in each checkpoint");
    add(first, "at the beginning");
    add(last, "at the end");
    let forward = replay.forward.iter().any(|part| part.group == tensor.name && part.again);
    let reader = replay.backward.first().map(|part| part.group.as_str());
    let why = match reader {
        Some(reader) if forward || state > 0 => {
            format!("; computed again, because `{reader}` reads it in the opposite order")
        }
        _ => String::new(),
    };
    format!("  {name}: {}{why}\n", kept.join(", "))
}
