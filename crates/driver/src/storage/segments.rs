//! Which trajectories are computed again in segments, in words.

use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Checkpoints, Keep, Replay, Segment};

use super::words;
use crate::run::Executable;

impl Executable {
    /// What checkpoints do to the trajectories of this program; nothing if there are none.
    pub fn segments(&self, checkpoint: Checkpoint) -> String {
        let (checkpoints, head) = match checkpoint {
            Checkpoint::None => return String::new(),
            Checkpoint::Segments(checkpoints) => (checkpoints, String::new()),
            Checkpoint::Budget(bytes) => {
                let bytes = words::bytes(bytes.into());
                (Checkpoints::Sqrt, format!(" where trajectories take more than {bytes}"))
            }
        };
        let wanted = Checkpoint::Segments(checkpoints);
        let choices = Choices { checkpoint: wanted, ..Choices::default() };
        let mut text = String::new();
        for module in &self.lowered().program.modules {
            let replay = plan(module, &choices).ok().and_then(|plan| plan.schedule.replay);
            if let Some(replay) = replay {
                text += &format!("\ncheckpoints{head}: {}\n", amount(replay.checkpoints));
                replay.tensors.iter().for_each(|tensor| text += &line(tensor, &replay));
            }
        }
        text
    }
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
