//! Orders against brute force on small constant boxes: an order that is found computes every point
//! before it is read; a group whose points cannot be sorted has none; and reads that some known
//! schedule allows always have one.

use std::collections::HashMap;

use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Order, Statement, dependences, find_order};
use einlang_tir::text::parse_module;
use proptest::prelude::*;

use crate::generate::Dice;

type Point = (Statement, Vec<i64>);

/// A time: loop values and phase numbers, compared from the outside in.
type Time = Vec<i64>;

const SIZES: [i64; 2] = [4, 3];

/// One or two rank-2 bindings whose clauses read at constant offsets.
fn random(dice: &mut Dice, allowed: &dyn Fn(i64, i64) -> bool) -> Module {
    let names = &["a", "b"][..1 + dice.below(2)];
    let mut text = "module m { group {\n".to_owned();
    let mut n_values = 0;
    for name in names {
        let (i, j) = (format!("{name}i"), format!("{name}j"));
        let (m, n) = (SIZES[0], SIZES[1]);
        text += &format!("binding {name}: i32[{i} < {m}, {j} < {n}] {{\n");
        let cut = dice.below(4);
        for (low, high) in [(0, cut as i64), (cut as i64, m)] {
            text +=
                &format!("clause {{ [{i}, {j}] : {low} <= {i} < {high} and 0 <= {j} < {n} }} {{\n");
            for _ in 0..dice.below(3) {
                let (di, dj) = (dice.below(5) as i64 - 2, dice.below(5) as i64 - 2);
                if allowed(di, dj) {
                    let of = names[dice.below(names.len())];
                    text += &format!(
                        "%{n_values}: i32 = read {of}[{i} {di:+}, {j} {dj:+}] else {{ yield 0i32; }};\n"
                    );
                    n_values += 1;
                }
            }
            text += "yield 0i32; }\n";
        }
        text += "}\n";
    }
    text += "} }";
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn points(group: &Group) -> Vec<Point> {
    let mut all = Vec::new();
    for (binding, b) in group.bindings.iter().enumerate() {
        for (clause, c) in b.clauses.iter().enumerate() {
            let points = c.domain.points(1000).expect("small and known");
            all.extend(points.into_iter().map(|p| (Statement { binding, clause }, p)));
        }
    }
    all
}

/// Each read: reader and what it reads.
fn reads(module: &Module, group: &Group) -> Vec<(Point, Point)> {
    let mut all = Vec::new();
    for d in dependences(module, group) {
        let dims = d.domain.dims().to_vec();
        for p in d.domain.points(1000).expect("small and known") {
            let value = |var| p[dims.iter().position(|dim| *dim == var).expect("small and known")];
            let at = d.at.iter().map(|q| q.eval(&value).expect("small and known") as i64).collect();
            all.push(((d.reader, p.clone()), (d.writer, at)));
        }
    }
    all
}

fn times(order: &Order, at: &[Point], time: &Time, out: &mut HashMap<Point, Time>) {
    match order {
        Order::Points(_) => out.extend(at.iter().map(|p| (p.clone(), time.clone()))),
        Order::Phases(phases) => {
            for (number, phase) in phases.iter().enumerate() {
                let inside = statements(phase);
                let part: Vec<Point> =
                    at.iter().filter(|p| inside.contains(&p.0)).cloned().collect();
                times(phase, &part, &[&time[..], &[number as i64]].concat(), out);
            }
        }
        Order::Loop { forms, inner } => {
            for point in at {
                let form = &forms.iter().find(|form| form.0 == point.0).expect("small and known").1;
                let time = [&time[..], &[form.at(&point.1)]].concat();
                times(inner, std::slice::from_ref(point), &time, out);
            }
        }
    }
}

fn statements(order: &Order) -> Vec<Statement> {
    match order {
        Order::Points(statement) => vec![*statement],
        Order::Phases(phases) => phases.iter().flat_map(statements).collect(),
        Order::Loop { forms, .. } => forms.iter().map(|form| form.0).collect(),
    }
}

/// Whether the points can be sorted at all.
fn sortable(points: &[Point], reads: &[(Point, Point)]) -> bool {
    let mut left: Vec<&Point> = points.iter().collect();
    loop {
        let waits = |p: &Point| reads.iter().any(|r| r.0 == *p && left.contains(&&r.1));
        let next: Vec<&Point> = left.iter().copied().filter(|p| waits(p)).collect();
        if next.len() == left.len() {
            return left.is_empty();
        }
        left = next;
    }
}

fn check(module: &Module, must_exist: bool) -> Result<(), TestCaseError> {
    let group = &module.groups[0];
    let (points, reads) = (points(group), reads(module, group));
    match find_order(module, group) {
        Ok(order) => {
            let mut time = HashMap::new();
            times(&order, &points, &Vec::new(), &mut time);
            prop_assert_eq!(time.len(), points.len());
            for (reader, read) in &reads {
                prop_assert!(
                    time[read] < time[reader],
                    "{:?} {:?} {:?}\n{}",
                    reader,
                    read,
                    order,
                    module
                );
            }
            prop_assert!(sortable(&points, &reads));
        }
        Err(no_order) => {
            prop_assert!(!must_exist, "no order for\n{}", module);
            prop_assert!(!no_order.cycle.is_empty());
            let readers: Vec<Statement> = no_order.cycle.iter().map(|read| read.reader).collect();
            prop_assert!(no_order.cycle.iter().all(|read| readers.contains(&read.writer)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn orders_respect_every_read(seed: u64) {
        check(&random(&mut Dice::new(seed), &|_, _| true), false)?;
    }

    #[test]
    fn reads_behind_a_schedule_have_an_order(seed: u64) {
        let mut dice = Dice::new(seed);
        let forms = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [1, -1], [2, 1], [2, -1]];
        let form: [i64; 2] = forms[dice.below(forms.len())];
        // The second axis breaks ties, as an inner loop does.
        let inner = if form[1] == 0 { [0, 1] } else { [1, 0] };
        let behind = |di: i64, dj: i64| {
            let outer = form[0] * di + form[1] * dj;
            outer < 0 || (outer == 0 && inner[0] * di + inner[1] * dj < 0)
        };
        check(&random(&mut dice, &behind), true)?;
    }
}
