//! Amounts of memory and time as people write them.

use std::time::Duration;

/// `1000`, `512K`, `64M`, `2G`, `1.5GiB`: bytes, in steps of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let unit = unit.trim_end_matches("iB").trim_end_matches(['B', 'b']).to_ascii_uppercase();
    let scale = match unit.as_str() {
        "" => 1_u64,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return Err("write a number of bytes such as `512M` or `4G`".to_owned()),
    };
    let number = parse(number).ok_or("write a number of bytes such as `512M` or `4G`")?;
    Ok((number * scale as f64) as u64)
}

/// `10`, `1.5s`, `500ms`, `2m`, `1h`: seconds without a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time such as `10`, `500ms` or `2m`".to_owned();
    let (number, unit) = split(text);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number = parse(number).ok_or_else(wrong)?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| wrong())
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn parse(number: &str) -> Option<f64> {
    number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_read() {
        assert_eq!(bytes("1000"), Ok(1000));
        assert_eq!(bytes("512K"), Ok(512 << 10));
        assert_eq!(bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(bytes("64 mb"), Ok(64 << 20));
        assert!(["", "M", "-1", "1X", "1e400", "four"].iter().all(|text| bytes(text).is_err()));
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        let far = "9".repeat(60);
        assert!(["", "s", "-1", "1 year", &far].iter().all(|text| duration(text).is_err()));
    }
}
