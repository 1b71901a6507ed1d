//! The shortest digits of a float at its own precision.

use einlang_tir::constant::Const;
use einlang_tir::types::Elem;

/// The shortest text that reads back as the same number of the same type.
pub(crate) fn shortest(value: Const) -> String {
    let number = value.as_float().unwrap_or_default();
    match value.elem() {
        Elem::F32 => format!("{:?}", number as f32),
        Elem::F64 => format!("{number:?}"),
        elem if number.is_finite() => narrow(elem, number),
        _ => format!("{number:?}"),
    }
}

/// The fewest digits that round to the same number of a type that Rust does not have.
fn narrow(elem: Elem, number: f64) -> String {
    let wanted = Const::float(elem, number);
    for digits in 0..17 {
        let text = format!("{number:.digits$e}");
        let read: f64 = text.parse().unwrap_or(f64::NAN);
        if Const::float(elem, read) == wanted {
            // As a double these few digits print as themselves.
            return format!("{read:?}");
        }
    }
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_the_fewest_of_the_type() {
        let show = |elem, value| shortest(Const::float(elem, value));
        assert_eq!(show(Elem::F32, 0.1), "0.1");
        assert_eq!(show(Elem::F32, 1.0 / 3.0), "0.33333334");
        assert_eq!(show(Elem::F64, 1.0 / 3.0), "0.3333333333333333");
        assert_eq!(show(Elem::F16, 0.1), "0.1");
        assert_eq!(show(Elem::BF16, 3.140625), "3.14");
        assert_eq!(show(Elem::F8E4M3, 0.1), "0.1");
        assert_eq!(show(Elem::F64, 1e16), "1e16");
        assert_eq!(show(Elem::F32, 1e-7), "1e-7");
        assert_eq!(show(Elem::F64, f64::NEG_INFINITY), "-inf");
        assert_eq!(show(Elem::F16, f64::NAN), "NaN");
        assert_eq!(show(Elem::F16, -0.0), "-0.0");
    }
}
