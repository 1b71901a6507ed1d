"""`std::io` and `std::image` with files: what NumPy writes is read, and what is written NumPy reads.

Pictures and safetensors files are made and taken apart here, byte by byte, from their definitions.
"""

import io
import json
import struct
import zlib

import numpy as np

from values import FLOATS, SHAPES, generator, integers, uniform

KINDS = (np.float32, np.float64, np.int32, np.int64, np.uint8, np.int8, np.uint32, np.bool_)
NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool",
         "uint8": "u8", "int8": "i8", "uint32": "u32"}
TENSOR_NAMES = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "bool": "BOOL",
                "uint8": "U8", "int8": "I8", "uint32": "U32"}


def values(name, shape, dtype):
    if dtype == np.bool_:
        return np.asarray(generator(name).integers(0, 2, shape)).astype(dtype)
    if np.dtype(dtype).kind in "iu":
        return integers(name, shape, 0, 100, dtype)
    return uniform(name, shape, dtype)


def kind(x):
    """The type of an array in the language."""
    extents = "".join(f"{', ' if k else '; '}{n}" for k, n in enumerate(x.shape))
    return f"[{NAMES[str(x.dtype)]}{extents}]" if x.ndim else NAMES[str(x.dtype)]


def npy(x):
    out = io.BytesIO()
    np.lib.format.write_array(out, x)
    return out.getvalue()


