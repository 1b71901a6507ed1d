//! Pages of small programs.

use std::path::Path;

use einlang_sema::Library;
use einlang_source::{MemoryWorld, World};

use super::*;
use crate::library::Std;

fn documented(files: &[(&str, &str)]) -> Vec<ModulePage> {
    let world =
        files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.with(*path, *text));
    let mut sources = Sources::new();
    let text = world.read_source(Path::new(files[0].0)).expect("the first file is the root");
    let root = sources.add(files[0].0, text);
    pages(&world, &mut sources, root, Path::new(""), "shop").expect("no errors")
}

fn names(page: &ModulePage) -> Vec<&str> {
    page.items().map(|item| item.name.as_str()).collect()
}

#[test]
fn a_page_shows_signature_text_and_example() {
    let text = "//! Prices.\n//!\n//! In euros.\n\n/// The price with tax. Rounded.\n///\n\
        /// ```ein\n/// print(1);\n/// ```\n#[audit]\npub fn gross(net: f32, rate: f32 = 0.2) -> f32 \
        {\n    net * (1.0 + rate)\n}\nfn hidden() {\n    1\n}\n";
    let pages = documented(&[("main.ein", text)]);
    let expected = format!(
        "{MARK}\n\n# `shop`\n\nPrices.\n\nIn euros.\n\n| name | what it is |\n|---|---|\n\
         | [`gross`](#gross) | The price with tax |\n\n## `gross`\n\n```ein,signature\n\
         pub fn gross(net: f32, rate: f32 = 0.2) -> f32\n```\n\nThe price with tax. Rounded.\n\n\
         ```ein\nprint(1);\n```\n"
    );
    assert_eq!(pages[0].markdown(), expected);
    assert_eq!((pages.len(), pages[0].file().as_str()), (1, "index.md"));
}

#[test]
fn private_modules_are_topics_and_public_ones_pages() {
    let pages = documented(&[
        ("main.ein", "pub mod a;\nmod b;\npub use b::{f, g as h};\npub use crate::a::K;\n"),
        (
            "a.ein",
            "/// A constant.\npub const K = 1;\npub mod inner {\n//! Inside.\npub fn x() { 1 }\n}\n",
        ),
        (
            "b.ein",
            "//! About b.\n/// F.\npub fn f() { 1 }\n/// G.\npub fn g() { 2 }\npub fn not_passed() { 3 }\n",
        ),
    ]);
    let files: Vec<String> = pages.iter().map(ModulePage::file).collect();
    assert_eq!(files, ["index.md", "a.md", "a/inner.md"]);
    assert_eq!(names(&pages[0]), ["f", "h", "K"]);
    assert_eq!(pages[0].sections[0].topic.as_deref(), Some("b"));
    assert_eq!(pages[0].sections[0].text, "About b.");
    assert_eq!(pages[0].modules[0].0, "a");
    assert_eq!(pages[2].path.join("::"), "shop::a::inner");
    assert_eq!(pages[2].text, "Inside.");
}

#[test]
fn globs_bring_all_and_circles_end() {
    let pages = documented(&[
        ("main.ein", "mod a;\nmod b;\npub use a::*;\n"),
        ("a.ein", "pub fn one() { 1 }\npub use super::b::*;\n"),
        ("b.ein", "pub use super::a::*;\npub struct P { x: f32 }\n"),
    ]);
    assert!(names(&pages[0]).contains(&"one") && names(&pages[0]).contains(&"P"));
}

#[test]
fn headings_that_are_spelled_alike_have_links_of_their_own() {
    let pages = documented(&[("main.ein", "pub const E = 1.0;\npub fn e() { E }\n")]);
    let text = pages[0].markdown();
    assert!(text.contains("[`E`](#e)") && text.contains("[`e`](#e-1)"), "{text}");
}

#[test]
fn a_missing_module_is_an_error() {
    let world = MemoryWorld::new();
    let mut sources = Sources::new();
    let root = sources.add("main.ein", "mod gone;\n");
    let errors = pages(&world, &mut sources, root, Path::new(""), "shop").expect_err("no file");
    assert_eq!(errors.iter().next().map(|error| error.code.as_str()), Some("E0111"));
}

#[test]
fn everything_in_the_library_has_a_signature_and_a_checked_example() {
    let files = Std::paths().map(|path| (path, Std.text(path).expect("it is listed")));
    let world = files.fold(MemoryWorld::new(), |world, (path, text)| world.with(path, &*text));
    let mut sources = Sources::new();
    let root = sources.add("mod.ein", Std.text("mod.ein").expect("there is a root"));
    let pages = pages(&world, &mut sources, root, Path::new(""), "std").expect("no errors");
    let mut n_items = 0;
    for page in &pages {
        assert!(!page.text.is_empty(), "{} does not say what it is", page.file());
        for Item { name, signature, text } in page.items() {
            let place = format!("`{name}` in {}", page.file());
            assert!(!signature.contains("intrinsics"), "{place} has no signature");
            assert!(text.contains("```ein\n") || text.contains("```ein,needs="), "{place}: {text}");
            let checks = ["assert", "check_deriv", "```output"];
            assert!(checks.iter().any(|word| text.contains(word)), "{place} checks nothing");
            let body = if signature.ends_with([';', '}']) { "" } else { " { 0 }" };
            let parsed = einlang_syntax::parse(root, format!("{signature}{body}"));
            assert!(parsed.diagnostics.is_empty(), "{place}: {signature}");
            n_items += 1;
        }
    }
    assert!(n_items > 280, "{n_items}");
}
