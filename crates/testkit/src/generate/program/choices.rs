//! Enums, structs, tuples, and `match` with every kind of pattern.

use super::build::Builder;
use super::say::shown;

impl Builder<'_, '_> {
    pub(super) fn choices(&mut self) {
        match self.source.below(6) {
            0 => self.variants(),
            1 => self.matched_numbers(),
            2 => self.matched_tuples(),
            3 => self.matched_arrays(),
            4 => self.tuples(),
            _ => self.structs(),
        }
    }

    /// An enum with all kinds of variants, and a function of it.
    fn variants(&mut self) {
        let (ty, f) = (self.fresh("Kind"), self.fresh("f"));
        self.line(format!("enum {ty} {{ Dot, Line(i32), Box {{ w: i32, h: i32 }} }}"));
        self.line(format!(
            "fn {f}(e: {ty}) -> i32 {{\n    match e {{\n        {ty}::Dot => 0,\n        \
             {ty}::Line(n) where n < 0 => -n,\n        {ty}::Line(n) => n + 1,\n        \
             {ty}::Box {{ w, h }} => w * h,\n    }}\n}}"
        ));
        let (a, b) = (self.small(), self.small());
        let line = if a < 0 { -a } else { a + 1 };
        self.say(format!("{f}({ty}::Dot), {f}({ty}::Line({a}))"), format!("0 {line}"));
        self.say(format!("{f}({ty}::Box {{ w: {a}, h: {b} }})"), a * b);
        let all = format!("[{ty}::Line({b}), {ty}::Dot, {ty}::Box {{ h: {a}, w: 2 }}]");
        let line = if b < 0 { -b } else { b + 1 };
        self.say(format!("[{f}(e) | e in {all}]"), shown(&[line, 0, 2 * a]));
    }

    /// Literals, ranges, alternatives, bindings and guards.
    fn matched_numbers(&mut self) {
        let f = self.fresh("f");
        self.line(format!(
            "fn {f}(n: i32) -> i32 {{\n    match n {{\n        0 => 10,\n        1 | 2 => 20,\n        \
             3..=5 => 30,\n        k @ 6..=9 => k,\n        k where k < -3 => -k,\n        _ => 99,\n    }}\n}}"
        ));
        let meant = |n: i64| match n {
            0 => 10,
            1 | 2 => 20,
            3..=5 => 30,
            6..=9 => n,
            n if n < -3 => -n,
            _ => 99,
        };
        let (name, values) = self.ints(5);
        let own = self.fresh("w");
        self.line(format!("let {own}[i] = {f}({name}[i]);"));
        self.know(&own, &[5], &values.iter().map(|n| meant(*n)).collect::<Vec<_>>());
        let n = self.small();
        self.bind(format!("{f}({n})"), &[], &[meant(n)]);
    }

    /// `match (a, b) { (0, _) => …, (x, y) where x == y => …, … }`
    fn matched_tuples(&mut self) {
        let (a, b) = (self.small().min(2), self.small().min(2));
        let meant = match (a, b) {
            (0, _) => 1,
            (x, y) if x == y => 2,
            (x, 1 | 2) => x,
            (x, y) => x - y,
        };
        let arms = "(0, _) => 1, (x, y) where x == y => 2, (x, 1 | 2) => x, (x, y) => x - y";
        self.bind(format!("match ({a}, {b}) {{ {arms} }}"), &[], &[meant]);
    }

    /// `match v { [] => …, [x] => …, [x, y, ..rest] => … }`
    fn matched_arrays(&mut self) {
        let f = self.fresh("f");
        self.line(format!(
            "fn {f}(v: [i32]) -> i32 {{\n    match v {{\n        [] => -1,\n        [x] => x,\n        \
             [x, y, ..rest] => x * y + len(rest),\n    }}\n}}"
        ));
        let (name, values) = self.ints(4);
        let n = self.source.below(5);
        let meant = match &values[..n] {
            [] => -1,
            [x] => *x,
            [x, y, rest @ ..] => x * y + rest.len() as i64,
        };
        self.bind(format!("{f}({name}[0..{n}])"), &[], &[meant]);
    }

    /// `let (a, (b, c)) = …;`, `let (q, r)[i] = (…, …);`
    fn tuples(&mut self) {
        let (x, y, z) = (self.small(), self.small(), self.small());
        let names = [self.fresh("a"), self.fresh("a"), self.fresh("a")];
        let [a, b, c] = &names;
        self.line(format!("let ({a}, ({b}, {c})) = ({x}, ({y} + {x}, {z}));"));
        self.say(format!("{a} + {b} * {c}"), x + (x + y) * z);
        let t = self.fresh("t");
        self.line(format!("let {t} = ({a}, ({b}, {c} > 0));"));
        self.say(format!("{t}, {t}.1.0"), format!("({x}, ({}, {})) {}", x + y, z > 0, x + y));
        let (name, values) = self.ints(4);
        let (q, r) = (self.fresh("w"), self.fresh("w"));
        self.line(format!("let ({q}, {r})[i] = ({name}[i] / 3, {name}[i] % 3);"));
        self.know(&q, &[4], &values.iter().map(|v| v / 3).collect::<Vec<_>>());
        self.know(&r, &[4], &values.iter().map(|v| v % 3).collect::<Vec<_>>());
    }

    /// Structs: fields, functions, tensors of them, arithmetic leaf by leaf.
    fn structs(&mut self) {
        let (ty, f) = (self.fresh("Pair"), self.fresh("f"));
        let (x, y, k) = (self.small(), self.small(), self.small());
        self.line(format!("struct {ty} {{ x: i32, y: i32 }}"));
        self.line(format!("fn {f}(p: {ty}) -> {ty} {{\n    {ty} {{ x: p.y, y: p.x + {k} }}\n}}"));
        let p = self.fresh("p");
        self.line(format!("let {p} = {f}({ty} {{ x: {x}, y: {y} }});"));
        self.say(&p, format!("{ty} {{ x: {y}, y: {} }}", x + k));
        self.say(format!("{p} + {p} * 2"), format!("{ty} {{ x: {}, y: {} }}", 3 * y, 3 * (x + k)));
        let (name, values) = self.ints(3);
        let all = self.fresh("p");
        self.line(format!("let {all}[i] = {f}({ty} {{ x: {name}[i], y: i }});"));
        let sum: i64 = values.iter().zip(0..).map(|(v, i)| i * (v + k)).sum();
        self.bind(format!("sum[i]({all}[i].x * {all}[i].y)"), &[], &[sum]);
    }
}
