//! Random recurrences: what they read, and who reads them.

/// A source of numbers that depends on the seed alone.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1).unsigned_abs()) as i64
    }

    pub(crate) fn chance(&mut self, percent: i64) -> bool {
        self.within(1, 100) <= percent
    }
}

/// A group of one or two bindings over the same box, and its observers.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The extents. All bindings have the same.
    pub(crate) extents: Vec<i64>,
    /// Whether the program knows the first extent only as the input `T`.
    pub(crate) symbolic: bool,
    /// The clauses of each binding; later ones win. The first covers the box and reads nothing.
    pub(crate) bindings: Vec<Vec<Clause>>,
    pub(crate) observers: Vec<Observer>,
    /// The axes that were meant to descend.
    pub(crate) descending: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// One range per axis, the end excluded; the end of the box moves with it.
    pub(crate) ranges: Vec<(i64, i64)>,
    pub(crate) reads: Vec<Read>,
    pub(crate) guard: Guard,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Guard {
    None,
    /// The first index is not larger than the last one.
    Ordered,
    /// Where `mask[t % 3] > 0` of the first index.
    Data,
}

/// The mask of [`Guard::Data`], and the data of [`Read::Data`].
pub(crate) const MASK: [i64; 3] = [1, 0, 1];

#[derive(Clone, Debug)]
pub(crate) enum Read {
    /// `x[t + a, i + b]`; with a default where it may leave the box.
    Offset { of: usize, offset: Vec<i64>, default: bool },
    /// `sum[k in 1..=n](x[t - k, …])` along an axis, against its direction.
    Reduced { of: usize, axis: usize, n: i64 },
    /// `x[t - 1 - mask[…]]` along an axis.
    Data { of: usize, axis: usize },
}

/// Somebody who reads a binding later.
#[derive(Clone, Debug)]
pub(crate) enum Observer {
    /// One point, counted from the end at which each axis stops.
    Point { of: usize, back: Vec<i64> },
    /// The same by a function that takes the tensor.
    Function { of: usize },
    /// The last `n` points of an axis, the last ones of the others.
    Suffix { of: usize, axis: usize, n: i64 },
    /// All points of every axis but one, of which the last is read.
    Plane { of: usize, axis: usize },
    /// Everything.
    Whole { of: usize },
    /// Everything, by printing it.
    Printed { of: usize },
    /// A point whose first index is an input.
    Dynamic { of: usize },
    /// The first points, wherever the axes end.
    Fixed { of: usize },
}

impl Case {
    pub(crate) fn rank(&self) -> usize {
        self.extents.len()
    }

