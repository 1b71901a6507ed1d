//! Whether some value matches a pattern and none of the patterns before it, after Maranget,
//! "Warnings for pattern matching" (2007).
//!
//! A matrix of patterns is split by the constructors of its first column: the variants of an enum,
//! intervals of integers between the bounds that occur, lengths of arrays up to the longest that
//! occurs. The work is bounded; beyond the budget nothing is claimed.

use super::ty::Ty;

/// A pattern without names.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Pat {
    /// Matches everything.
    Wild,
    /// Matches nothing that is known.
    Opaque,
    /// A variant by position, `false` and `true` included.
    Variant(usize, Vec<Pat>),
    /// A tuple or struct.
    Single(Vec<Pat>),
    /// Integers from the first to the last.
    Range(i128, i128),
    /// A string or float.
    Text(String),
    /// An array: the first elements, and the last ones after a rest.
    Slice(Vec<Pat>, Option<Vec<Pat>>),
    /// One of several.
    Or(Vec<Pat>),
}

/// The values of a type, by constructor.
pub(super) enum Split {
    /// Variants with what they carry.
    Variants(Vec<Vec<Ty>>),
    /// One constructor.
    Single(Vec<Ty>),
    /// Integers.
    Integers(i128, i128),
    /// Arrays of an element type.
    Slices(Ty),
    /// Values that cannot be listed.
    Open,
}

/// How a type splits.
pub(super) type Splitter<'a> = &'a dyn Fn(&Ty) -> Split;

/// One case of the first column.
#[derive(Clone, Debug)]
enum Case {
    Variant(usize, Vec<Ty>),
    Single(Vec<Ty>),
    Range(i128, i128),
    /// Arrays of this length; with `true`, of this length or more.
    Length(usize, bool, Ty),
    Text(String),
    Other,
}

/// The search gave up.
pub(super) struct TooHard;

/// A row of values that matches `wanted` and none of `rows`.
pub(super) fn witness(
    rows: &[Vec<Pat>],
    wanted: &[Pat],
    types: &[Ty],
    split: Splitter<'_>,
    budget: &mut u32,
) -> Result<Option<Vec<Pat>>, TooHard> {
    *budget = budget.checked_sub(1).ok_or(TooHard)?;
    let (Some(ty), Some(head)) = (types.first(), wanted.first()) else {
        return Ok(rows.is_empty().then(Vec::new));
    };
    if let Pat::Or(alternatives) = head {
        for alternative in alternatives {
            let wanted = [std::slice::from_ref(alternative), &wanted[1..]].concat();
            if let Some(found) = witness(rows, &wanted, types, split, budget)? {
                return Ok(Some(found));
            }
        }
        return Ok(None);
    }
    let rows = without_or(rows);
    for case in cases(&rows, head, split(ty)) {
        let Some(wanted) = specialised(wanted, &case) else { continue };
        let kept: Vec<Vec<Pat>> = rows.iter().filter_map(|row| specialised(row, &case)).collect();
        let inner = case_types(&case);
        let types = [&inner[..], &types[1..]].concat();
        if let Some(found) = witness(&kept, &wanted, &types, split, budget)? {
            return Ok(Some(rebuilt(&case, found, inner.len())));
        }
    }
    Ok(None)
}

/// Rows whose first pattern is no alternative.
fn without_or(rows: &[Vec<Pat>]) -> Vec<Vec<Pat>> {
    let mut flat = Vec::new();
    let mut open: Vec<Vec<Pat>> = rows.iter().rev().cloned().collect();
    while let Some(row) = open.pop() {
        match row.first() {
            Some(Pat::Or(alternatives)) => {
                for alternative in alternatives.iter().rev() {
                    open.push([std::slice::from_ref(alternative), &row[1..]].concat());
                }
            }
            _ => flat.push(row),
        }
    }
    flat
}