def npz(arrays, save=np.savez):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def safetensors(arrays):
    header, data = {"__metadata__": {"made": "by hand"}}, b""
    for name, x in arrays.items():
        span = [len(data), len(data) + x.nbytes]
        header[name] = {"dtype": TENSOR_NAMES[str(x.dtype)], "shape": list(x.shape), "data_offsets": span}
        data += np.ascontiguousarray(x).tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(data, name):
    n = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8: 8 + n])[name]
    dtype = next(np.dtype(k) for k, v in TENSOR_NAMES.items() if v == entry["dtype"])
    start, end = entry["data_offsets"]
    return np.frombuffer(data[8 + n + start: 8 + n + end], dtype).reshape(entry["shape"])


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(x, filters=(0,)):
    """A picture of bytes; every row is stored with one of the five filters in turn."""
    height, width, channels = x.shape
    rows, above = [], np.zeros(width * channels, np.int64)
    for y in range(height):
        row = x[y].reshape(-1).astype(np.int64)
        left = np.concatenate([np.zeros(channels, np.int64), row[:-channels]])
        corner = np.concatenate([np.zeros(channels, np.int64), above[:-channels]])
        guess = left + above - corner
        distance = [np.abs(guess - near) for near in (left, above, corner)]
        paeth = np.where((distance[0] <= distance[1]) & (distance[0] <= distance[2]), left,
                         np.where(distance[1] <= distance[2], above, corner))
        filter_type = filters[y % len(filters)]
        expected = (np.zeros_like(row), left, above, (left + above) // 2, paeth)[filter_type]
        rows.append(bytes([filter_type]) + ((row - expected) % 256).astype(np.uint8).tobytes())
        above = row
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    body = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def read_png(data):
    """A picture that was stored with filters, taken apart row by row."""
    at, body, head = 8, b"", None
    while at < len(data):
        length, name = struct.unpack(">I", data[at: at + 4])[0], data[at + 4: at + 8]
        content = data[at + 8: at + 8 + length]
        head = content if name == b"IHDR" else head
        body += content if name == b"IDAT" else b""
        at += 12 + length
    width, height, depth, color = struct.unpack(">IIBB", head[:10])
    assert depth == 8
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[color]
    raw, stride = zlib.decompress(body), width * channels
    out = np.zeros((height, stride), np.int64)
    for y in range(height):
        line = raw[y * (stride + 1): (y + 1) * (stride + 1)]
        for k in range(stride):
            left = out[y, k - channels] if k >= channels else 0
            up = out[y - 1, k] if y else 0
            corner = out[y - 1, k - channels] if y and k >= channels else 0
            near = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            out[y, k] = (line[1 + k] + (0, left, up, (left + up) // 2, near)[line[0]]) % 256
    return out.astype(np.uint8).reshape(height, width, channels)


def add_tensors(suite):
    for dtype in KINDS:
        for shape in (*SHAPES, (2, 0, 3)):
            x = values("file", shape, dtype)
            swapped = np.array(x.astype(x.dtype.newbyteorder(">")), order="F")
            for bytes_, name in ((npy(x), "plain"), (npy(swapped), "swapped")):
                suite.loads("io::load_npy", f"{name}.npy", bytes_, f"std::io::load_npy({{}}) as {kind(x)}", x)
            y = values("other", (3,), dtype)
            for save in (np.savez, np.savez_compressed):
                suite.loads("io::load_npz", "x.npz", npz({"x": x, "y": y}, save),
                            f'std::io::load_npz({{}}, "x") as {kind(x)}', x)
            suite.loads("io::load_safetensors", "x.safetensors", safetensors({"y": y, "a.x": x}),
                        f'std::io::load_safetensors({{}}, "a.x") as {kind(x)}', x)
            suite.saves("io::save_npy", "x.npy", "std::io::save_npy({file}, {0})", x,
                        lambda data: np.load(io.BytesIO(data)), x)
            suite.saves("io::save_npz", "x.npz", 'std::io::save_npz({file}, ["x", "y"], ({0}, [1, 2]))', x,
                        lambda data: np.load(io.BytesIO(data))["x"], x)
            suite.saves("io::save_safetensors", "x.safetensors",
                        'std::io::save_safetensors({file}, ["x"], ({0},))', x,
                        lambda data: read_safetensors(data, "x"), x)
    # Elements are converted to the type of the cast.
    x = np.array([1.75, -2.5, 3e9, np.nan])
    suite.loads("io::load_npy", "x.npy", npy(x), "std::io::load_npy({}) as [i32; 4]",
                np.array([1, -2, 2147483647, 0], np.int32))
    suite.loads("io::load_npy", "x.npy", npy(x), "std::io::load_npy({}) as [f32; N]", x.astype(np.float32))


def add_tables(suite):
    for dtype in FLOATS:
        for shape in ((1, 1), (3, 2), (1, 4), (4, 1)):
            x = uniform("table", shape, dtype)
            x[0, 0] = np.inf
            plain = "\n".join(",".join(repr(float(v)) for v in row) for row in x) + "\n"
            heading = ",".join(f"c{k}" for k in range(shape[1])) + "\n"
            for text in (plain, heading + plain, (heading + plain).replace("\n", "\r\n")):
                suite.loads("io::load_csv", "t.csv", text.encode(), f"std::io::load_csv({{}}) as {kind(x)}", x)
    for dtype in (np.float32, np.float64, np.int32):
        for shape in ((1, 1), (2, 3), (3, 1)):
            x = values("columns", shape, dtype)
            names = ", ".join(f'"c{k}"' for k in range(shape[0]))
            suite.saves("io::save_csv", "t.csv", f"std::io::save_csv({{file}}, [{names}], {{0}})", x,
                        lambda data, dtype=dtype: np.loadtxt(io.BytesIO(data), dtype, delimiter=",", skiprows=1,
                                                             ndmin=2).T, x)


def add_texts(suite):
    for text in ("", "one\n", "zwölf \u20ac \U0001f600\n\ttab", "a\r\nb"):
        suite.loads("io::read_text", "t.txt", text.encode(), "std::io::read_text({})", text)
        quoted = json.dumps(text, ensure_ascii=False).replace("\\r", "\\u{d}")
        suite.saves("io::write_text", "t.txt", f"std::io::write_text({{file}}, {quoted})", None,
                    lambda data: np.asarray(data.decode()), np.asarray(text))
    suite.loads("io::exists", "t.txt", b"", "std::io::exists({})", np.bool_(True))
    suite.loads("io::list_dir", "only/t.txt", b"", "std::io::list_dir({folder})", np.array(["t.txt"]))


def add_pictures(suite):
    for shape in ((1, 1, 1), (2, 3, 1), (5, 4, 2), (3, 2, 3), (6, 5, 4), (1, 7, 3)):
        x = integers("picture", shape, 0, 256, np.uint8)
        for filters in ((0,), (1, 2), (3, 4), (0, 1, 2, 3, 4)):
            suite.loads("image::load_png", "p.png", png(x, filters), f"std::image::load_png({{}}) as {kind(x)}", x)
        suite.saves("image::save_png", "p.png", "std::image::save_png({file}, {0})", x, read_png, x)
        grey = x[..., 0]
        size = f"{shape[1]} {shape[0]}"
        raw = f"P5\n# made by hand\n{size}\n255\n".encode() + grey.tobytes()
        plain = f"P2 {size} 255\n" + "\n".join(" ".join(map(str, row)) for row in grey) + "\n"
        deep = f"P5 {size} 65535\n".encode() + (grey.astype(">u2") * 257).tobytes()
        for data in (raw, plain.encode(), deep):
            suite.loads("image::load_pgm", "p.pgm", data, f"std::image::load_pgm({{}}) as {kind(grey)}", grey)
        suite.saves("image::save_pgm", "p.pgm", "std::image::save_pgm({file}, {0})", grey,
                    lambda data, shape=shape: np.frombuffer(data[-shape[0] * shape[1]:], np.uint8).reshape(shape[:2]),
                    grey)


def add(suite):
    add_tensors(suite)
    add_tables(suite)
    add_texts(suite)
    add_pictures(suite)
