//! Slices, rest indices, `last`, updates, and arithmetic on whole tensors.

use super::build::Builder;

impl Builder<'_, '_> {
    pub(super) fn slices(&mut self) {
        match self.source.below(8) {
            0 => self.part_of_a_vector(),
            1 => self.part_of_a_matrix(),
            2 => self.row_and_column(),
            3 => self.counted_from_the_end(),
            4 => self.updated_vector(),
            5 => self.updated_matrix(),
            6 => self.rest(),
            _ => self.whole(),
        }
    }

    /// A range inside `0..=n`.
    fn range(&mut self, n: usize) -> (usize, usize) {
        let start = self.source.below(n + 1);
        (start, start + self.source.below(n + 1 - start))
    }

    fn extents(&mut self) -> (usize, usize) {
        (2 + self.source.below(3), 2 + self.source.below(3))
    }

    /// `let w = v[1..3];`
    fn part_of_a_vector(&mut self) {
        let n = 2 + self.source.below(4);
        let (name, values) = self.ints(n);
        let (a, b) = self.range(n);
        self.bind(format!("{name}[{a}..{b}]"), &[b - a], &values[a..b]);
    }

    /// `let w = m[1..3, 0..=1];`
    fn part_of_a_matrix(&mut self) {
        let (n, m) = self.extents();
        let (name, rows) = self.rows(n, m);
        let (a, b) = self.range(n);
        let last = self.source.below(m);
        let values: Vec<i64> = rows[a..b].iter().flat_map(|row| &row[..=last]).copied().collect();
        self.bind(format!("{name}[{a}..{b}, 0..={last}]"), &[b - a, last + 1], &values);
    }

    /// `let w = m[:, 1];`, `let w = m[1];`
    fn row_and_column(&mut self) {
        let (n, m) = self.extents();
        let (name, rows) = self.rows(n, m);
        let (i, j) = (self.source.below(n), self.source.below(m));
        let column: Vec<i64> = rows.iter().map(|row| row[j]).collect();
        self.bind(format!("{name}[:, {j}]"), &[n], &column);
        self.bind(format!("{name}[{i}]"), &[m], &rows[i]);
    }

    /// `let w = m[last, last - 1];`
    fn counted_from_the_end(&mut self) {
        let (n, m) = self.extents();
        let (name, rows) = self.rows(n, m);
        let back = self.source.below(m);
        self.bind(format!("{name}[last, last - {back}]"), &[], &[rows[n - 1][m - 1 - back]]);
        self.bind(
            format!("{name}[:, last]"),
            &[n],
            &rows.iter().map(|r| r[m - 1]).collect::<Vec<_>>(),
        );
    }

    /// `let w = v with [1] = 5, [0..2] = 7;`
    fn updated_vector(&mut self) {
        let n = 2 + self.source.below(4);
        let (name, mut values) = self.ints(n);
        let (at, first, second) = (self.source.below(n), self.small(), self.small());
        let (a, b) = self.range(n);
        values[at] = first;
        values[a..b].fill(second);
        self.bind(format!("{name} with [{at}] = {first}, [{a}..{b}] = {second}"), &[n], &values);
    }

    /// `let w = m with [1, :] = m[0, :];`
    fn updated_matrix(&mut self) {
        let (n, m) = self.extents();
        let (name, mut rows) = self.rows(n, m);
        let (to, from) = (self.source.below(n), self.source.below(n));
        rows[to] = rows[from].clone();
        let expr = format!("{name} with [{to}, :] = {name}[{from}, :]");
        self.bind(expr, &[n, m], &rows.concat());
    }

    /// `let w[..r, j] = m[..r, j] * 2;`, `sum[..r](m[..r])`
    fn rest(&mut self) {
        let (n, m) = self.extents();
        let (name, rows) = self.rows(n, m);
        let (factor, own) = (self.small(), self.fresh("w"));
        let flat = rows.concat();
        let scaled: Vec<i64> = flat.iter().map(|value| value * factor).collect();
        let slots = ["..r", "..r, j"][self.source.below(2)];
        self.line(format!("let {own}[{slots}] = {name}[{slots}] * {factor};"));
        self.know(&own, &[n, m], &scaled);
        self.bind(format!("sum[..r]({own}[..r])"), &[], &[scaled.iter().sum()]);
        let sums: Vec<i64> = rows.iter().map(|row| row.iter().sum()).collect();
        let own = self.fresh("w");
        self.line(format!("let {own}[..r] = sum[j]({name}[..r, j]);"));
        self.know(&own, &[n], &sums);
    }

    /// `let w = m * 2 - m;`
    fn whole(&mut self) {
        let (n, m) = self.extents();
        let (name, rows) = self.rows(n, m);
        let (factor, added) = (self.small(), self.small());
        let values = rows.concat().iter().map(|x| x * factor - x + added).collect::<Vec<_>>();
        self.bind(format!("{name} * {factor} - {name} + {added}"), &[n, m], &values);
        let truths: Vec<&str> =
            rows[0].iter().map(|x| if *x == added { "true" } else { "false" }).collect();
        self.say(format!("{name}[0] == {added}"), format!("[{}]", truths.join(", ")));
    }
}
