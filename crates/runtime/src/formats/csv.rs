//! Tables of numbers as comma separated text.
//!
//! A first line without a single number is a heading. The elements are `i64` if every cell is an
//! integer, otherwise `f64`; a cell that is no number is an error with its line and column.

use csv::{ReaderBuilder, StringRecord, WriterBuilder};

use super::{number_text, within};
use crate::array::{Array, Elem};
use crate::error::FileError;

pub(super) fn decode(bytes: &[u8], limit: u64) -> Result<Array, FileError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let mut table = Table::default();
    let mut record = StringRecord::new();
    let mut first = true;
    loop {
        let more = reader.read_record(&mut record);
        if !more.map_err(|error| FileError::malformed(error.to_string()))? {
            break;
        }
        let is_heading = first && !record.iter().any(|cell| number(cell).is_some());
        first = false;
        if is_heading {
            table.n_columns = Some(record.len());
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        table.add(&record, line)?;
        within(table.floats.len().saturating_mul(8), limit)?;
    }
    table.finish()
}

#[derive(Default)]
struct Table {
    n_columns: Option<usize>,
    n_rows: usize,
    floats: Vec<f64>,
    /// The same cells, as long as all of them are integers.
    integers: Option<Vec<i64>>,
}

impl Table {
    fn add(&mut self, record: &StringRecord, line: u64) -> Result<(), FileError> {
        let wanted = *self.n_columns.get_or_insert(record.len());
        if record.len() != wanted {
            let message =
                format!("line {line} has {} cells, and those before it {wanted}", record.len());
            return Err(FileError::malformed(message));
        }
        if self.n_rows == 0 {
            self.integers = Some(Vec::new());
        }
        self.n_rows += 1;
        for (column, cell) in (1..).zip(record) {
            let Some(value) = number(cell) else {
                let message = format!("line {line}, column {column}: `{cell}` is no number");
                return Err(FileError::malformed(message));
            };
            self.floats.push(value);
            self.integers = match (self.integers.take(), cell.parse::<i64>()) {
                (Some(mut list), Ok(integer)) => {
                    list.push(integer);
                    Some(list)
                }
                _ => None,
            };
        }
        Ok(())
    }

    fn finish(self) -> Result<Array, FileError> {
        let shape = vec![self.n_rows, self.n_columns.unwrap_or(0)];
        let (elem, bytes) = match self.integers {
            Some(list) => (Elem::I64, list.iter().flat_map(|value| value.to_le_bytes()).collect()),
            None => (Elem::F64, self.floats.iter().flat_map(|value| value.to_le_bytes()).collect()),
        };
        Array::new(elem, shape, bytes)
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok()
}

pub(super) fn encode(array: &Array) -> Result<Vec<u8>, FileError> {
    let n_columns = match array.shape() {
        [_] => 1,
        [_, n_columns] => *n_columns,
        shape => {
            let message =
                format!("a table has rows and columns, and the array {} axes", shape.len());
            return Err(FileError::unsuitable(message));
        }
    };
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let failed =
        |error: &dyn std::fmt::Display| FileError::unsuitable(format!("the table: {error}"));
    let cells: Vec<String> = array.bits().map(|bits| number_text(array.elem(), bits)).collect();
    for row in cells.chunks(n_columns.max(1)) {
        writer.write_record(row).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn read(text: &str) -> Result<Array, FileError> {
        decode(text.as_bytes(), 1 << 20)
    }

    #[test]
    fn integers_stay_exact_and_headings_are_left_out() {
        let table = read("t, x\r\n1, 9007199254740993\r\n-2,3\r\n").expect("a table");
        assert_eq!((table.elem(), table.shape()), (Elem::I64, &[2, 2][..]));
        let cells: Vec<i64> = table.bits().map(|bits| bits as i64).collect();
        assert_eq!(cells, [1, 9_007_199_254_740_993, -2, 3]);
        let table = read("1,2.5\n\"3\",NaN").expect("a table");
        assert_eq!((table.elem(), table.shape()), (Elem::F64, &[2, 2][..]));
        assert_eq!(f64::from_bits(table.bits().nth(1).expect("a cell")), 2.5);
        assert_eq!(read("").expect("nothing").shape(), [0, 0]);
        assert_eq!(read("a,b,c\n").expect("only a heading").shape(), [0, 3]);
    }

    #[test]
    fn bad_cells_are_named() {
        let said = |text: &str| read(text).expect_err("no table").message;
        assert_eq!(said("1,2\n3,x\n"), "line 2, column 2: `x` is no number");
        assert_eq!(said("1,2\n3\n"), "line 2 has 1 cells, and those before it 2");
        assert_eq!(said("1,2\n3,\n"), "line 2, column 2: `` is no number");
        assert_eq!(decode(b"1,2,3", 16).map_err(|error| error.kind), Err(Kind::TooLarge));
        assert!(decode(b"1,\xff", 100).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = [1.5_f32, -2.0, 1e-7, f32::INFINITY].iter().flat_map(|x| x.to_le_bytes());
        let array = Array::new(Elem::F32, vec![2, 2], bytes.collect()).expect("it fits");
        let text = encode(&array).expect("a table");
        assert_eq!(String::from_utf8_lossy(&text), "1.5,-2.0\n1e-7,inf\n");
        assert_eq!(decode(&text, 100).expect("a table").shape(), [2, 2]);
    }
}
