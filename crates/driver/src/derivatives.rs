//! How the derivatives of a program are computed, for people and for tools.
//!
//! What was chosen is noted by the pass that expands requests; here the notes get their places in
//! the source and the operations that each takes besides the value of its target.

use einlang_interp::show::json_text;
use einlang_source::Sources;
use einlang_tir::answer::Answer;
use einlang_tir::module::Module;
use einlang_tir::work::{Work, work_of};

use crate::run::Executable;

/// One request and what it costs.
#[derive(Clone, Debug)]
pub struct Request {
    /// What was chosen.
    pub answer: Answer,
    /// The operations besides those for the value of the target.
    pub work: Work,
    /// The operations for the value of the target.
    pub value: Work,
}

impl Executable {
    /// How each request is computed, in the order of the source.
    pub fn derivatives(&self) -> Vec<Request> {
        let modules = self.lowered().program.modules.iter();
        let mut requests: Vec<Request> = modules.flat_map(requests_of).collect();
        requests.sort_by_key(|request| request.answer.loc.0.map(|span| (span.file, span.start)));
        requests
    }
}

fn requests_of(module: &Module) -> Vec<Request> {
    let request = |answer: &Answer| {
        let target = std::slice::from_ref(&answer.target);
        let value = work_of(module, target, &[]);
        let work = work_of(module, answer.read.as_slice(), target);
        Request { answer: answer.clone(), work, value }
    };
    module.answers.iter().map(request).collect()
}

/// The report for people.
pub fn table(requests: &[Request], sources: &Sources) -> String {
    if requests.is_empty() {
        return "no derivative is asked for\n".to_owned();
    }
    let blocks = requests.iter().map(|Request { answer, work, value }| {
        let place = place(answer, sources)
            .map_or(String::new(), |(file, line, column)| format!("{file}:{line}:{column}: "));
        let Answer { of, by, how, why, target, .. } = answer;
        format!(
            "{place}{of} / {by}\n  {how}: {why}\n  takes {work}\n  `{}` itself takes {value}\n",
            target.as_str()
        )
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// The report as a JSON list, one object for each request.
pub fn json(requests: &[Request], sources: &Sources) -> String {
    let entries = requests.iter().map(|Request { answer, work, value }| {
        let place = place(answer, sources).map_or(String::new(), |(file, line, column)| {
            let file = json_text(&file);
            format!(", \"place\": {{\"file\": {file}, \"line\": {line}, \"column\": {column}}}")
        });
        format!(
            "{{\"target\": {}, \"parameter\": {}, \"choice\": {}, \"reason\": {}, \
             \"operations\": {}, \"value_operations\": {}{place}}}",
            json_text(&answer.of),
            json_text(&answer.by),
            json_text(answer.how.as_str()),
            json_text(&answer.why),
            work_json(work),
            work_json(value),
        )
    });
    format!("[{}]", entries.collect::<Vec<_>>().join(", "))
}

/// Numbers where extents are known, else a formula.
fn work_json(work: &Work) -> String {
    match work.counts() {
        Some(counts) => format!(
            "{{\"multiplications\": {}, \"additions\": {}, \"others\": {}}}",
            counts.multiplications, counts.additions, counts.others
        ),
        None => json_text(&work.to_string()),
    }
}

fn place(answer: &Answer, sources: &Sources) -> Option<(String, u32, u32)> {
    let span = answer.loc.0?;
    let at = sources.line_col(span);
    Some((sources.name(span.file).to_owned(), at.line, at.col))
}
