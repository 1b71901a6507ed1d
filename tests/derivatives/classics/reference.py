"""Programs of the literature on automatic differentiation, at small size, and their derivatives.

Writes NAME.ein and NAME.json beside itself. The derivatives come from the formulas below, written
again in Python and evaluated with complex steps: f(x + ih) has the imaginary part h f'(x) to within
rounding, without any difference. Nothing but Python is needed.

    python3 tests/derivatives/classics/reference.py
"""

import cmath
import json
import math
import pathlib
import random

STEP = 1e-30
HERE = pathlib.Path(__file__).parent
numbers = random.Random(20)


def draw(*shape):
    """Numbers between -1 and 1 in nested lists."""
    if not shape:
        return round(numbers.uniform(-1.0, 1.0), 3)
    return [draw(*shape[1:]) for _ in range(shape[0])]


def flat(value):
    """The numbers of nested lists, in order."""
    if isinstance(value, list):
        return [number for part in value for number in flat(part)]
    return [value]


def moved(value, at, step):
    """Nested lists with one number moved."""
    counter = iter(range(10**9))

    def go(part):
        if isinstance(part, list):
            return [go(inner) for inner in part]
        return part + step if next(counter) == at else part

    return go(value)


def jacobian(function, args, which):
    """The derivatives of all results by all numbers of one argument, results first."""
    columns = []
    for at in range(len(flat(args[which]))):
        changed = dict(args)
        changed[which] = moved(args[which], at, 1j * STEP)
        columns.append([complex(y).imag / STEP for y in flat(function(**changed))])
    return [list(row) for row in zip(*columns)]


def logsumexp(terms):
    top = max(terms, key=lambda term: term.real if isinstance(term, complex) else term)
    return top + cmath.log(sum(cmath.exp(term - top) for term in terms))


def sigmoid(x):
    return 1.0 / (1.0 + cmath.exp(-x))


# A Gaussian mixture with a Wishart prior.


def gmm(alpha, mu, q, l, x):
    n, k_all, d_all = len(x), len(alpha), len(x[0])
    total = 0.0
    for point in x:
        terms = []
        for k in range(k_all):
            away = [point[d] - mu[k][d] for d in range(d_all)]
            size = 0.0
            for d in range(d_all):
                own = cmath.exp(q[k][d]) * away[d]
                own += sum(l[k][d][e] * away[e] for e in range(d))
                size += own * own
            terms.append(alpha[k] + sum(q[k]) - 0.5 * size)
        total += logsumexp(terms)
    total -= n * logsumexp(alpha)
    for k in range(k_all):
        total -= 0.5 * sum(cmath.exp(2.0 * v) for v in q[k]) - 2.0 * sum(q[k])
        total -= 0.5 * sum(l[k][d][e] ** 2 for d in range(d_all) for e in range(d))
    return [total]


GMM = """
let away[i, k, d] = x[i, d] - mu[k, d];
let whitened[i, k, d] = exp(q[k, d]) * away[i, k, d] + sum[e in 0..d](l[k, d, e] * away[i, k, e]);
let term[i, k] = alpha[k] + sum[d](q[k, d]) - 0.5 * sum[d](whitened[i, k, d] ** 2);
let top[i] = max[k](term[i, k]);
let point[i] = top[i] + log(sum[k](exp(term[i, k] - top[i])));
let above = max[k](alpha[k]);
let weights = above + log(sum[k](exp(alpha[k] - above)));
let prior = sum[k, d](0.5 * exp(2.0 * q[k, d]) - 2.0 * q[k, d])
    + sum[k, d](sum[e in 0..d](0.5 * l[k, d, e] ** 2));
let objective = sum[i](point[i]) - len(x) as f64 * weights - prior;
let by_alpha = @objective / @alpha;
let by_mu = @objective / @mu;
let by_q = @objective / @q;
let by_l = @objective / @l;
"""


# Bundle adjustment: cameras, points and weights, each observation by its own few parameters.


def rotated(r, x):
    angle2 = sum(v * v for v in r)
    angle = cmath.sqrt(angle2)
    cos, sin = cmath.cos(angle), cmath.sin(angle)
    axis = [v / angle for v in r]
    cross = [
        axis[1] * x[2] - axis[2] * x[1],
        axis[2] * x[0] - axis[0] * x[2],
        axis[0] * x[1] - axis[1] * x[0],
    ]
    along = sum(a * b for a, b in zip(axis, x)) * (1.0 - cos)
    return [x[c] * cos + cross[c] * sin + axis[c] * along for c in range(3)]


