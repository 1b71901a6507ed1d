"""`std::text`, and what `std::io`, `std::image` and `std::testing` do without files."""

import json

import numpy as np

from values import FLOATS, uniform

STRINGS = ["", "a", "einlang", "a,b,,c", "  a b\n", "straße", "ÉTÉ x", "aaa", "-", "one two  three"]


def quoted(s):
    return json.dumps(s, ensure_ascii=False).replace("{", "{{").replace("}", "}}")


def add_text(suite):
    for s in STRINGS:
        q = quoted(s)
        suite.text("text::chars", f"std::text::chars({q})", np.array([ord(c) for c in s], np.int32))
        suite.text("text::from_chars", f"std::text::from_chars(std::text::chars({q}))", s)
        suite.text("text::upper", f"std::text::upper({q})", s.upper())
        suite.text("text::lower", f"std::text::lower({q})", s.lower())
        suite.text("text::trim", f"std::text::trim({q})", s.strip())
        for part in ("", "a", "aa", ",", "lang"):
            p = quoted(part)
            suite.text("text::contains", f"std::text::contains({q}, {p})", np.bool_(part in s))
            suite.text("text::starts_with", f"std::text::starts_with({q}, {p})", np.bool_(s.startswith(part)))
            suite.text("text::ends_with", f"std::text::ends_with({q}, {p})", np.bool_(s.endswith(part)))
            if part:
                suite.text("text::split", f"std::text::join(std::text::split({q}, {p}), \"|\")", "|".join(s.split(part)))
                suite.text("text::replace", f"std::text::replace({q}, {p}, \"<>\")", s.replace(part, "<>"))
    for parts in (["a"], ["a", "b", "c"], ["", ""]):
        suite.text("text::join", f"std::text::join([{', '.join(map(quoted, parts))}], \", \")", ", ".join(parts))
    for n in (0, -7, 42, 2147483647, -2147483648):
        suite.text("text::parse_int", f'std::text::parse_int("{n}")', np.int32(n))
    for n in (0, -9000000000, 2**62):
        suite.text("text::parse_i64", f'std::text::parse_i64("{n}")', np.int64(n))
    for x in ("0.5", "-2.5e-3", "1e30", "inf", "NaN", "7"):
        suite.text("text::parse_f64", f'std::text::parse_f64("{x}")', np.float64(x))
        suite.text("text::parse_float", f'std::text::parse_float("{x}")', np.float32(x))
    for value, shown in (("[1, 2]", "[1, 2]"), ("1.0", "1.0"), ("true", "true"), ("(1, 2.5)", "(1, 2.5)"), ('"x"', "x")):
        suite.text("text::format", f"std::text::format({value})", shown)


def add_image(suite):
    for dtype in FLOATS:
        for shape in ((6,), (0,), (2, 3), (2, 1, 3)):
            x = uniform("bytes", shape, dtype, -0.5, 1.5)
            want = np.floor(np.clip(x, 0, 1).astype(np.float64) * 255 + 0.5).astype(np.uint8)
            suite.call("image::to_bytes", x, want=want)
        x = uniform("map", (3, 4), dtype, -0.2, 1.2)
        grey = np.floor(np.clip(x, 0, 1).astype(np.float32) * np.float32(255) + np.float32(0.5)).astype(np.uint8)
        suite.call("image::colormap", x, "grey", want=np.repeat(grey[..., None], 3, -1))
        for name, first, last in (("heat", (0, 0, 0), (255, 255, 255)), ("viridis", (68, 1, 84), (253, 231, 37)),
                                  ("coolwarm", (59, 76, 192), (180, 4, 38))):
            ends = np.array([[0.0, 1.0], [-3.0, 9.0]], dtype)
            suite.call("image::colormap", ends, name, want=np.array([[first, last]] * 2, np.uint8))


def add_rest(suite):
    for folder, name, want in (("data", "x.npy", "data/x.npy"), ("data/", "x", "data/x"), ("", "x", "x"), ("a", "/b", "/b")):
        suite.text("io::join_path", f'std::io::join_path("{folder}", "{name}")', want)
    suite.text("io::exists", 'std::io::exists("no such file")', np.bool_(False))
    # What agrees passes; what does not stops the program, which `try` turns into a value.
    for call, holds in (("assert_close([1.0, 2.0], [1.0, 2.000001])", True), ("assert_close([1.0], [1.1])", False),
                        ("assert_close(0.0 / 0.0, 0.0 / 0.0)", False), ("assert_close(1.0, 1.1, rtol = 0.2)", True),
                        ("assert_equal([1, 2], [1, 2])", True), ("assert_equal(1, 2)", False)):
        name = call.split("(")[0]
        text = f"match (try {{ std::testing::{call}; 1 }}) {{ Ok(n) => true, Err(e) => false }}"
        suite.text(f"testing::{name}", text, np.bool_(holds))


def add(suite):
    add_text(suite)
    add_image(suite)
    add_rest(suite)
