"""A pendulum as a recurrence: only the last two states are kept, and the period is read off in Python."""

import numpy as np

import einlang

PENDULUM = einlang.loads(
    """
    struct State { angle: f64, speed: f64 }

    /// The angle of a pendulum at every step, by the symplectic Euler method.
    pub fn swing(angle: f64, dt: f64, n: i64) -> [f64; ?] {
        let s[0] = State { angle: angle, speed: 0.0 };
        let s[t in 1..n] = {
            let speed = s[t - 1].speed - dt * sin(s[t - 1].angle);
            State { angle: s[t - 1].angle + dt * speed, speed: speed }
        };
        let a[t in 0..n] = s[t].angle;
        a
    }
    """
)


def period(angle: float, dt: float = 1e-3) -> float:
    """The period of a swing that begins at an angle, in units of sqrt(length / gravity)."""
    path = PENDULUM.swing(angle, dt, 20_000)
    downward = np.flatnonzero((path[:-1] > 0) & (path[1:] <= 0))
    return float(downward[1] - downward[0]) * dt


def main() -> None:
    """Larger swings take longer."""
    for degrees in (5, 60, 120):
        print(f"{degrees:3d} degrees: {period(np.radians(degrees)):.3f}")


if __name__ == "__main__":
    main()
