"""Fits a line by gradient descent: the loss is Einlang, the loop is Python."""

import numpy as np
import numpy.typing as npt

import einlang

Floats = npt.NDArray[np.float64]

MODEL = einlang.loads(
    """
    /// The mean squared error of a linear model.
    pub fn loss(w: [f64; K], x: [f64; N, K], y: [f64; N]) -> f64 {
        let e[i] = sum[k](x[i, k] * w[k]) - y[i];
        sum[i](e[i] ** 2) / (N as f64)
    }
    """
)


def fit(x: Floats, y: Floats, steps: int = 500, rate: float = 0.1) -> Floats:
    """The weights after some steps."""
    step = einlang.value_and_grad(MODEL.loss, wrt="w")
    w: Floats = np.zeros(x.shape[1])
    for _ in range(steps):
        _, slope = step(w, x, y)
        w = w - rate * slope
    return w


def main() -> None:
    """Finds the weights that made the data."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    w = fit(x, x @ np.array([2.0, -1.0]))
    print("weights:", np.round(w, 3))


if __name__ == "__main__":
    main()