def bundle(cameras, points, w, camera_of, point_of, seen):
    errors, weights = [], []
    for p, (c, o) in enumerate(zip(camera_of, point_of)):
        camera, point = cameras[c], points[o]
        r, centre = camera[0:3], camera[3:6]
        y = rotated(r, [point[a] - centre[a] for a in range(3)])
        u, v = y[0] / y[2], y[1] / y[2]
        s = u * u + v * v
        distortion = 1.0 + camera[9] * s + camera[10] * s * s
        projected = [
            u * distortion * camera[6] + camera[7],
            v * distortion * camera[6] + camera[8],
        ]
        errors.append([w[p] * (projected[a] - seen[p][a]) for a in range(2)])
        weights.append(1.0 - w[p] ** 2)
    return errors + [weights]


BUNDLE = """
let r[p, a in 0..3] = cameras[camera_of[p], a];
let d[p, a in 0..3] = points[point_of[p], a] - cameras[camera_of[p], a + 3];
let angle[p] = sqrt(sum[a in 0..3](r[p, a] ** 2));
let axis[p, a] = r[p, a] / angle[p];
let cross[p, a in 0..3] = axis[p, (a + 1) % 3] * d[p, (a + 2) % 3] - axis[p, (a + 2) % 3] * d[p, (a + 1) % 3];
let along[p] = sum[a](axis[p, a] * d[p, a]) * (1.0 - cos(angle[p]));
let y[p, a] = d[p, a] * cos(angle[p]) + cross[p, a] * sin(angle[p]) + axis[p, a] * along[p];
let image[p, a in 0..2] = y[p, a] / y[p, 2];
let s[p] = image[p, 0] ** 2 + image[p, 1] ** 2;
let distortion[p] =
    1.0 + cameras[camera_of[p], 9] * s[p] + cameras[camera_of[p], 10] * s[p] ** 2;
let projected[p, a] =
    image[p, a] * distortion[p] * cameras[camera_of[p], 6] + cameras[camera_of[p], a + 7];
let error[p, a] = w[p] * (projected[p, a] - seen[p, a]);
let constraint[p] = 1.0 - w[p] ** 2;
// The Jacobian is sparse: each error follows one camera, one point and one weight.
let by_camera[p, a, j in 0..11] = @error[p, a] / @cameras[camera_of[p], j];
let by_point[p, a, j in 0..3] = @error[p, a] / @points[point_of[p], j];
let by_weight[p, a] = @error[p, a] / @w[p];
let weight_by_weight[p] = @constraint[p] / @w[p];
"""


# An LSTM of two layers that predicts the next character.


def lstm(gates, output, x):
    n_layers, width = len(gates), len(x[0])
    h = [[0.0] * width for _ in range(n_layers)]
    c = [[0.0] * width for _ in range(n_layers)]
    total, n = 0.0, 0
    for t in range(len(x) - 1):
        below = x[t]
        for layer in range(n_layers):
            weight = gates[layer]
            new_h, new_c = [], []
            for j in range(width):
                forget = sigmoid(below[j] * weight[0][j] + weight[1][j])
                take = sigmoid(h[layer][j] * weight[2][j] + weight[3][j])
                give = sigmoid(below[j] * weight[4][j] + weight[5][j])
                change = cmath.tanh(h[layer][j] * weight[6][j] + weight[7][j])
                new_c.append(c[layer][j] * forget + take * change)
                new_h.append(give * cmath.tanh(new_c[j]))
            h[layer], c[layer] = new_h, new_c
            below = new_h
        z = [below[j] * output[0][j] + output[1][j] for j in range(width)]
        norm = cmath.log(sum(cmath.exp(v) for v in z) + 2.0)
        total += sum(x[t + 1][j] * (z[j] - norm) for j in range(width))
        n += width
    return [-total / n]


