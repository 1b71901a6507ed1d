//! Closures, pipelines, `Option` and `Result`, `try`, recursion, named arguments.

use super::build::Builder;
use super::say::shown;

impl Builder<'_, '_> {
    pub(super) fn calls(&mut self) {
        match self.source.below(6) {
            0 => self.closures(),
            1 => self.pipelines(),
            2 => self.options(),
            3 => self.results(),
            4 => self.failures(),
            _ => self.recursion(),
        }
    }

    /// A closure that captures, and a function that takes one.
    fn closures(&mut self) {
        let (k, x) = (self.small(), self.small());
        let (own, f, twice) = (self.fresh("k"), self.fresh("f"), self.fresh("f"));
        self.line(format!("let {own} = {k};"));
        self.line(format!("let {f} = |x| x * {own} - 1;"));
        self.line(format!("fn {twice}(g, x: i32) -> i32 {{\n    g(g(x))\n}}"));
        let meant = |x: i64| x * k - 1;
        self.bind(format!("{f}({x})"), &[], &[meant(x)]);
        self.bind(format!("{twice}({f}, {x})"), &[], &[meant(meant(x))]);
        self.bind(format!("{twice}(|y| y + {own}, {x})"), &[], &[x + 2 * k]);
        let (name, values) = self.ints(3);
        let applied = self.fresh("w");
        self.line(format!("let {applied}[i] = {f}({name}[i]);"));
        self.know(&applied, &[3], &values.iter().map(|v| meant(*v)).collect::<Vec<_>>());
    }

    /// `x |> f |> g(2)`
    fn pipelines(&mut self) {
        let (x, k) = (self.small(), self.small());
        let (f, g) = (self.fresh("f"), self.fresh("f"));
        self.line(format!("fn {f}(x: i32) -> i32 {{\n    x + {k}\n}}"));
        self.line(format!("fn {g}(x: i32, m: i32, n: i32 = 2) -> i32 {{\n    x * m - n\n}}"));
        self.bind(format!("{x} |> {f} |> {g}(3)"), &[], &[(x + k) * 3 - 2]);
        self.bind(format!("{x} |> {g}(2, n = {k}) |> |y| y * y"), &[], &[(2 * x - k).pow(2)]);
        self.bind(format!("{g}(m = {k}, x = {x})"), &[], &[x * k - 2]);
    }

    /// `half(12) ?> half else -1`
    fn options(&mut self) {
        let half = self.fresh("f");
        self.line(format!(
            "fn {half}(n: i32) -> Option<i32> {{\n    if n % 2 == 0 {{ Some(n / 2) }} else {{ None }}\n}}"
        ));
        let meant = |n: i64| (n % 2 == 0).then_some(n / 2);
        let x = self.small() * 2;
        let twice = meant(x).and_then(meant).unwrap_or(-77);
        self.bind(format!("{half}({x}) ?> {half} else -77"), &[], &[twice]);
        let y = self.small();
        let arms = "Some(0) => 50, Some(n) => n + 1, None => -1";
        let matched = match meant(y) {
            Some(0) => 50,
            Some(n) => n + 1,
            None => -1,
        };
        self.bind(format!("match {half}({y}) {{ {arms} }}"), &[], &[matched]);
        let (name, values) = self.ints(4);
        let all: Vec<i64> = values.iter().map(|v| meant(*v).unwrap_or(9)).collect();
        self.say(format!("[({half}(x) else 9) | x in {name}]"), shown(&all));
    }

    /// `root(4) !> root catch |err| -7`
    fn results(&mut self) {
        let next = self.fresh("f");
        self.line(format!(
            "fn {next}(n: i32) -> Result<i32, str> {{\n    \
             if n >= 0 {{ Ok(n - 3) }} else {{ Err(\"{{n}} is negative\") }}\n}}"
        ));
        let meant = |n: i64| if n >= 0 { Ok(n - 3) } else { Err(format!("{n} is negative")) };
        let x = self.small();
        let twice = meant(x).and_then(meant);
        let chain = format!("{next}({x}) !> {next}");
        self.bind(format!("{chain} catch |err| -7"), &[], &[twice.clone().unwrap_or(-7)]);
        let arms = "Ok(n) => \"fine {n}\", Err(e) => e";
        let said = twice.map_or_else(|error| error, |n| format!("fine {n}"));
        self.say(format!("match {chain} {{ {arms} }}"), said);
    }

    /// `try a / b catch |err| 0`: division by zero does not end the program.
    fn failures(&mut self) {
        let (a, b) = (self.small(), self.source.between(0, 2));
        let divide = self.fresh("f");
        self.line(format!("fn {divide}(a: i32, b: i32) -> i32 {{\n    a / b\n}}"));
        let meant = a.checked_div(b).unwrap_or(1000);
        self.bind(format!("try {divide}({a}, {b}) catch |err| 1000"), &[], &[meant]);
        let shifted = a.checked_div(b).map_or(-5, |q| q + 1);
        self.bind(
            format!("try {divide}({a}, {b}) !> |q| Ok(q + 1) catch |err| -5"),
            &[],
            &[shifted],
        );
    }

    /// Functions that call themselves and each other.
    fn recursion(&mut self) {
        let (gcd, even, odd) = (self.fresh("f"), self.fresh("f"), self.fresh("f"));
        let (a, b) = (self.source.between(0, 40), self.source.between(0, 40));
        self.line(format!(
            "fn {gcd}(a: i32, b: i32) -> i32 {{\n    if b == 0 {{ a }} else {{ {gcd}(b, a % b) }}\n}}"
        ));
        let meant = |mut a: i64, mut b: i64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        self.bind(format!("{gcd}({a}, {b})"), &[], &[meant(a, b)]);
        self.line(format!(
            "fn {even}(n: i32) -> bool {{\n    if n == 0 {{ true }} else {{ {odd}(n - 1) }}\n}}"
        ));
        self.line(format!(
            "fn {odd}(n: i32) -> bool {{\n    if n == 0 {{ false }} else {{ {even}(n - 1) }}\n}}"
        ));
        self.say(format!("{even}({a})"), a % 2 == 0);
    }
}
