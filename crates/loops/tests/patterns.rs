//! Which nests have the same pattern: in `tests/loops/gates`, two contractions with packed operands, and
//! the copies that pack them, whose subscripts differ by a size.

use einlang_index::{Var, VarKind};
use einlang_loops::ir::{
    Loop, Pattern, Stmt, each_stmt, loose_pattern_of, parse_kernel, pattern_of, with_offsets,
};

#[test]
fn nests_that_do_the_same_have_one_pattern() {
    let text = include_str!("../../../tests/loops/gates.kernel");
    let kernel = parse_kernel(text).expect("it reads back");
    let (mut contractions, mut copies): (Vec<Loop>, Vec<Loop>) = Default::default();
    each_stmt(&kernel.body, &mut |stmt| {
        let Stmt::Loop(of) = stmt else { return };
        match kernel.vars.name(of.range.var) {
            Some("n'''" | "n'6") => contractions.push((**of).clone()),
            Some("p" | "p'''") => copies.push((**of).clone()),
            _ => {}
        }
    });
    let strict = |of: &Loop| pattern_of(of, &kernel, &|_| None).expect("it only computes");
    let loose = |of: &Loop| loose_pattern_of(of, &kernel).expect("it only computes");
    let [a, b] = &contractions[..] else { panic!("there are two") };
    assert_eq!(strict(a).key, strict(b).key);
    assert_eq!(strict(a).buffers.len(), 3);
    assert_ne!(strict(a).buffers, strict(b).buffers);
    let [a, b] = &copies[..] else { panic!("there are two") };
    assert_ne!(strict(a).key, strict(b).key);
    // Their numbers of panels differ too, so it is their rounds that are compared.
    let inside = |of: &Loop| match &of.body.stmts[0] {
        Stmt::Loop(inner) => (**inner).clone(),
        _ => panic!("there is a loop inside"),
    };
    let (a, b) = (inside(a), inside(b));
    let (of_a, of_b) = (loose(&a), loose(&b));
    let n_offsets = |of: &Pattern| of.offsets.iter().flatten().count();
    assert_eq!(n_offsets(&of_a), n_offsets(&of_b));
    let var = Var::reserved(VarKind::Symbol, 1);
    let vars = vec![Some(var); of_b.offsets.len()];
    let moved = with_offsets(&b, &of_b, &vars).expect("numbers are small");
    assert!(strict(&moved).vars.contains(&var));
}