fn cases(rows: &[Vec<Pat>], head: &Pat, split: Split) -> Vec<Case> {
    let heads = || rows.iter().filter_map(|row| row.first()).chain([head]);
    if heads().all(|pat| *pat == Pat::Wild) {
        // Nobody looks inside, which also ends the descent into recursive types.
        return vec![Case::Other];
    }
    match split {
        Split::Variants(variants) => {
            variants.into_iter().enumerate().map(|(i, types)| Case::Variant(i, types)).collect()
        }
        Split::Single(types) => vec![Case::Single(types)],
        Split::Integers(low, high) => intervals(heads(), low, high),
        Split::Slices(element) => {
            let longest = heads().map(|pat| match pat {
                Pat::Slice(first, last) => first.len() + last.as_ref().map_or(0, Vec::len),
                _ => 0,
            });
            let n = longest.max().unwrap_or(0) + 1;
            (0..=n).map(|len| Case::Length(len, len == n, element.clone())).collect()
        }
        Split::Open => {
            let mut texts: Vec<String> = Vec::new();
            for pat in heads() {
                if let Pat::Text(text) = pat
                    && !texts.contains(text)
                {
                    texts.push(text.clone());
                }
            }
            texts.into_iter().map(Case::Text).chain([Case::Other]).collect()
        }
    }
}

/// The intervals between all bounds that occur.
fn intervals<'a>(heads: impl Iterator<Item = &'a Pat>, low: i128, high: i128) -> Vec<Case> {
    let mut starts = vec![low];
    for pat in heads {
        if let Pat::Range(first, last) = pat {
            starts.extend([*first, last + 1]);
        }
    }
    starts.retain(|start| (low..=high).contains(start));
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([high]);
    starts.iter().zip(ends).map(|(start, end)| Case::Range(*start, end)).collect()
}

fn case_types(case: &Case) -> Vec<Ty> {
    match case {
        Case::Variant(_, types) | Case::Single(types) => types.clone(),
        Case::Length(len, _, element) => vec![element.clone(); *len],
        Case::Range(..) | Case::Text(_) | Case::Other => Vec::new(),
    }
}

/// The row for values of this case, or nothing when its first pattern excludes them.
fn specialised(row: &[Pat], case: &Case) -> Option<Vec<Pat>> {
    let (head, rest) = row.split_first()?;
    let n_parts = case_types(case).len();
    let parts = match (head, case) {
        (Pat::Wild, _) => vec![Pat::Wild; n_parts],
        (Pat::Variant(i, parts), Case::Variant(j, _)) if i == j => padded(parts, n_parts),
        (Pat::Single(parts), Case::Single(_)) => padded(parts, n_parts),
        (Pat::Range(first, last), Case::Range(low, high)) if first <= low && high <= last => {
            Vec::new()
        }
        (Pat::Text(text), Case::Text(other)) if text == other => Vec::new(),
        (Pat::Slice(first, None), Case::Length(len, false, _)) if first.len() == *len => {
            first.clone()
        }
        (Pat::Slice(first, Some(last)), Case::Length(len, _, _))
            if first.len() + last.len() <= *len =>
        {
            let middle = vec![Pat::Wild; len - first.len() - last.len()];
            [&first[..], &middle, last].concat()
        }
        _ => return None,
    };
    Some([&parts[..], rest].concat())
}

/// Patterns with a wrong number of parts were reported; they count as far as they go.
fn padded(parts: &[Pat], n_parts: usize) -> Vec<Pat> {
    let mut parts = parts.to_vec();
    parts.resize(n_parts, Pat::Wild);
    parts
}

fn rebuilt(case: &Case, mut found: Vec<Pat>, n_parts: usize) -> Vec<Pat> {
    let rest = found.split_off(n_parts.min(found.len()));
    let head = match case {
        Case::Variant(index, _) => Pat::Variant(*index, found),
        Case::Single(_) => Pat::Single(found),
        Case::Range(low, high) => Pat::Range(*low, *high),
        Case::Text(text) => Pat::Text(text.clone()),
        Case::Length(_, false, _) => Pat::Slice(found, None),
        Case::Length(_, true, _) => Pat::Slice(found, Some(Vec::new())),
        Case::Other => Pat::Wild,
    };
    [vec![head], rest].concat()
}
