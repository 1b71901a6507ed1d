//! Comprehensions, filtered and jagged lists, membership, `for`.

use super::build::Builder;
use super::say::{shown, shown_rows};

impl Builder<'_, '_> {
    pub(super) fn lists(&mut self) {
        match self.source.below(6) {
            0 => self.generators(),
            1 => self.filtered(),
            2 => self.nested(),
            3 => self.jagged(),
            4 => self.membership(),
            _ => self.loops(),
        }
    }

    /// `[i * 2 + j | i in 0..3, j in v]`: one flat list, the last generator fastest.
    fn generators(&mut self) {
        let (n, factor) = (self.source.between(1, 4), self.small());
        let (name, values) = self.ints(3);
        let expected = (0..n).flat_map(|i| values.iter().map(move |j| i * factor + j));
        let expected: Vec<i64> = expected.collect();
        self.say(format!("[i * {factor} + j | i in 0..{n}, j in {name}]"), shown(&expected));
        let squares: Vec<i64> = (0..n).map(|i| i * i).collect();
        self.bind(format!("[i * i | i in 0..{n}]"), &[n as usize], &squares);
    }

    /// `[y | x in v, y = x * x, y > 3]`
    fn filtered(&mut self) {
        let bound = self.small();
        let (name, values) = self.ints(5);
        let kept = |y: &i64| *y > bound;
        let squares: Vec<i64> = values.iter().map(|x| x * x).filter(kept).collect();
        let own = self.fresh("l");
        self.line(format!("let {own} = [y | x in {name}, y = x * x, y > {bound}];"));
        self.say(&own, shown(&squares));
        self.say(format!("len({own})"), squares.len());
        self.say(format!("sum[i]({own}[i])"), squares.iter().sum::<i64>());
        let even: Vec<i64> = values.iter().filter(|x| **x % 2 == 0).copied().collect();
        self.say(format!("[x | x in {name}, x % 2 == 0]"), shown(&even));
    }

    /// `[[i + j | j in 0..3] | i in v]`
    fn nested(&mut self) {
        let m = self.source.between(1, 4);
        let (name, values) = self.ints(3);
        let rows: Vec<Vec<i64>> = values.iter().map(|i| (0..m).map(|j| i + j).collect()).collect();
        self.say(format!("[[i + j | j in 0..{m}] | i in {name}]"), shown_rows(&rows));
    }

    /// `[[j * 2 | j in 0..i] | i in 0..4]`: the rows have different lengths.
    fn jagged(&mut self) {
        let (n, factor) = (self.source.between(2, 5), self.small());
        let rows: Vec<Vec<i64>> = (0..n).map(|i| (0..i).map(|j| j * factor).collect()).collect();
        let own = self.fresh("l");
        self.line(format!("let {own} = [[j * {factor} | j in 0..i] | i in 0..{n}];"));
        self.say(&own, shown_rows(&rows));
        let i = self.source.between(1, n - 1);
        let j = self.source.between(0, i - 1);
        self.say(format!("{own}[{i}][{j}]"), rows[i as usize][j as usize]);
        self.say(format!("len({own}[{i}])"), i);
        let flat: Vec<i64> = rows.concat();
        self.say(format!("[x | row in {own}, x in row]"), shown(&flat));
    }

    /// `3 in v`, `array_append(v, 3)`
    fn membership(&mut self) {
        let (name, mut values) = self.ints(4);
        let x = self.small();
        self.say(format!("{x} in {name}"), values.contains(&x));
        values.push(x);
        self.say(format!("array_append({name}, {x})"), shown(&values));
    }

    /// `for x in v { print(x + 1); }`
    fn loops(&mut self) {
        let (name, values) = self.ints(3);
        let k = self.small();
        let own = self.fresh("k");
        self.line(format!("let {own} = {k};"));
        self.line(format!("for x in {name} {{\n    let y = x * {own};\n    print(x, y);\n}}"));
        self.printed.extend(values.iter().map(|x| format!("{x} {}", x * k)));
        self.line("for i in 0..2 {\n    for j in 0..i + 1 {\n        print((i, j));\n    }\n}");
        self.printed.extend(["(0, 0)", "(1, 0)", "(1, 1)"].map(str::to_owned));
    }
}