LSTM = """
fn sigmoid(x: f64) -> f64 { 1.0 / (1.0 + exp(-x)) }
let T = len(x);
let h[0, l in 0..2, j in 0..len(x[0])] = 0.0;
let c[0, l in 0..2, j in 0..len(x[0])] = 0.0;
let below[t in 1..T, 0, j in 0..len(x[0])] = x[t - 1, j];
let below[t in 1..T, 1, j in 0..len(x[0])] = h[t, 0, j];
let c[t in 1..T, l in 0..2, j in 0..len(x[0])] = {
    let forget = sigmoid(below[t, l, j] * gates[l, 0, j] + gates[l, 1, j]);
    let take = sigmoid(h[t - 1, l, j] * gates[l, 2, j] + gates[l, 3, j]);
    let change = tanh(h[t - 1, l, j] * gates[l, 6, j] + gates[l, 7, j]);
    c[t - 1, l, j] * forget + take * change
};
let h[t in 1..T, l in 0..2, j in 0..len(x[0])] =
    sigmoid(below[t, l, j] * gates[l, 4, j] + gates[l, 5, j]) * tanh(c[t, l, j]);
let z[t in 1..T, j] = h[t, 1, j] * output[0, j] + output[1, j];
let norm[t in 1..T] = log(sum[j](exp(z[t, j])) + 2.0);
let terms = sum[t in 1..T, j](x[t, j] * (z[t, j] - norm[t]));
let objective = -terms / ((T - 1) * len(x[0])) as f64;
let by_gates = @objective / @gates;
let by_output = @objective / @output;
"""


# Tracking a hand: a chain of bones, a skin that follows them, and measured points.


def hand(theta, u, base, bone_of_weight, target, corner):
    n_bones = len(theta)
    turn, place = [], []
    for b in range(n_bones):
        ca, sa = cmath.cos(theta[b][0]), cmath.sin(theta[b][0])
        cb, sb = cmath.cos(theta[b][1]), cmath.sin(theta[b][1])
        own = [[ca * cb, -sa, ca * sb], [sa * cb, ca, sa * sb], [-sb, 0.0, cb]]
        if b == 0:
            turn.append(own)
            place.append([theta[b][2], 0.0, 0.0])
        else:
            turn.append(
                [
                    [sum(turn[b - 1][i][k] * own[k][j] for k in range(3)) for j in range(3)]
                    for i in range(3)
                ]
            )
            place.append(
                [place[b - 1][i] + turn[b - 1][i][0] * (1.0 + theta[b][2]) for i in range(3)]
            )

    def skin(v):
        point = [0.0, 0.0, 0.0]
        for b in range(n_bones):
            for i in range(3):
                own = sum(turn[b][i][j] * base[v][j] for j in range(3)) + place[b][i]
                point[i] += bone_of_weight[v][b] * own
        return point

    errors = []
    for p in range(len(target)):
        a, b, c = (skin(v) for v in corner[p])
        rest = 1.0 - u[p][0] - u[p][1]
        errors.append(
            [target[p][i] - (u[p][0] * a[i] + u[p][1] * b[i] + rest * c[i]) for i in range(3)]
        )
    return errors


HAND = """
let own[b, i in 0..3, j in 0..3] = {
    let (ca, sa) = (cos(theta[b, 0]), sin(theta[b, 0]));
    let (cb, sb) = (cos(theta[b, 1]), sin(theta[b, 1]));
    match (i, j) {
        (0, 0) => ca * cb, (0, 1) => -sa, (0, 2) => ca * sb,
        (1, 0) => sa * cb, (1, 1) => ca, (1, 2) => sa * sb,
        (2, 0) => -sb, (2, 1) => 0.0, _ => cb,
    }
};
let B = len(theta);
let turn[0, i in 0..3, j in 0..3] = own[0, i, j];
let turn[b in 1..B, i in 0..3, j in 0..3] = sum[k in 0..3](turn[b - 1, i, k] * own[b, k, j]);
let place[0, i in 0..3] = if i == 0 { theta[0, 2] } else { 0.0 };
let place[b in 1..B, i in 0..3] = place[b - 1, i] + turn[b - 1, i, 0] * (1.0 + theta[b, 2]);
let skin[v, i in 0..3] =
    sum[b](bone_of_weight[v, b] * (sum[j in 0..3](turn[b, i, j] * base[v, j]) + place[b, i]));
let error[p, i in 0..3] = target[p, i] - (u[p, 0] * skin[corner[p, 0], i]
    + u[p, 1] * skin[corner[p, 1], i] + (1.0 - u[p, 0] - u[p, 1]) * skin[corner[p, 2], i]);
let by_theta = @error / @theta;
// Each error follows its own place on the skin only.
let by_u[p, i, k in 0..2] = @error[p, i] / @u[p, k];
"""


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(literal(part) for part in value) + "]"
    return repr(value)


