use super::*;
use crate::invariants::check_clean;

#[test]
fn programs_are_well_formed_and_fully_known() {
    for seed in 0..400 {
        let program = program(&mut Source::from_seed(seed), Section::ALL, 6);
        check_clean(&program.text);
        for fact in &program.facts {
            let expected = fact.expected.as_ref().expect("every value is known");
            assert_eq!(expected.len(), fact.shape.iter().product::<usize>(), "{}", fact.name);
            assert!(expected.iter().all(|value| value.element() == fact.element), "{}", fact.name);
            let name = fact.name.split('.').next().unwrap_or_default();
            let is_bound = |line: &str| {
                let bound = line.strip_prefix("let ").unwrap_or_default();
                bound.split(['=', '[']).next().unwrap_or_default().contains(name)
            };
            assert!(program.text.lines().any(is_bound), "{name}\n{}", program.text);
        }
    }
}

#[test]
fn every_section_stands_alone() {
    for section in Section::ALL {
        for seed in 0..60 {
            let program = program(&mut Source::from_seed(seed), &[*section], 3);
            assert_eq!(program.sections, [*section; 3]);
            check_clean(&program.text);
        }
    }
}

#[test]
fn no_choice_makes_a_small_program() {
    let program = program(&mut Source::from_bytes(&[]), Section::ALL, 1);
    assert!(program.text.lines().count() <= 5, "{}", program.text);
}

/// The evaluator against values worked out by hand.
mod by_hand {
    use super::super::build::Builder;
    use super::super::expr::*;
    use super::super::facts::Value;
    use crate::generate::Source;

    fn ints(values: &[i64]) -> Option<Vec<Value>> {
        Some(values.iter().map(|n| Value::Int(*n)).collect())
    }

    fn defined(clauses: &[Clause]) -> (String, Option<Vec<Value>>) {
        let mut source = Source::from_seed(0);
        let mut builder = Builder::new(&mut source);
        let vector = [3, -1, 4, 1].iter().enumerate();
        let points: Vec<Clause> =
            vector.map(|(i, n)| Clause::new(vec![Slot::Point(i)], int(*n))).collect();
        builder.try_define("v", &points).expect("exact");
        builder.try_define("h", clauses).expect("exact");
        let fact = builder.facts.last().expect("a binding").clone();
        let text = builder.text.lines().skip(4).collect::<Vec<_>>().join("\n");
        (text, fact.expected)
    }

    #[test]
    fn fibonacci() {
        let step = binary(
            Operator::Add,
            read("h", vec![shifted("n", -1)]),
            read("h", vec![shifted("n", -2)]),
        );
        let clauses = [
            Clause::new(vec![Slot::Point(0)], int(0)),
            Clause::new(vec![Slot::Point(1)], int(1)),
            Clause::new(vec![Slot::between("n", 2, 8)], step),
        ];
        let (text, values) = defined(&clauses);
        assert_eq!(text, "let h[0] = 0;\nlet h[1] = 1;\nlet h[n in 2..8] = h[n - 1] + h[n - 2];");
        assert_eq!(values, ints(&[0, 1, 1, 2, 3, 5, 8, 13]));
    }

    #[test]
    fn descending_sums() {
        let sum =
            binary(Operator::Add, read("v", vec![name("t")]), read("h", vec![shifted("t", 1)]));
        let step = Clause { descending: true, ..Clause::new(vec![Slot::upto("t", 3)], sum) };
        let base = Clause::new(vec![Slot::Point(3)], read("v", vec![int(3)]));
        assert_eq!(defined(&[base, step]).1, ints(&[7, 4, 5, 1]));
    }

    #[test]
    fn prefix_sums_and_first_extremum() {
        let prefix = Slot::Range { name: "k", low: int(0), high: name("i"), inclusive: true };
        let sum = reduce(Reduction::Sum, vec![prefix], read("v", vec![name("k")]));
        let slots = vec![Slot::Bare { name: "i", extent: 4 }];
        let (text, values) = defined(&[Clause::new(slots, sum)]);
        assert_eq!(text, "let h[i] = sum[k in 0..=i](v[k]);");
        assert_eq!(values, ints(&[3, 2, 6, 7]));
        let body = Expr::Call("abs".into(), vec![read("v", vec![name("k")])]);
        let least = reduce(Reduction::ArgMin, vec![Slot::upto("k", 4)], body);
        assert_eq!(defined(&[Clause::new(Vec::new(), least)]).1, ints(&[1]));
    }

    #[test]
    fn the_last_clause_wins_where_its_guard_holds() {
        let whole = Clause::new(vec![Slot::upto("i", 4)], name("i"));
        let guard = Some((binary(Operator::Less, name("i"), int(2)), None));
        let part = Clause { guard, ..Clause::new(vec![Slot::between("i", 1, 4)], int(-5)) };
        assert_eq!(defined(&[whole, part]).1, ints(&[0, -5, 2, 3]));
    }

    #[test]
    fn default_reads_and_division() {
        let default = Box::new(int(9));
        let name_v = "v".to_string();
        let read = Expr::ReadElse { name: name_v, subscripts: vec![shifted("i", -1)], default };
        let halved = binary(Operator::Divide, read, int(2));
        let (text, values) = defined(&[Clause::new(vec![Slot::upto("i", 6)], halved)]);
        assert_eq!(text, "let h[i in 0..6] = v[i - 1 else 9] / 2;");
        assert_eq!(values, ints(&[4, 1, 0, 2, 0, 4]));
    }

    #[test]
    fn what_is_not_exact_is_rejected() {
        let mut source = Source::from_seed(0);
        let mut builder = Builder::new(&mut source);
        let mut reject = |body: Expr| {
            let clause = Clause::new(Vec::new(), body);
            assert!(builder.try_define("x", std::slice::from_ref(&clause)).is_err(), "{clause:?}");
        };
        reject(binary(Operator::Multiply, int(30_000), int(30_000)));
        reject(binary(Operator::Multiply, float(0.03125), float(0.015625)));
        reject(binary(Operator::Multiply, float(0.0), float(-1.0)));
        reject(binary(Operator::Divide, int(1), int(0)));
        reject(read("nowhere", vec![int(0)]));
        assert_eq!(builder.text, "");
    }
}
