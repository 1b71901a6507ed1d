//! Which trajectories are computed again in segments, for people and for tools.

use einlang_interp::show::json_text;
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Checkpoints, Keep, Replay, Segment};
use einlang_tir::types::Ident;

use super::words;
use crate::run::Executable;

/// What is computed again in a module, and when.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Only where trajectories take more bytes than that.
    beyond: Option<u64>,
    replay: Replay,
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
        let modules = self.lowered().program.modules.iter();
        let replays = modules
            .filter_map(|module| Some(plan(module, &choices).ok()?.schedule.replays))
            .flatten();
        replays.map(|replay| Segments { beyond, replay }).collect()
    }
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
pub(super) fn segments_table(segments: &[Segments]) -> String {
    let mut text = String::new();
    for Segments { beyond, replay } in segments {
        let head = beyond.map_or_else(String::new, |bytes| {
            format!(" where trajectories take more than {}", words::bytes(bytes.into()))
        });
        text += &format!("\ncheckpoints{head}: {}\n", amount(replay.checkpoints));
        replay.tensors.iter().for_each(|tensor| text += &line(tensor, replay));
    }
    text
}

/// What is kept of a binding's trajectory in segments, as the member `segments` of its object.
pub(super) fn segments_json(name: &str, segments: &[Segments]) -> String {
    let found = segments.iter().find_map(|of| {
        let tensor = of.replay.tensors.iter().find(|tensor| tensor.name.as_str() == name)?;
        Some((of, tensor.keep))
    });
    let Some((
        Segments { beyond, replay },
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

fn line(tensor: &Segment, replay: &Replay) -> String {
    let name = tensor.name.as_str();
    let Keep::Segment { before, after, state, first, last, .. } = tensor.keep else {
        return format!("  {name}: as above, because it is an output or read at other times\n");
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