def typed(value):
    shape, inner = [], value
    while isinstance(inner, list):
        shape.append(str(len(inner)))
        inner = inner[0]
    kind = "i32" if isinstance(inner, int) else "f64"
    return f"[{kind}; {', '.join(shape)}]"


def write(name, about, args, text, outputs):
    head = f"// {about}\n// Written by reference.py, which also computed what is in {name}.json.\n"
    data = "".join(f"let {key}: {typed(value)} = {literal(value)};\n" for key, value in args.items())
    (HERE / f"{name}.ein").write_text(head + data + text.lstrip("\n"))
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in outputs.items())
    (HERE / f"{name}.json").write_text("{\n" + rows + "\n}\n")


def main():
    k, d = 3, 3
    args = {
        "alpha": draw(k),
        "mu": draw(k, d),
        "q": draw(k, d),
        "l": [[[draw() if e < r else 0.0 for e in range(d)] for r in range(d)] for _ in range(k)],
        "x": draw(6, d),
    }
    outputs = {"objective": [flat(gmm(**args))[0].real]}
    for which in ("alpha", "mu", "q", "l"):
        outputs[f"by_{which}"] = jacobian(gmm, args, which)[0]
    write("gmm", "A Gaussian mixture with a Wishart prior.", args, GMM, outputs)

    n_cameras, n_points = 2, 4
    pairs = [(c, o) for c in range(n_cameras) for o in range(n_points)][:7]
    cameras = [
        [draw(), draw(), draw(), draw(), draw(), -6.0 + draw(), 1.5 + draw() / 4, draw(), draw()]
        + [draw() / 10, draw() / 20]
        for _ in range(n_cameras)
    ]
    args = {
        "cameras": cameras,
        "points": draw(n_points, 3),
        "w": [1.0 + draw() / 2 for _ in pairs],
        "camera_of": [c for c, _ in pairs],
        "point_of": [o for _, o in pairs],
        "seen": draw(len(pairs), 2),
    }
    value = flat(bundle(**args))
    n = len(pairs)
    full = {which: jacobian(bundle, args, which) for which in ("cameras", "points", "w")}
    row = lambda p, a: 2 * p + a
    outputs = {
        "error": [complex(v).real for v in value[: 2 * n]],
        "by_camera": [
            full["cameras"][row(p, a)][11 * pairs[p][0] + j]
            for p in range(n) for a in range(2) for j in range(11)
        ],
        "by_point": [
            full["points"][row(p, a)][3 * pairs[p][1] + j]
            for p in range(n) for a in range(2) for j in range(3)
        ],
        "by_weight": [full["w"][row(p, a)][p] for p in range(n) for a in range(2)],
        "weight_by_weight": [full["w"][2 * n + p][p] for p in range(n)],
    }
    about = "Bundle adjustment: a sparse Jacobian, a few entries for each observation."
    write("bundle", about, args, BUNDLE, outputs)

    args = {"gates": draw(2, 8, 3), "output": draw(2, 3), "x": draw(5, 3)}
    outputs = {"objective": [flat(lstm(**args))[0].real]}
    for which in ("gates", "output"):
        outputs[f"by_{which}"] = jacobian(lstm, args, which)[0]
    write("lstm", "An LSTM of two layers that predicts what comes next.", args, LSTM, outputs)

    weights = [[abs(v) + 0.1 for v in row] for row in draw(5, 3)]
    args = {
        "theta": draw(3, 3),
        "u": draw(4, 2),
        "base": draw(5, 3),
        "bone_of_weight": [[round(v / sum(row), 6) for v in row] for row in weights],
        "target": draw(4, 3),
        "corner": [[0, 1, 2], [1, 2, 3], [2, 3, 4], [4, 0, 1]],
    }
    by_u = jacobian(hand, args, "u")
    outputs = {
        "error": [complex(v).real for v in flat(hand(**args))],
        "by_theta": flat(jacobian(hand, args, "theta")),
        "by_u": [by_u[3 * p + i][2 * p + k] for p in range(4) for i in range(3) for k in range(2)],
    }
    about = "Tracking a hand: bones, a skin that follows them, measured points."
    write("hand", about, args, HAND, outputs)


main()
