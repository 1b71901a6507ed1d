//! `einlang doc`. What a page says is tested beside its maker; here is what happens to files.

use crate::support::Sandbox;

const SHOP: &str = "//! Prices.\npub mod tax;\n/// A price.\npub const P = 1.0;\n";
const TAX: &str = "//! Taxes.\n/// A rate.\npub const RATE = 0.2;\n";

fn shop() -> Sandbox {
    let sandbox = Sandbox::with("shop/main.ein", SHOP);
    sandbox.write("shop/tax.ein", TAX);
    sandbox
}

#[test]
fn pages_are_printed() {
    let answer = shop().einlang(&["doc", "shop"]).ends_with(0);
    assert!(answer.stdout.contains("# `shop`\n\nPrices.\n"), "{}", answer.stdout);
    assert!(answer.stdout.contains("# `shop::tax`\n\nTaxes.\n"), "{}", answer.stdout);
    assert!(answer.stdout.contains("pub const RATE = 0.2;"), "{}", answer.stdout);
    let renamed = shop().einlang(&["doc", "shop/main.ein", "--name", "store"]).ends_with(0);
    assert!(renamed.stdout.contains("# `store::tax`"), "{}", renamed.stdout);
}

#[test]
fn pages_are_written_and_compared() {
    let sandbox = shop();
    let pages = ["doc", "shop", "-o", "a/pages"];
    let check = ["doc", "shop", "-o", "a/pages", "--check"];
    let answer = sandbox.einlang(&check).ends_with(1);
    assert!(answer.stdout.contains("+Prices."), "{}", answer.stdout);
    assert!(!sandbox.path("a").exists(), "`--check` writes nothing");
    sandbox.einlang(&pages).ends_with(0).says("", "2 pages written, 0 unchanged\n");
    sandbox.einlang(&pages).ends_with(0).says("", "0 pages written, 2 unchanged\n");
    sandbox.einlang(&check).ends_with(0).says("", "0 pages would change, 2 unchanged\n");
    sandbox.write("shop/tax.ein", "//! Duties.\n");
    let answer = sandbox.einlang(&check).ends_with(1);
    for line in ["\n-Taxes.\n", "\n+Duties.\n"] {
        assert!(answer.stdout.contains(line), "{}", answer.stdout);
    }
    assert!(sandbox.read("a/pages/tax.md").contains("Taxes."));
}

#[test]
fn what_cannot_be_read_is_reported_and_nothing_is_written() {
    let sandbox = shop();
    sandbox.write("shop/tax.ein", "pub fn (\n");
    let answer = sandbox.einlang(&["doc", "shop", "-o", "pages"]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0101]"), "{}", answer.stderr);
    assert!(!sandbox.path("pages").exists());
    let missing = sandbox.einlang(&["doc", "none.ein"]).ends_with(1);
    assert!(missing.stderr.starts_with("error[E0901]"), "{}", missing.stderr);
    let empty = Sandbox::with("empty/readme.txt", "").einlang(&["doc", "empty"]).ends_with(1);
    assert!(empty.stderr.starts_with("error[E0903]"), "{}", empty.stderr);
}
