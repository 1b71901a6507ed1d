//! Tensors of records, which are tensors per field, as lists of records.

use einlang_tir::host::HostType;

use super::machine::Executor;
use crate::stop::Stop;
use crate::tensor::TensorValue;
use crate::value::{HostValue, NodeKind};

impl Executor<'_, '_> {
    /// The elements along the first axis of all tensors of a tuple, each as a value of a type.
    pub(super) fn zip_records(&self, value: &HostValue, of: &HostType) -> Result<HostValue, Stop> {
        let n = first_extent(value).unwrap_or(0);
        let mut items = Vec::with_capacity(n);
        for at in 0..n {
            let part = row(value, at)?;
            items.push(match of {
                HostType::List(of) => self.zip_records(&part, of)?,
                _ => self.as_record(part, of)?,
            });
        }
        Ok(HostValue::list(items))
    }

    /// A tuple of tensors without the axes of the elements as a record.
    fn as_record(&self, value: HostValue, of: &HostType) -> Result<HostValue, Stop> {
        let lost = || Stop::internal("a record lost a field");
        match (of, value) {
            (HostType::Scalar(_), HostValue::Tensor(tensor)) => {
                tensor.get(0).map(HostValue::from).ok_or_else(lost)
            }
            (HostType::Struct(name), HostValue::Node(node)) => {
                let fields = self.shared.names.fields(name);
                let types = self.shared.fields(name).ok_or_else(lost)?;
                let items = node.items.iter().zip(types);
                let items: Result<Vec<_>, Stop> =
                    items.map(|(item, (_, of))| self.as_record(item.clone(), of)).collect();
                Ok(HostValue::node(NodeKind::Struct(name.clone(), fields), items?))
            }
            (HostType::Tuple(types), HostValue::Node(node)) => {
                let items = node.items.iter().zip(types);
                let items: Result<Vec<_>, Stop> =
                    items.map(|(item, of)| self.as_record(item.clone(), of)).collect();
                Ok(HostValue::node(NodeKind::Tuple, items?))
            }
            (_, value) => Ok(value),
        }
    }
}

fn first_extent(value: &HostValue) -> Option<usize> {
    match value {
        HostValue::Tensor(tensor) => tensor.shape().first().copied(),
        HostValue::Node(node) => node.items.iter().find_map(first_extent),
        _ => None,
    }
}

fn row(value: &HostValue, at: usize) -> Result<HostValue, Stop> {
    match value {
        HostValue::Tensor(tensor) => {
            let row: Option<TensorValue> = tensor.row(at);
            row.map(HostValue::tensor).ok_or_else(|| Stop::internal("a tensor lost a row"))
        }
        HostValue::Node(node) => {
            let items: Result<Vec<_>, Stop> = node.items.iter().map(|item| row(item, at)).collect();
            Ok(HostValue::node(node.kind.clone(), items?))
        }
        _ => Err(Stop::internal("a tensor of records holds something else")),
    }
}
