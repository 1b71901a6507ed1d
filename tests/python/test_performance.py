"""The page and the picture of the benchmark, from a small sample of its results."""

import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLE = HERE / "bench_sample.json"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    for name in ("report", "chart", "table"):
        sys.modules.pop(name, None)
    import chart
    import report
    import table

    return report, chart, table


def test_ratios_and_means(bench):
    reports, _, _ = bench
    report = reports.read(SAMPLE)
    first, second, third = report.rows
    assert (first.best, first.over_best("ours"), first.over_c("ours")) == (0.002, 1.5, 0.75)
    # A wrong answer is never the best.
    assert (second.best, second.over_best("ours"), second.over_best("numpy")) == (0.001, 0.5, None)
    assert third.over_best("ours") is None
    mean, n = report.mean_over_best("ours")
    assert mean == pytest.approx((1.5 * 0.5) ** 0.5) and n == 2
    assert report.peers == ["c", "numpy"]


def test_the_picture(bench):
    reports, chart, _ = bench
    report = reports.read(SAMPLE)
    text = chart.draw(report)
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"matmul_f32", "kalman <&>", "gat", "geometric mean", "Einlang", "C", "NumPy"} <= set(words)
    assert "1.50" in words and "0.50" in words and "–" in words
    assert "prefers-color-scheme: dark" in text
    low, high = chart.span(report)
    assert low <= 0.5 and high >= 2
    places = [chart.place(ratio, low, high) for ratio in (0.5, 1.0, 1.5, 2.0)]
    assert places == sorted(set(places)), "less is further left"
    assert chart.place(1e9, low, high) == chart.place(high, low, high)
    # Ours by name: one mark for each workload that ran, one for the mean and one in the legend.
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert titles.count("Einlang") == 4
    shapes = {shape for _, shape in chart.MARKS.values()}
    assert len(shapes) == len(chart.MARKS), "marks differ by shape"


def test_a_picture_of_nothing(bench):
    reports, chart, _ = bench
    ElementTree.fromstring(chart.draw(reports.Report([])))


def test_the_page(tmp_path):
    shutil.copy(ROOT / "docs" / "performance.md", tmp_path)
    run = [sys.executable, str(ROOT / "bench" / "table.py"), "--from", str(SAMPLE), "--docs", str(tmp_path)]
    for _ in range(2):
        done = subprocess.run(run, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert page.count("table: begin") == page.count("table: end") == 1
    lines = page.splitlines()
    assert "| matmul_f32 | 3 | 4 | 2 | 1.50 | 0.75 | 0.500 | 0.153 | 0.150 | 7/7 |" in lines
    assert "| kalman <&> | 0.5 ? | 1 | 0.5 ! | 0.50 | 0.50 | 0.010 | 0.100 | 0.100 | 3/7 |" in lines
    assert "| gat | – | 1000 | – | – | – | – | – | – | 0/0 |" in lines
    assert any(line.startswith("| geometric mean (n), to the best | 0.87 (2) |") for line in lines)
    assert "numpy 2.4.6" in page and "torch" not in page.partition("Versions")[2].partition("\n")[0]
    ElementTree.parse(tmp_path / "performance.svg")
    done = subprocess.run([*run, "--threads", "1"], capture_output=True, text=True)
    assert done.returncode == 2 and "--threads" in done.stderr


def test_memory_scaling_and_first_calls(tmp_path):
    shutil.copy(ROOT / "docs" / "performance.md", tmp_path)
    peaks = tmp_path / "peaks.json"
    peaks.write_text(json.dumps({"gat": {"ours": 3 << 20, "c": 1 << 19, "jax": "it failed"}}), encoding="utf-8")
    times = tmp_path / "scaling.json"
    times.write_text(json.dumps({"gat": {"half": 0.001, "full": 0.0021, "one thread": 0.0042}}), encoding="utf-8")
    run = [sys.executable, str(ROOT / "bench" / "table.py"), "--from", str(SAMPLE), "--docs", str(tmp_path)]
    calls = tmp_path / "first.json"
    calls.write_text(json.dumps({"gat": {"cold": [0.3, 0.1, 0.2], "warm": [0.02, 0.05, 0.01]}}), encoding="utf-8")
    given = ["--peaks", peaks, "--scaling", times, "--first", calls]
    done = subprocess.run([*run, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "performance.md").read_text(encoding="utf-8").splitlines()
    assert "| workload | Einlang | C | JAX |" in lines and "| gat | 3.0 | 0.5 | – |" in lines
    assert "| gat | 1.0 | 2.1 | 2.10 | 4.2 | 2.00 |" in lines
    assert "| gat | 100 | 200 | 10 | 20 |" in lines
    again = subprocess.run(run, capture_output=True, text=True)
    kept = (tmp_path / "performance.md").read_text(encoding="utf-8").splitlines()
    assert again.returncode == 0 and kept == lines, "what is not given stays"


def test_the_page_that_is_there_can_be_written():
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert "<!-- table: begin -->" in text and "<!-- table: end -->" in text
    ElementTree.parse(ROOT / "docs" / "performance.svg")
