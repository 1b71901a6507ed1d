//! What holds for every text and every span, tried on random ones.

use einlang_source::render::{self, MessageFormat, Options};
use einlang_source::{
    Code, Diagnostic, Edit, FileId, Help, Label, Severity, Sources, Span, apply_edits,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Characters that matter to lines, columns, terminals or the drawing of snippets.
const CHARACTERS: &[&str] = &[
    "a",
    "b",
    "x",
    " ",
    "    ",
    "(",
    "}",
    "//",
    ";",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "é",
    "界",
    "😀",
    "e\u{301}",
    "👩\u{200d}🚀",
    "\u{200b}",
    "\u{feff}",
    "\0",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{9b}",
    "\u{202e}",
    "\u{2028}",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

fn text() -> impl Strategy<Value = String> {
    vec(prop::sample::select(CHARACTERS), 0..40).prop_map(|parts| parts.concat())
}

/// Offsets within the text mostly, and beyond it sometimes; the order of both ends is free.
fn span(files: &[FileId]) -> impl Strategy<Value = Span> + use<> {
    let offset = || prop_oneof![30 => 0..60u32, 10 => 0..400u32, 1 => Just(u32::MAX)];
    let file = prop::sample::select(files.to_vec());
    (file, offset(), offset(), any::<bool>()).prop_map(|(file, start, end, is_empty)| Span {
        file,
        start,
        end: if is_empty { start } else { end },
    })
}

fn label(files: &[FileId]) -> impl Strategy<Value = Label> + use<> {
    (span(files), short_text()).prop_map(|(span, text)| Label { span, text })
}

fn edit(files: &[FileId]) -> impl Strategy<Value = Edit> + use<> {
    (span(files), short_text()).prop_map(|(span, replacement)| Edit { span, replacement })
}

fn short_text() -> impl Strategy<Value = String> {
    vec(prop::sample::select(CHARACTERS), 0..5).prop_map(|parts| parts.concat())
}

/// Edits that exclude each other often, or edits of one file that never do.
fn help(files: &[FileId]) -> impl Strategy<Value = Help> + use<> {
    let edits = prop_oneof![vec(edit(files), 0..4), disjoint_edits(files)];
    (short_text(), edits).prop_map(|(text, edits)| Help { text, edits })
}

fn disjoint_edits(files: &[FileId]) -> impl Strategy<Value = Vec<Edit>> + use<> {
    let file = prop::sample::select(files.to_vec());
    (file, vec((0..60u32, 0..60u32, short_text()), 1..5)).prop_map(|(file, parts)| {
        let mut ends: Vec<u32> = parts.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
        ends.sort_unstable();
        let spans = ends.chunks(2).map(|pair| Span { file, start: pair[0], end: pair[1] });
        let texts = parts.into_iter().map(|(_, _, text)| text);
        spans.zip(texts).map(|(span, replacement)| Edit { span, replacement }).collect()
    })
}

/// Two files and a diagnostic about both; the files' third neighbour does not exist.
fn case() -> impl Strategy<Value = (Sources, Diagnostic)> {
    (text(), text()).prop_flat_map(|(first, second)| {
        let mut sources = Sources::new();
        let mut strangers = Sources::new();
        let mut files = vec![sources.add("f.ein", first), sources.add("g\u{1b}.ein", second)];
        files.push((0..9).map(|_| strangers.add("", "")).last().expect("nine files"));
        (Just(sources), diagnostic(&files))
    })
}

fn diagnostic(files: &[FileId]) -> impl Strategy<Value = Diagnostic> + use<> {
    let secondary = vec(label(files), 0..4);
    let helps = vec(help(files), 0..3);
    (short_text(), label(files), secondary, vec(short_text(), 0..3), helps, any::<bool>()).prop_map(
        |(message, primary, secondary, notes, helps, is_error)| {
            let severity = if is_error { Severity::Error } else { Severity::Warning };
            Diagnostic { code: Code::E0101, severity, message, primary, secondary, notes, helps }
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    let width = prop_oneof![Just(None), (0..200usize).prop_map(Some)];
    (any::<bool>(), width).prop_map(|(color, width)| Options {
        color,
        width,
        message_format: MessageFormat::Human,
    })
}

/// Line and column of an offset by walking the text, for comparison.
fn naive_place(text: &str, offset: usize) -> (u32, u32) {
    let (mut line, mut col) = (1, 1);
    for (at, c) in text.char_indices().take_while(|(at, c)| at + c.len_utf8() <= offset) {
        match c {
            '\n' => (line, col) = (line + 1, 1),
            '\u{feff}' if at == 0 => {}
            '\r' if text[at..].starts_with("\r\n") => {}
            _ => col += 1,
        }
    }
    (line, col)
}

proptest! {
    #[test]
    fn lines_and_columns_agree_with_a_walk_over_the_text(text in text(), start in 0..500usize) {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text.as_str());
        let at = sources.line_col(Span::at(file, start as u32));
        let start = text.floor_char_boundary(start);
        prop_assert_eq!((at.line, at.col), naive_place(&text, start));
    }

    #[test]
    fn lines_make_up_the_text(text in text()) {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text.as_str());
        let lines: Vec<&str> =
            (1..=sources.n_lines(file)).map(|line| sources.line_text(file, line)).collect();
        let bare = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        prop_assert_eq!(lines.join("\n"), bare);
    }

    #[test]
    fn rendering_for_people_is_total_and_harmless(
        (sources, diagnostic) in case(),
        options in options(),
    ) {
        let rendered = render::human(&sources, &diagnostic, &options);
        if !options.color {
            let harmful = rendered.chars().find(|c| c.is_control() && *c != '\n');
            prop_assert_eq!(harmful, None, "{}", rendered);
        }
    }

    #[test]
    fn rendering_for_programs_is_one_line_of_json((sources, diagnostic) in case()) {
        let rendered = render::json(&sources, &diagnostic);
        prop_assert!(!rendered.chars().any(char::is_control));
        let value: serde_json::Value = serde_json::from_str(&rendered).expect("valid JSON");
        let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
        let wanted = "severity code message span help labels notes edits rendered";
        prop_assert_eq!(keys, wanted.split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn both_forms_report_the_same_place((sources, diagnostic) in case()) {
        let value: serde_json::Value =
            serde_json::from_str(&render::json(&sources, &diagnostic)).expect("valid JSON");
        let span = &value["span"];
        let rendered = format!("{}\n", value["rendered"].as_str().expect("a string"));
        let name = span["file"].as_str().expect("a name").replace('\u{1b}', "␛");
        let place = format!("--> {name}:{}:{}\n", span["line"], span["col"]);
        let bare = format!("--> {name}\n");
        let agrees = rendered.contains(&place) || rendered.contains(&bare);
        prop_assert!(agrees, "{} in {}", place, rendered);
    }

    #[test]
    fn edits_leave_the_rest_of_the_text_alone(text in text(), at in 0..200usize) {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text.as_str());
        let at = text.floor_char_boundary(at);
        let edit = Edit { span: Span::at(file, at as u32), replacement: "+".into() };
        let done = apply_edits(&text, &[edit]).expect("one edit cannot overlap");
        prop_assert_eq!(done, format!("{}+{}", &text[..at], &text[at..]));
    }
}
