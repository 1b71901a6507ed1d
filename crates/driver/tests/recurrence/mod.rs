//! Random recurrences as text.

use einlang_testkit::generate::Source;

const AXES: [&str; 3] = ["t", "i", "j"];

pub(crate) fn small(source: &mut Source<'_>, low: i64, high: i64) -> i64 {
    let all: Vec<i64> = (low..=high).collect();
    source.pick(&all)
}

pub(crate) fn chance(source: &mut Source<'_>, of: i64) -> bool {
    small(source, 1, of) == 1
}

fn subscript(name: &str, offset: i64) -> String {
    match offset {
        0 => name.to_owned(),
        n if n < 0 => format!("{name} - {}", -n),
        n => format!("{name} + {n}"),
    }
}

/// A recurrence along its first axis, with what it needs and what looks at it.
struct Recurrence {
    rank: usize,
    extents: Vec<i64>,
    /// Whether the program knows an extent only when it runs.
    symbolic: Vec<bool>,
    depth: i64,
    down: bool,
    open: bool,
    /// Other tensors are read along the way.
    feeds: bool,
}

impl Recurrence {
    fn new(source: &mut Source<'_>) -> Recurrence {
        let rank = small(source, 1, 3) as usize;
        let extents = (0..rank).map(|_| small(source, 2, 6) + 2).collect();
        let symbolic = (0..rank).map(|_| chance(source, 2)).collect();
        let (depth, open) = (small(source, 1, 3), chance(source, 5));
        let (down, feeds) = (!open && chance(source, 4), !open && chance(source, 2));
        Recurrence { rank, extents, symbolic, depth, down, open, feeds }
    }

    /// The extent of an axis and so many more, as text.
    fn length(&self, axis: usize, more: i64) -> String {
        match self.symbolic[axis] {
            true => subscript(["T", "I", "J"][axis], more),
            false => (self.extents[axis] + more).to_string(),
        }
    }

    /// Definitions of the extents that are known late.
    fn lengths(&self) -> String {
        let late = (0..self.rank).filter(|axis| self.symbolic[*axis]);
        let define = |axis: usize| {
            format!("let {} = [9, {}][pick];\n", self.length(axis, 0), self.extents[axis])
        };
        late.map(define).collect()
    }

    /// `t in 2..7, i in 0..I`
    fn ranges(&self, lead: &str) -> String {
        let rest =
            (1..self.rank).map(|axis| format!("{} in 0..{}", AXES[axis], self.length(axis, 0)));
        [lead.to_owned()].into_iter().chain(rest).collect::<Vec<_>>().join(", ")
    }

    fn base_range(&self) -> String {
        match self.down {
            true => format!("t in {}..{}", self.length(0, -self.depth), self.length(0, 0)),
            false => format!("t in 0..{}", self.depth),
        }
    }

    fn main_range(&self) -> String {
        match (self.open, self.down) {
            (true, _) => format!("t in {}..", self.depth),
            (_, true) => format!("t in 0..{}", self.length(0, -self.depth)),
            _ => format!("t in {}..{}", self.depth, self.length(0, 0)),
        }
    }

    /// A read of a tensor some steps back.
    fn read(&self, name: &str, back: i64, source: &mut Source<'_>) -> String {
        let lead = subscript("t", if self.down { back } else { -back });
        let mut at = vec![lead];
        let mut other = false;
        for axis in &AXES[1..self.rank] {
            let offset = if chance(source, 2) { small(source, -2, 2) } else { 0 };
            other |= offset != 0;
            at.push(subscript(axis, offset));
        }
        let default = if other { format!(" else {}", small(source, 0, 9)) } else { String::new() };
        format!("{name}[{}{default}]", at.join(", "))
    }

    /// Tensors that do not read themselves: `q` from indices, `r` from several steps of `q`, and `a` along the last
    /// axis, which any index may be a subscript of.
    fn producers(&self, source: &mut Source<'_>) -> String {
        let rest: String = AXES[1..self.rank].iter().map(|axis| format!(", {axis}")).collect();
        let sum: String = AXES[1..self.rank].iter().map(|axis| format!(" + {axis}")).collect();
        let q = self.ranges(&format!("t in 0..{}", self.length(0, 6)));
        let r = self.ranges(&format!("t in 0..{}", self.length(0, 4)));
        let [near, far] = [small(source, 0, 2), small(source, 0, 2)];
        let last = self.length(self.rank - 1, 0);
        format!(
            "let q[{q}] = ((t{sum}) * (t + 5) + {}) % 13;\nlet r[{r}] = (q[t + {near}{rest}] * 3 \
             + q[t + {far}{rest}] * {}) % 17;\nlet a[k in 0..{last}] = k * 3 % 7;\n",
            small(source, 0, 9),
            small(source, 1, 4),
        )
    }

