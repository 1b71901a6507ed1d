//! How much memory the process has in use, where the system tells.

/// The bytes that are resident; none where that cannot be asked.
pub(crate) fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_that_runs_has_memory_in_use() {
        if let Some(bytes) = super::resident() {
            assert!(bytes > 1 << 16, "{bytes}");
        }
    }
}
