//! Recurrences whose order is not the plain one: same-step, mutual, bounded by a reduction, with
//! default reads, data-dependent, over rows, descending in one of two axes, and `until`.

use super::build::Builder;

impl Builder<'_, '_> {
    pub(super) fn orders(&mut self) {
        match self.source.below(8) {
            0 => self.same_step(),
            1 => self.mutual(),
            2 => self.bounded_by_a_reduction(),
            3 => self.with_a_default(),
            4 => self.data_dependent(),
            5 => self.over_rows(),
            6 => self.descending_columns(),
            _ => self.until(),
        }
    }

    fn steps(&mut self) -> usize {
        2 + self.source.below(4)
    }

    /// `s[t, 1]` reads `s[t, 0]`, which reads `s[t - 1, 1]`.
    fn same_step(&mut self) {
        let (n, a, k) = (self.steps(), self.small(), self.source.between(-1, 2));
        let own = self.fresh("h");
        self.line(format!("let {own}[0, 0] = {a};"));
        self.line(format!("let {own}[t in 1..{n}, 0] = {own}[t - 1, 1] + {k};"));
        self.line(format!("let {own}[t in 0..{n}, 1] = {own}[t, 0] * 2 - t;"));
        let (mut values, mut first) = (Vec::new(), a);
        for t in 0..n as i64 {
            let second = first * 2 - t;
            values.extend([first, second]);
            first = second + k;
        }
        self.know(&own, &[n, 2], &values);
    }

    /// Two bindings that read each other's past.
    fn mutual(&mut self) {
        let (n, a, b) = (self.steps(), self.small(), self.small());
        let (x, y) = (self.fresh("h"), self.fresh("h"));
        self.line(format!("let {x}[0] = {a};\nlet {y}[0] = {b};"));
        self.line(format!("let {x}[t in 1..{n}] = {y}[t - 1] - t;"));
        self.line(format!("let {y}[t in 1..{n}] = {x}[t - 1] + {y}[t - 1];"));
        let (mut xs, mut ys) = (vec![a], vec![b]);
        for t in 1..n {
            xs.push(ys[t - 1] - t as i64);
            ys.push(xs[t - 1] + ys[t - 1]);
        }
        self.know(&x, &[n], &xs);
        self.know(&y, &[n], &ys);
    }

    /// The numbers of Catalan, times a power.
    fn bounded_by_a_reduction(&mut self) {
        let (n, a) = (self.steps(), self.source.between(-2, 2));
        let own = self.fresh("h");
        self.line(format!("let {own}[0] = {a};"));
        self.line(format!("let {own}[n in 1..{n}] = sum[k in 0..n]({own}[k] * {own}[n - 1 - k]);"));
        let mut values = vec![a];
        for n in 1..n {
            values.push((0..n).map(|k| values[k] * values[n - 1 - k]).sum());
        }
        self.know(&own, &[n], &values);
    }

    /// `let h[t in 0..4] = h[t - 1 else a] + v[t];`
    fn with_a_default(&mut self) {
        let (n, a) = (self.steps(), self.small());
        let (name, values) = self.ints(n);
        let own = self.fresh("h");
        self.line(format!("let {own}[t in 0..{n}] = {own}[t - 1 else {a}] - {name}[t];"));
        let mut before = a;
        let all = values.iter().map(|v| {
            before -= v;
            before
        });
        let all: Vec<i64> = all.collect();
        self.know(&own, &[n], &all);
    }

    /// The depth of the nodes of a tree, whose parents come before them.
    fn data_dependent(&mut self) {
        let n = self.steps();
        let parents: Vec<usize> = (0..n).map(|t| self.source.below(t.max(1))).collect();
        let (name, own) = (self.fresh("v"), self.fresh("h"));
        self.line(format!("let {name} = {parents:?};"));
        self.line(format!("let {own}[0] = 0;"));
        self.line(format!("let {own}[t in 1..{n}] = {own}[{name}[t]] + 1;"));
        let mut depths = vec![0];
        for parent in &parents[1..] {
            depths.push(depths[*parent] + 1);
        }
        self.know(&own, &[n], &depths);
    }

    /// A row as the state: read as a whole by a function, and point by point.
    fn over_rows(&mut self) {
        let (n, m) = (self.steps(), 2 + self.source.below(3));
        let (start, first) = self.ints(m);
        let (own, f) = (self.fresh("h"), self.fresh("f"));
        self.line(format!("fn {f}(x: [i32; K]) -> i32 {{\n    max[k](x[k])\n}}"));
        self.line(format!("let {own}[0] = {start};"));
        self.line(format!(
            "let {own}[t in 1..{n}, j in 0..{m}] = {own}[t - 1, (j + 1) % {m}] + {f}({own}[t - 1]) - j;"
        ));
        let mut rows = vec![first];
        for t in 1..n {
            let before = &rows[t - 1];
            let most = before.iter().max().copied().unwrap_or(0);
            rows.push((0..m).map(|j| before[(j + 1) % m] + most - j as i64).collect());
        }
        self.know(&own, &[n, m], &rows.concat());
    }

    /// Ascending in rows and descending in columns.
    fn descending_columns(&mut self) {
        let (n, m, k) = (self.steps(), self.steps(), self.small());
        let own = self.fresh("h");
        let last = m - 1;
        self.line(format!("let {own}[0, j in 0..{m}] = j;"));
        self.line(format!("let {own}[i in 1..{n}, {last}] = {k} - i;"));
        self.line(format!(
            "let {own}[i in 1..{n}, j in 0..{last}] = min({own}[i, j + 1], {own}[i - 1, j]) + {own}[i - 1, j + 1];"
        ));
        let mut rows: Vec<Vec<i64>> = vec![(0..m as i64).collect()];
        for i in 1..n {
            let mut row = vec![k - i as i64; m];
            for j in (0..last).rev() {
                row[j] = row[j + 1].min(rows[i - 1][j]) + rows[i - 1][j + 1];
            }
            rows.push(row);
        }
        self.know(&own, &[n, m], &rows.concat());
    }

    /// `let x[t in 1..] = x[t - 1] / 2 + k until x[t] < d, max n;`
    fn until(&mut self) {
        let (a, k, d) = (self.small() * 20, self.source.between(-2, 2), self.small());
        let most = self.source.between(1, 6) as usize;
        let own = self.fresh("h");
        self.line(format!("let {own}[0] = {a};"));
        self.line(format!(
            "let {own}[t in 1..] = {own}[t - 1] / 2 + {k} until {own}[t] < {d}, max {most};"
        ));
        let (mut values, mut converged) = (vec![a], false);
        while !converged && values.len() <= most {
            let next = values[values.len() - 1] / 2 + k;
            values.push(next);
            converged = next < d;
        }
        self.say(
            format!("len({own}), {own}[last]"),
            format!("{} {}", values.len(), values[values.len() - 1]),
        );
        self.say(format!("converged({own})"), converged);
        self.say(format!("sum[t]({own}[t])"), values.iter().sum::<i64>());
    }
}