    /// A read of a producer, at a step near the present one.
    fn read_producer(&self, source: &mut Source<'_>) -> String {
        let rest: String = AXES[1..self.rank].iter().map(|axis| format!(", {axis}")).collect();
        format!("{}[t + {}{rest}]", source.pick(&["q", "r"]), small(source, 0, 4))
    }

    fn body(&self, names: &[&str], own: usize, source: &mut Source<'_>) -> String {
        let mut terms: Vec<String> = Vec::new();
        if self.feeds {
            for _ in 0..small(source, 1, 3) {
                terms.push(self.read_producer(source));
            }
            if chance(source, 2) {
                let at = subscript(source.pick(&AXES[..self.rank]), small(source, -3, 3));
                terms.push(format!("a[{at} else {}]", small(source, 0, 9)));
            }
        }
        for _ in 0..small(source, 1, 3) {
            let name = source.pick(names);
            let back = small(source, 1, self.depth);
            terms.push(format!("{} * {}", small(source, 1, 5), self.read(name, back, source)));
        }
        if own == 1 && chance(source, 2) {
            // The same step of the other tensor.
            let rest = AXES[1..self.rank].iter().map(|axis| format!(", {axis}"));
            terms.push(format!("x[t{}]", rest.collect::<String>()));
        }
        if self.rank > 1 && chance(source, 4) {
            let lead = subscript("t", if self.down { 1 } else { -1 });
            let rest = AXES[2..self.rank].iter().map(|axis| format!(", {axis}"));
            let n = self.length(1, 0);
            terms.push(format!("sum[k in 0..{n}](x[{lead}, k{}])", rest.collect::<String>()));
        }
        terms.push(format!("t * {}", small(source, 0, 3)));
        format!("({}) % 1009", terms.join(" + "))
    }

    fn observer(&self, name: &str, source: &mut Source<'_>) -> String {
        let rest = |with: &str| (1..self.rank).map(|_| format!(", {with}")).collect::<String>();
        let end = if self.open { "last".to_owned() } else { self.length(0, -1) };
        let edge = if self.down { "0".to_owned() } else { end };
        match small(source, 0, 7) {
            0 => format!("{name}[{edge}{}]", rest("0")),
            1 if !self.down && !self.open => {
                let from = self.length(0, -small(source, 1, 3));
                format!("sum[a in {from}..{}]({name}[a{}])", self.length(0, 0), rest("1"))
            }
            2 => format!("{name}[{edge}{}]", rest("1")),
            3 if self.rank > 1 => format!("sum[a]({name}[{edge}, a{}])", {
                let zeros: String = (2..self.rank).map(|_| ", 0").collect();
                zeros
            }),
            4 => format!("sum[a]({name}[a{}])", rest("0")),
            5 => format!("{name}[0{}]", rest("0")),
            6 => format!("{name}[pick{}]", rest("0")),
            _ => format!("{name}[{edge}{}]", rest("0")),
        }
    }
}

/// A program whose output `o` depends on recurrences.
pub(crate) fn program(source: &mut Source<'_>) -> String {
    let of = Recurrence::new(source);
    let mutual = chance(source, 3);
    let names: &[&str] = if mutual { &["x", "y"] } else { &["x"] };
    // What a subscript reads is known when the program runs.
    let mut text = format!("let pick = sum[a in 0..1](a) + 1;\n{}", of.lengths());
    if of.feeds {
        text += &of.producers(source);
    }
    for (own, name) in names.iter().enumerate() {
        let base = format!("t * {} + {}", small(source, 0, 4), small(source, 0, 9));
        text += &format!("let {name}[{}] = {base};\n", of.ranges(&of.base_range()));
        let body = of.body(names, own, source);
        let until = match (of.open, own) {
            (true, 0) => {
                let zeros: String = (1..of.rank).map(|_| ", 0").collect();
                let n = small(source, 1, 9);
                format!(" until x[t{zeros}] % {} == 0, max {n}", small(source, 2, 9))
            }
            _ => String::new(),
        };
        text += &format!("let {name}[{}] = {body}{until};\n", of.ranges(&of.main_range()));
    }
    let n = small(source, 1, 2);
    let looks: Vec<String> = (0..n)
        .map(|_| {
            let name = source.pick(names);
            of.observer(name, source)
        })
        .collect();
    text + &format!("let o = {};\n", looks.join(" + "))
}
