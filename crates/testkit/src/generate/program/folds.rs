//! Further reductions: with a place, with an operator of one's own, over nothing, nested, by key.

use super::build::Builder;

/// What a reduction does with two numbers.
type Operator = fn(i64, i64) -> i64;

impl Builder<'_, '_> {
    pub(super) fn folds(&mut self) {
        match self.source.below(7) {
            0 => self.extremum_and_place(),
            1 => self.own_operator(),
            2 => self.own_operator_on_tuples(),
            3 => self.over_nothing(),
            4 => self.nested_reductions(),
            5 => self.with_bindings(),
            _ => self.by_key(),
        }
    }

    /// `max_at[i](v[i])`, `argmin[i, j](m[i, j])`: the first extremal element.
    fn extremum_and_place(&mut self) {
        let (name, values) = self.ints(4);
        let best = |better: fn(i64, i64) -> bool, values: &[i64]| {
            let place = |best, at| if better(values[at], values[best]) { at } else { best };
            (1..values.len()).fold(0, place)
        };
        let (most, least) = (best(|a, b| a > b, &values), best(|a, b| a < b, &values));
        self.say(format!("max_at[i]({name}[i])"), format!("({}, {most})", values[most]));
        self.say(format!("min_at[i]({name}[i])"), format!("({}, {least})", values[least]));
        let (name, rows) = self.rows(3, 2);
        let flat = rows.concat();
        let (most, least) = (best(|a, b| a > b, &flat), best(|a, b| a < b, &flat));
        self.say(format!("argmax[i, j]({name}[i, j])"), format!("({}, {})", most / 2, most % 2));
        self.say(format!("argmin[i, j]({name}[i, j])"), format!("({}, {})", least / 2, least % 2));
    }

    /// `reduce[k](5, |a, b| max(a, b))(v[k])`
    fn own_operator(&mut self) {
        let (name, values) = self.ints(4);
        let init = self.small();
        let operators: [(&str, Operator); 5] = [
            ("a + b", |a, b| a + b),
            ("a * b", |a, b| a * b),
            ("if b > a { b } else { a }", i64::max),
            ("a", |a, _| a),
            ("b", |_, b| b),
        ];
        let (text, meant) = operators[self.source.below(5)];
        let folded = values.iter().fold(init, |a, b| meant(a, *b));
        self.bind(format!("reduce[k]({init}, |a, b| {text})({name}[k])"), &[], &[folded]);
    }

    /// The composition of linear maps, which is associative and not commutative.
    fn own_operator_on_tuples(&mut self) {
        let (name, values) = self.ints(3);
        let compose = "|f, g| (f.0 * g.0, f.0 * g.1 + f.1)";
        let (slope, offset) =
            values.iter().zip(0..).fold((1, 0), |f, (v, k)| (f.0 * v, f.0 * k + f.1));
        self.say(
            format!("reduce[k]((1, 0), {compose})(({name}[k], k))"),
            format!("({slope}, {offset})"),
        );
    }

    /// Identities.
    fn over_nothing(&mut self) {
        let (name, _) = self.ints(3);
        let at = self.source.below(4);
        let over = format!("[k in {at}..{at}]({name}[k]");
        self.bind(format!("sum{over})"), &[], &[0]);
        self.bind(format!("prod{over})"), &[], &[1]);
        self.bind(format!("max{over})"), &[], &[i64::from(i32::MIN)]);
        self.bind(format!("min{over})"), &[], &[i64::from(i32::MAX)]);
        self.say(format!("all{over} > 0), any{over} > 0)"), "true false");
    }

    /// `sum[i](max[j](m[i, j]))`, `mean` of as many as a power of two.
    fn nested_reductions(&mut self) {
        let (name, rows) = self.rows(3, 2);
        let most: i64 = rows.iter().map(|row| row[0].max(row[1])).sum();
        self.bind(format!("sum[i](max[j]({name}[i, j]))"), &[], &[most]);
        let product: i64 = rows.iter().map(|row| row.iter().product::<i64>()).max().unwrap_or(0);
        self.bind(format!("max[i](prod[j]({name}[i, j]))"), &[], &[product]);
        let mean = (rows[0][0] + rows[0][1]) as f32 / 2.0;
        self.say(format!("mean[j]({name}[0, j] as f32)"), format!("{mean:?}"));
    }

    /// `sum[i](w * w where w = v[i] - 1, w > 0)`
    fn with_bindings(&mut self) {
        let (name, values) = self.ints(5);
        let (k, bound) = (self.small(), self.small());
        let kept = values.iter().map(|v| v - k).filter(|w| *w > bound);
        let total: i64 = kept.map(|w| w * w).sum();
        self.bind(format!("sum[i](w * w where w = {name}[i] - {k}, w > {bound})"), &[], &[total]);
    }

    /// `let w[b in 0..3] = max[i](v[i] where key[i] == b);`
    fn by_key(&mut self) {
        let (keys, at) = self.ints(5);
        let (name, values) = self.ints(5);
        let own = self.fresh("w");
        let n = 1 + self.source.below(4);
        self.line(format!("let {own}[b in 0..{n}] = max[i]({name}[i] where {keys}[i] == b);"));
        let most = |b: i64| {
            let matching = at.iter().zip(&values).filter(|(key, _)| **key == b);
            matching.map(|(_, value)| *value).max().unwrap_or(i64::from(i32::MIN))
        };
        self.know(&own, &[n], &(0..n as i64).map(most).collect::<Vec<_>>());
    }
}
