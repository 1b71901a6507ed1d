//! Groups that are being evaluated, and the memory of their points.
//!
//! A group of the module exists once; a local group exists once per time its instruction is
//! reached, with a copy of what it could see there. The points of a binding are remembered in
//! pages that come into being when a point is asked for. The open axis of an `until` group is the
//! slowest one in this numbering, whatever its place, so that it can grow.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::options::Meter;
use crate::stop::Stop;
use crate::tensor::TensorValue;

/// A tensor that can be read.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// A binding of a group.
    Bound(Rc<Instance>, u32),
    /// A tensor that is there.
    Value(Arc<TensorValue>),
}

/// What a local group could see where it was made.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) vals: Vec<u64>,
    pub(super) vars: Vec<i64>,
    pub(super) tensors: Vec<Option<Handle>>,
}

/// How far an `until` has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Open {
    /// Nobody has asked for the extent.
    NotAsked,
    /// Points up to this step may be asked for.
    Running(i64),
    /// The extent, and whether the condition ended it.
    Done(i64, bool),
}

/// A group that is being evaluated.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) group: usize,
    pub(super) captured: Option<Captured>,
    pub(super) tables: Vec<RefCell<Table>>,
    pub(super) open: Cell<Open>,
    pub(super) meter: Meter,
}

impl Drop for Instance {
    /// Instances may hold each other in a long chain, which must not be dropped recursively.
    fn drop(&mut self) {
        let bytes: u64 = self.tables.iter().map(|table| table.borrow().bytes()).sum();
        self.meter.give(bytes);
        let mut doomed = take_tensors(self);
        while let Some(handle) = doomed.pop() {
            if let Some(Handle::Bound(instance, _)) = handle
                && let Some(mut instance) = Rc::into_inner(instance)
            {
                doomed.append(&mut take_tensors(&mut instance));
            }
        }
    }
}

fn take_tensors(instance: &mut Instance) -> Vec<Option<Handle>> {
    instance.captured.as_mut().map(|c| std::mem::take(&mut c.tensors)).unwrap_or_default()
}

/// What is known of a point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    /// Nobody has asked for it.
    Unknown,
    /// It is being computed.
    Busy,
    /// No clause covers it.
    Uncovered,
    /// It is computed.
    Computed(u64),
}

const PAGE: usize = 512;

#[derive(Debug)]
struct Page {
    bits: [u64; PAGE],
    marks: [u8; PAGE],
}

const UNKNOWN: u8 = 0;
const BUSY: u8 = 1;
const UNCOVERED: u8 = 2;
const COMPUTED: u8 = 3;

/// The points of one binding.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The extents, without those of an open axis; `None` until they are known.
    pub(super) extents: Option<Vec<i64>>,
    strides: Vec<u64>,
    open: Option<usize>,
    pages: Vec<Option<Box<Page>>>,
}

/// More pages than this are no list any more.
const MAX_PAGES: u64 = 1 << 32;

impl Table {
    /// Fixes the extents. `open` is the axis that grows.
    pub(super) fn shape(&mut self, extents: Vec<i64>, open: Option<usize>) -> Result<(), ()> {
        let mut strides = vec![0; extents.len()];
        let mut stride: u64 = 1;
        let closed = (0..extents.len()).rev().filter(|axis| Some(*axis) != open);
        for axis in closed {
            strides[axis] = stride;
            let extent = u64::try_from(extents[axis].max(0)).unwrap_or(0);
            stride = stride.checked_mul(extent.max(1)).ok_or(())?;
        }
        if let Some(axis) = open {
            strides[axis] = stride;
        }
        if stride / PAGE as u64 > MAX_PAGES {
            return Err(());
        }
        (self.extents, self.strides, self.open) = (Some(extents), strides, open);
        Ok(())
    }

    /// The number of a point that lies in the box.
    #[inline]
    pub(super) fn offset(&self, point: &[i128]) -> u64 {
        self.strides.iter().zip(point).map(|(stride, x)| stride * *x as u64).sum()
    }

    /// The coordinate of a point along an axis.
    pub(super) fn coordinate(&self, offset: u64, axis: usize) -> i64 {
        let (Some(extents), Some(stride)) = (&self.extents, self.strides.get(axis)) else {
            return 0;
        };
        let quotient = offset / (*stride).max(1);
        match self.open == Some(axis) {
            true => quotient as i64,
            false => (quotient % extents[axis].max(1) as u64) as i64,
        }
    }

    /// What is known of a point.
    #[inline]
    pub(super) fn state(&self, offset: u64) -> State {
        let (page, at) = ((offset / PAGE as u64) as usize, (offset % PAGE as u64) as usize);
        let Some(Some(page)) = self.pages.get(page) else { return State::Unknown };
        match page.marks[at] {
            UNKNOWN => State::Unknown,
            BUSY => State::Busy,
            UNCOVERED => State::Uncovered,
            _ => State::Computed(page.bits[at]),
        }
    }

    /// Remembers something of a point.
    pub(super) fn set(
        &mut self,
        offset: u64,
        state: State,
        meter: &Meter,
        what: &dyn Fn() -> String,
    ) -> Result<(), Stop> {
        let (page, at) = ((offset / PAGE as u64) as usize, (offset % PAGE as u64) as usize);
        if page >= self.pages.len() {
            // Grows by doubling, so that an open axis costs no more than a closed one.
            let n = (page + 1).max(2 * self.pages.len());
            meter.take(8 * (n - self.pages.len()) as u64, what)?;
            self.pages.resize_with(n, || None);
        }
        if self.pages[page].is_none() {
            meter.take(size_of::<Page>() as u64, what)?;
            self.pages[page] = Some(Box::new(Page { bits: [0; PAGE], marks: [UNKNOWN; PAGE] }));
        }
        if let Some(page) = &mut self.pages[page] {
            (page.bits[at], page.marks[at]) = match state {
                State::Unknown => (0, UNKNOWN),
                State::Busy => (0, BUSY),
                State::Uncovered => (0, UNCOVERED),
                State::Computed(bits) => (bits, COMPUTED),
            };
        }
        Ok(())
    }

    /// How many bytes the pages take.
    pub(super) fn bytes(&self) -> u64 {
        let n = self.pages.iter().flatten().count() * size_of::<Page>() + 8 * self.pages.len();
        n as u64
    }
}