    /// A random case.
    pub(crate) fn random(dice: &mut Dice) -> Case {
        let rank = [1, 1, 2, 2, 2, 3][dice.within(0, 5) as usize];
        let largest = if rank == 3 { 7 } else { 12 };
        let extents: Vec<i64> = (0..rank).map(|_| dice.within(largest - 2, largest)).collect();
        let symbolic = dice.chance(40);
        let descending: Vec<bool> = (0..rank).map(|_| dice.chance(20)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        if dice.chance(25) {
            order.rotate_left(1);
        }
        let n_bindings = if dice.chance(25) { 2 } else { 1 };
        let mut case =
            Case { extents, symbolic, bindings: Vec::new(), observers: Vec::new(), descending };
        for binding in 0..n_bindings {
            let whole = case.extents.iter().map(|extent| (0, *extent)).collect();
            let base = Clause { ranges: whole, reads: Vec::new(), guard: Guard::None };
            let mut clauses = vec![base];
            for _ in 0..dice.within(1, 3) {
                let clause = case.clause(dice, binding, n_bindings, &order);
                clauses.push(clause);
            }
            case.bindings.push(clauses);
        }
        for _ in 0..dice.within(1, 3) {
            let observer = case.observer(dice, n_bindings as i64);
            case.observers.push(observer);
        }
        case
    }

    fn clause(&self, dice: &mut Dice, own: usize, n_bindings: usize, order: &[usize]) -> Clause {
        let mut reads = Vec::new();
        for _ in 0..dice.within(1, 3) {
            let of = if n_bindings == 2 && dice.chance(50) { 1 - own } else { own };
            reads.push(self.read(dice, own, of, order));
        }
        let mut ranges: Vec<(i64, i64)> = self.extents.iter().map(|n| (0, *n)).collect();
        for read in &reads {
            for (axis, range) in ranges.iter_mut().enumerate() {
                let (low, high) = read.reach(axis, &self.descending);
                range.0 = range.0.max(-low);
                range.1 = range.1.min(self.extents[axis] - high);
            }
        }
        // Some clauses define only a part, or a single point of an axis.
        let axis = dice.within(0, self.rank() as i64 - 1) as usize;
        if dice.chance(20) && ranges[axis].0 + 3 < ranges[axis].1 {
            ranges[axis].0 += dice.within(1, 2);
        } else if dice.chance(10) && ranges[axis].0 < ranges[axis].1 {
            ranges[axis].1 = ranges[axis].0 + 1;
        }
        let guard = match dice.within(1, 100) {
            1..=10 if self.rank() > 1 => Guard::Ordered,
            11..=20 => Guard::Data,
            _ => Guard::None,
        };
        Clause { ranges, reads, guard }
    }

    fn read(&self, dice: &mut Dice, own: usize, of: usize, order: &[usize]) -> Read {
        let axis = order[0];
        match dice.within(1, 100) {
            1..=8 => return Read::Reduced { of, axis, n: dice.within(2, 3) },
            9..=14 => return Read::Data { of, axis },
            _ => {}
        }
        let mut offset = vec![0; self.rank()];
        if dice.chance(8) {
            // Anything; the checker says whether there is an order.
            offset.iter_mut().for_each(|o| *o = dice.within(-2, 2));
        } else if own == 1 && of == 0 && dice.chance(40) {
            // The same step of the other binding.
        } else {
            // Back along one axis, anywhere along those inside it.
            let lead = if dice.chance(70) { 0 } else { dice.within(0, order.len() as i64 - 1) };
            for (at, axis) in order.iter().enumerate().skip(lead as usize) {
                let sign = if self.descending[*axis] { 1 } else { -1 };
                offset[*axis] = match at == lead as usize {
                    true => sign * dice.within(1, 3),
                    false if dice.chance(50) => dice.within(-2, 2),
                    false => 0,
                };
            }
        }
        Read::Offset { of, offset, default: dice.chance(30) }
    }

    fn observer(&self, dice: &mut Dice, n_bindings: i64) -> Observer {
        let of = dice.within(0, n_bindings - 1) as usize;
        let axis = dice.within(0, self.rank() as i64 - 1) as usize;
        match dice.within(1, 100) {
            1..=40 => {
                let back = |dice: &mut Dice| if dice.chance(60) { 0 } else { dice.within(0, 4) };
                Observer::Point { of, back: (0..self.rank()).map(|_| back(dice)).collect() }
            }
            41..=48 => Observer::Function { of },
            49..=64 => Observer::Suffix { of, axis, n: dice.within(2, 4) },
            65..=84 => Observer::Plane { of, axis },
            85..=88 => Observer::Whole { of },
            89..=92 => Observer::Printed { of },
            93..=96 => Observer::Dynamic { of },
            _ => Observer::Fixed { of },
        }
    }
}

impl Read {
    /// The least and the largest offset along an axis, for reads without a default.
    fn reach(&self, axis: usize, descending: &[bool]) -> (i64, i64) {
        let back = |n: i64| if descending[axis] { (0, n) } else { (-n, 0) };
        match self {
            Read::Offset { default: true, .. } => (0, 0),
            Read::Offset { offset, .. } => (offset[axis].min(0), offset[axis].max(0)),
            Read::Reduced { axis: along, n, .. } if *along == axis => back(*n),
            Read::Data { axis: along, .. } if *along == axis => back(2),
            _ => (0, 0),
        }
    }

    /// The binding that is read.
    pub(crate) fn of(&self) -> usize {
        match self {
            Read::Offset { of, .. } | Read::Reduced { of, .. } | Read::Data { of, .. } => *of,
        }
    }

    /// The points that are read at a point.
    pub(crate) fn targets(&self, point: &[i64], descending: &[bool]) -> Vec<Vec<i64>> {
        let moved = |axis: usize, by: i64| {
            let mut target = point.to_vec();
            target[axis] += if descending[axis] { by } else { -by };
            target
        };
        match self {
            Read::Offset { offset, .. } => {
                vec![point.iter().zip(offset).map(|(x, o)| x + o).collect()]
            }
            Read::Reduced { axis, n, .. } => (1..=*n).map(|k| moved(*axis, k)).collect(),
            Read::Data { axis, .. } => {
                vec![moved(*axis, 1 + MASK[point[*axis].rem_euclid(3) as usize])]
            }
        }
    }
}

impl Observer {
    /// The binding that is observed.
    pub(crate) fn of(&self) -> usize {
        match self {
            Observer::Point { of, .. }
            | Observer::Function { of }
            | Observer::Suffix { of, .. }
            | Observer::Plane { of, .. }
            | Observer::Whole { of }
            | Observer::Printed { of }
            | Observer::Dynamic { of }
            | Observer::Fixed { of } => *of,
        }
    }

    /// Whether it reads a point. A dynamic one may read any, along its first axis.
    pub(crate) fn reads(&self, point: &[i64], case: &Case) -> bool {
        let back = |axis: usize| match case.descending[axis] {
            true => point[axis],
            false => case.extents[axis] - 1 - point[axis],
        };
        let mut axes = 0..point.len();
        match self {
            Observer::Point { back: wanted, .. } => axes.all(|axis| back(axis) == wanted[axis]),
            Observer::Function { .. } => axes.all(|axis| back(axis) == 0),
            Observer::Suffix { axis: along, n, .. } => {
                axes.all(|axis| back(axis) < if axis == *along { *n } else { 1 })
            }
            Observer::Plane { axis, .. } => back(*axis) == 0,
            Observer::Whole { .. } | Observer::Printed { .. } => true,
            Observer::Dynamic { .. } => axes.skip(1).all(|axis| back(axis) == 0),
            Observer::Fixed { .. } => axes.all(|axis| back(axis) == case.extents[axis] - 1),
        }
    }
}
