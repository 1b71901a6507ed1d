//! Checking again after an edit: only what the edit touches, and always with the result of a check
//! from the beginning.

use std::path::Path;

use einlang_driver::{Memo, Session, Work};
use einlang_source::{Diagnostics, MemoryWorld, render};
use proptest::prelude::*;

/// A project of modules that use each other.
struct Project {
    files: Vec<(String, String)>,
}

impl Project {
    fn world(&self) -> MemoryWorld {
        let add =
            |world: MemoryWorld, (name, text): &(String, String)| world.with(name, text.as_bytes());
        self.files.iter().fold(MemoryWorld::new(), add)
    }

    fn edit(&mut self, name: &str, from: &str, to: &str) {
        let (_, text) = self.files.iter_mut().find(|(file, _)| file == name).expect("a file");
        assert!(text.contains(from), "`{from}` is in {name}");
        *text = text.replacen(from, to, 1);
    }

    /// The diagnostics as text, so that places count and file numbers do not.
    fn check_again(&self, memo: &mut Memo) -> (String, Work) {
        let world = self.world();
        let mut session = Session::new(&world);
        let file = session.load(Path::new("main.ein")).expect("the root is there");
        let (found, work) = session.check_again(file, memo);
        (shown(&session, &found), work)
    }

    fn check(&self) -> String {
        let world = self.world();
        let mut session = Session::new(&world);
        let file = session.load(Path::new("main.ein")).expect("the root is there");
        let found = session.check(file);
        shown(&session, &found)
    }
}

fn shown(session: &Session<'_>, found: &Diagnostics) -> String {
    found.iter().map(|d| render::json(session.sources(), d) + "\n").collect()
}

fn project(n_modules: usize) -> Project {
    let mut files = Vec::new();
    let mut root = String::new();
    for i in 0..n_modules {
        root += &format!("mod m{i};\n");
        let mut text = String::new();
        if i > 0 {
            text += &format!("use crate::m{}::smooth as before;\n", i - 1);
        }
        text += "pub fn smooth(x: [f32; N], k: f32) -> [f32; N] {\n    let y[i] = x[i] * k;\n    y\n}\n";
        text += "pub fn twice(x) { x + x }\n";
        if i > 0 {
            text += "pub fn both(x: [f32; N]) -> [f32; N] { before(x, 2.0) }\n";
        }
        text += &format!("let data = [1.0, 2.0, {i}.5];\nlet out = twice(smooth(data, 0.5));\n");
        files.push((format!("m{i}.ein"), text));
    }
    root += "let s = m0::twice(1.0);\n";
    files.push(("main.ein".to_owned(), root));
    Project { files }
}

#[test]
fn an_edit_is_checked_where_it_matters() {
    let mut project = project(50);
    let mut memo = Memo::default();
    let (found, work) = project.check_again(&mut memo);
    assert_eq!(found, "");
    assert!(work.checked.len() > 150 && work.n_kept == 0, "{work:?}");
    // Nothing changed.
    let (found, work) = project.check_again(&mut memo);
    assert_eq!((found.as_str(), work.checked.len()), ("", 0));
    // The body of a declared function: nobody else can see it.
    project.edit("m7.ein", "x[i] * k", "x[i] * k + 1.0");
    let (found, work) = project.check_again(&mut memo);
    assert_eq!(found, "");
    assert_eq!(work.checked, ["crate::m7::smooth#1"]);
    // The body of a generic function: those who use it.
    project.edit("m7.ein", "{ x + x }", "{ x * 2 }");
    let (_, work) = project.check_again(&mut memo);
    assert_eq!(work.checked, ["crate::m7::twice#1", "crate::m7"]);
    // An interface: those who use it, and the mistake is found there.
    project.edit("m7.ein", "smooth(x: [f32; N], k: f32)", "smooth(x: [f32; N], k: i32)");
    project.edit("m7.ein", "x[i] * k + 1.0", "x[i] * (k as f32)");
    let (found, work) = project.check_again(&mut memo);
    assert!(found.contains("m8.ein") && found.contains("E0402"), "{found}");
    assert_eq!(found, project.check());
    assert!(work.checked.contains(&"crate::m8::both#1".to_owned()), "{work:?}");
    assert!(work.checked.len() < 8, "{work:?}");
}

#[test]
fn kept_diagnostics_move_with_their_text() {
    let files = [(
        "main.ein".to_owned(),
        "fn f(x: [f32; 3]) -> f32 { x[7] }\nlet a = f([1.0, 2.0, 3.0]);\nfn g() -> i32 { 1 }\nlet b[i in 2..4] = i;\n"
            .to_owned(),
    )];
    let mut project = Project { files: files.to_vec() };
    let mut memo = Memo::default();
    let (first, _) = project.check_again(&mut memo);
    assert_eq!(first, project.check());
    assert!(first.contains("E0308") && first.contains("W0305"), "{first}");
    project.edit("main.ein", "{ 1 }", "{ let y = 1; let z = 2; y + z }");
    let (second, work) = project.check_again(&mut memo);
    assert_eq!(second, project.check());
    assert_eq!(work.checked, ["crate::g#1"]);
}

/// Small edits, some of which break the program in one place or another.
const EDITS: [(&str, &str); 12] = [
    ("x[i] * k", "x[i + 1] * k"),
    ("x[i + 1] * k", "x[i] * k"),
    ("x[i] * k", "x[i] * k + 1"),
    ("{ x + x }", "{ x + 1 }"),
    ("{ x + 1 }", "{ x + x }"),
    ("{ x + x }", "{ y }"),
    ("{ y }", "{ x + x }"),
    ("k: f32", "k: i32"),
    ("k: i32", "k: f32"),
    ("let data = [1.0, 2.0", "let data = [1.0, 2.0, 3.0"),
    ("let data = [1.0", "let data = [true"),
    ("let data = [true", "let data = [1.0"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_result_is_that_of_a_check_from_the_beginning(
        edits in proptest::collection::vec((0usize..4, 0usize..EDITS.len()), 1..12)
    ) {
        let mut project = project(4);
        let mut memo = Memo::default();
        project.check_again(&mut memo);
        for (file, edit) in edits {
            let (from, to) = EDITS[edit];
            let text = &mut project.files[file].1;
            *text = text.replacen(from, to, 1);
            let (found, _) = project.check_again(&mut memo);
            prop_assert_eq!(found, project.check());
        }
    }
}
