use einlang_source::Sources;

use super::*;

/// Parses `text`, which must be well formed, and hands over its first statement.
fn first<R>(text: &str, f: impl FnOnce(Statement<'_>) -> R) -> R {
    let mut sources = Sources::default();
    let file = sources.add("test.ein", text);
    let parsed = crate::parse(file, text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    f(SourceFile::of(&parsed.tree).statements().next().expect("a statement"))
}

/// The value of `let _ = TEXT;`, written with all parentheses.
fn grouped(text: &str) -> String {
    let program = format!("let v = {text};");
    first(&program, |statement| match statement {
        Statement::Let(binding) => group(binding.value().expect("a value").node()),
        other => panic!("{other:?}"),
    })
}

/// Operators with parentheses around each operation, everything else as written.
fn group(node: Node<'_>) -> String {
    use crate::kind::SyntaxKind::*;
    match node.kind() {
        BINARY_EXPR | UNARY_EXPR | RANGE_EXPR | CAST_EXPR | PIPE_EXPR | ELSE_EXPR | CATCH_EXPR
        | TRY_EXPR | WHERE_EXPR | WITH_EXPR | LAMBDA_EXPR => {
            let parts: Vec<String> = node
                .elements()
                .filter_map(|element| match element {
                    crate::Element::Node(child) => Some(group(child)),
                    crate::Element::Token(token) if token.kind().is_trivia() => None,
                    crate::Element::Token(token) => Some(token.text().to_string()),
                })
                .collect();
            format!("({})", parts.join(" "))
        }
        _ => node.text().to_string(),
    }
}

#[test]
fn operators_bind_as_the_language_says() {
    let cases = [
        ("2 + 3 * 4", "(2 + (3 * 4))"),
        ("20 - 5 - 3", "((20 - 5) - 3)"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("-x ** 2", "(- (x ** 2))"),
        ("-3 ** 2", "(- (3 ** 2))"),
        ("-3 * 2", "(-3 * 2)"),
        ("2.0 ** -1", "(2.0 ** -1)"),
        ("2.0 ** -x ** 2", "(2.0 ** (- (x ** 2)))"),
        ("-300.0 as i8", "(-300.0 as i8)"),
        ("-x as i32", "(- (x as i32))"),
        ("3 as f32 ** 2", "((3 as f32) ** 2)"),
        ("x as i32 < 3", "((x as i32) < 3)"),
        ("a || b && c == d", "(a || (b && (c == d)))"),
        ("a < b == c < d", "((a < b) == (c < d))"),
        ("1 + 1 in 0..n - 1", "((1 + 1) in (0 .. (n - 1)))"),
        ("2 + 3 |> inc |> scale(10)", "(((2 + 3) |> inc) |> scale(10))"),
        ("half(7) ?> inc else -1", "((half(7) ?> inc) else -1)"),
        ("check(4) !> twice catch |err| 0", "((check(4) !> twice) catch (|err| 0))"),
        ("x |> |y| y + 1 |> g", "((x |> (|y| (y + 1))) |> g)"),
        ("try a / b !> f", "((try (a / b)) !> f)"),
        ("lr * @loss / @w", "((lr * (@ loss)) / (@ w))"),
        ("@x[T - 1] / @x[0]", "((@ x[T - 1]) / (@ x[0]))"),
        ("x with [0] = 1 |> f", "((x with [0] = 1) |> f)"),
        ("a + b where c, d else e + 1", "((a + b) where c , d else e + 1)"),
        ("5 - -3", "(5 - -3)"),
        ("x -1", "(x - 1)"),
        ("!a && b", "((! a) && b)"),
    ];
    for (text, expected) in cases {
        assert_eq!(grouped(text), expected, "{text}");
    }
}

#[test]
fn a_function_has_its_parts() {
    let text =
        "/// Doubles.\n/// Twice.\n#[audit]\npub fn f<F>[c](x: [F; ..l, c], k: i32 = 2) -> F { x }";
    first(text, |statement| {
        let Statement::Fn(item) = statement else { panic!("{statement:?}") };
        assert_eq!(item.doc_lines().collect::<Vec<_>>(), ["Doubles.", "Twice."]);
        assert!(item.attribute("audit").is_some() && item.pub_token().is_some());
        assert_eq!(item.name().expect("name").text(), "f");
        assert_eq!(item.generics().next().expect("generic").text(), "F");
        assert_eq!(item.coordinates().next().expect("coordinate").text(), "c");
        let params: Vec<_> = item.params().collect();
        assert_eq!(params[0].ty().expect("type").text(), "[F; ..l, c]");
        assert_eq!(params[1].default().expect("default").text(), "2");
        assert_eq!(item.ret_type().expect("result").text(), "F");
        assert_eq!(item.body().and_then(Block::value).expect("value").text(), "x");
    });
}

#[test]
fn a_clause_has_its_parts() {
    first(
        "let x[t in 1.., k: in, ..r, 0] = e where z = 1, g else 0 until c, max 9;",
        |statement| {
            let Statement::Let(binding) = statement else { panic!("{statement:?}") };
            let slots: Vec<_> = binding.slots().expect("slots").items().collect();
            let Subscript::In(open) = slots[0] else { panic!("{slots:?}") };
            let Some(Expr::Range(range)) = SubIn::range(open) else { panic!("{slots:?}") };
            assert!(range.start().is_some() && range.end().is_none());
            let Subscript::Coord(coord) = slots[1] else { panic!("{slots:?}") };
            assert_eq!(coord.coordinate().expect("coordinate").text(), "in");
            assert!(matches!(slots[2], Subscript::Rest(_)));
            assert!(matches!(slots[3], Subscript::Expr(_)));
            let Some(Expr::Where(clause)) = binding.value() else { panic!("no where") };
            assert_eq!(clause.items().count(), 2);
            assert_eq!(clause.fallback().expect("else").text(), "0");
            let until = binding.until().expect("until");
            assert_eq!(until.condition().expect("condition").text(), "c");
            assert_eq!(until.max().expect("max").text(), "9");
        },
    );
}

#[test]
fn commas_of_where_belong_to_it_only_inside_reductions_and_parentheses() {
    let arguments = |text: &str| {
        first(text, |statement| match statement {
            Statement::Expr(statement) => match statement.expr() {
                Some(Expr::Call(call)) => call.args().count(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(arguments("sum[i](x[i] where a, b);"), 1);
    assert_eq!(arguments("reduce[k](0, |a, b| a + b)(x[k] where a, b);"), 1);
    assert_eq!(arguments("f(x where a, b);"), 2);
    assert_eq!(arguments("f((x where a, b));"), 1);
}

#[test]
fn blocks_and_branches_end_statements() {
    first("fn f(c) { if c { 1 } else { 2 } (3, 4) }", |statement| {
        let Statement::Fn(item) = statement else { panic!("{statement:?}") };
        let body = item.body().expect("body");
        assert_eq!(body.statements().count(), 1);
        assert!(matches!(body.value(), Some(Expr::Tuple(_))));
    });
}
