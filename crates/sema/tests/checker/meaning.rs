//! Compares descriptions by what they mean: extents and bounds are functions of the sizes they
//! mention, and `(N + 1) / 2` is the same function as `N - N / 2`. The left one is the expectation.
//!
//! Two functions are taken for the same when they agree on a fixed set of sample points with every
//! size at least 1. An extent below 0 counts as 0, and all empty ranges are the same.

/// How many points two functions are compared at.
const SAMPLES: u64 = 200;

/// Whether two descriptions of a type, a shape or a range mean the same.
pub(crate) fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim(), right.trim());
    if left == right {
        return true;
    }
    if let (Some(left), Some(right)) = (inside(left, '[', ']'), inside(right, '[', ']')) {
        return same_tensor(left, right);
    }
    if let (Some(left), Some(right)) = (inside(left, '(', ')'), inside(right, '(', ')')) {
        let (left, right) = (split(left, ','), split(right, ','));
        return left.len() == right.len() && left.iter().zip(&right).all(|(l, r)| same(l, r));
    }
    match (left.split_once(".."), right.split_once("..")) {
        (Some(left), Some(right)) => same_range(left, right),
        _ => false,
    }
}

fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn same_tensor(left: &str, right: &str) -> bool {
    let (left, right) = (split(left, ';'), split(right, ';'));
    let ([left, left_axes], [right, right_axes]) = (left.as_slice(), right.as_slice()) else {
        return false;
    };
    let (left_axes, right_axes) = (split(left_axes, ','), split(right_axes, ','));
    let pairs = left_axes.iter().zip(&right_axes);
    same(left, right) && left_axes.len() == right_axes.len() && pairs.into_iter().all(same_extent)
}

/// The parts of a text between separators outside of all brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ if c == separator && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn same_extent((left, right): (&&str, &&str)) -> bool {
    if *left == "?" {
        // The checker names what data decides by a place in quotes, such as `len(x)`.
        return right.starts_with('`') && right.ends_with('`') || *right == "?";
    }
    (0..SAMPLES).all(|sample| {
        let values = (value(left, sample), value(right, sample));
        matches!(values, (Some(l), Some(r)) if l.max(0) == r.max(0))
    })
}

fn same_range(left: (&str, &str), right: (&str, &str)) -> bool {
    let bounds =
        |range: (&str, &str), sample| Some((value(range.0, sample)?, value(range.1, sample)?));
    (0..SAMPLES).all(|sample| match (bounds(left, sample), bounds(right, sample)) {
        (Some(l), Some(r)) => l == r || (l.0 >= l.1 && r.0 >= r.1),
        _ => false,
    })
}

/// The value of an expression at a sample point; `None` if it is not an expression.
fn value(text: &str, sample: u64) -> Option<i64> {
    let mut reader = Reader { rest: text.trim(), sample };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

/// The value of a name at a sample point: small numbers first, then larger ones.
fn sampled(name: &str, sample: u64) -> i64 {
    // FNV-1a over the name and the number of the sample.
    let bytes = name.bytes().chain(sample.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let most = if sample < SAMPLES / 2 { 4 } else { 60 };
    1 + ((hash >> 17) % most) as i64
}

struct Reader<'t> {
    rest: &'t str,
    sample: u64,
}

impl Reader<'_> {
    fn eat(&mut self, token: char) -> bool {
        let rest = self.rest.strip_prefix(token).map(str::trim_start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value = value.checked_add(self.product()?)?;
            } else if self.eat('-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        loop {
            if self.eat('*') {
                value = value.checked_mul(self.factor()?)?;
            } else if self.eat('/') {
                value = value.checked_div_euclid(self.factor()?)?;
            } else if self.eat('%') {
                value = value.checked_rem_euclid(self.factor()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<i64> {
        if self.eat('-') {
            return self.factor()?.checked_neg();
        }
        if self.eat('(') {
            let value = self.sum()?;
            return self.eat(')').then_some(value);
        }
        let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '?';
        let end = self.rest.find(|c| !in_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if name.is_empty() {
            return None;
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok();
        }
        if name == "floor" && self.eat('(') {
            let value = self.sum()?;
            return self.eat(')').then_some(value);
        }
        if matches!(name, "min" | "max") && self.eat('(') {
            return self.extremal(name == "max");
        }
        Some(sampled(name, self.sample))
    }

    /// The rest of `max(a, b, …)`.
    fn extremal(&mut self, largest: bool) -> Option<i64> {
        let mut value = self.sum()?;
        while self.eat(',') {
            let next = self.sum()?;
            value = if largest { value.max(next) } else { value.min(next) };
        }
        self.eat(')').then_some(value)
    }
}

#[test]
fn extents_are_compared_as_functions() {
    assert!(same("[f32; (N + 1) / 2]", "[f32; N - N / 2]"));
    assert!(same("[f32; max(1, T), D]", "[f32; T, D]"));
    assert!(!same("[f32; max(2, N)]", "[f32; N]"));
    assert!(!same("[f32; N]", "[f32; ?]"));
    assert!(!same("[f32; N]", "[f32; `len(x)`]"));
    assert!(same("[f32; ?]", "[f32; `len(x)`]"));
    assert!(same("[f32; N / 2]", "[f32; floor(N / 2)]"));
    assert!(!same("[f32; N]", "[f64; N]"));
    assert!(!same("[f32; M, N]", "[f32; N, M]"));
    assert!(same("([f32; 2*N], i32)", "([f32; N + N], i32)"));
    assert!(same("0..min(M, N - 3)", "0..min(N - 3, M)"));
    assert!(!same("1..N", "0..N"));
    assert!(!same("[f32; N", "[f32; N]"));
}
