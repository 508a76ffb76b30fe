"""Fits the polynomials of the kernels' exp, tanh and normal distribution.

Prints each with its error.

Method: Remez exchange on the relative error, in 60 digits, then rounding of each coefficient to
float.
Needs mpmath 1.3. Usage: python3 tools/fit_kernels.py
SPDX-License-Identifier: MIT
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60


def remez(value, basis, weight, lo, hi, rounds=12):
    """c with sum c[i] basis(i, x) ~ value(x) on [lo, hi], the largest |error| weight(x) least."""
    n, term = basis["n"], basis["term"]
    points = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * i / n) for i in range(n + 1)]
    grid = [lo + (hi - lo) * mp.mpf(i) / 4000 for i in range(4001)]
    for _ in range(rounds):
        a = mp.matrix(n + 1, n + 1)
        b = mp.matrix(n + 1, 1)
        for i, x in enumerate(points):
            for j in range(n):
                a[i, j] = term(j, x)
            a[i, n] = (-1) ** i / weight(x)
            b[i] = value(x)
        c = mp.lu_solve(a, b)
        error = [(value(x) - sum(c[j] * term(j, x) for j in range(n))) * weight(x) for x in grid]
        points, run = [], 0
        while run < len(grid):  # the largest error of each run of one sign
            end = run
            while end < len(grid) and (error[end] > 0) == (error[run] > 0):
                end += 1
            points.append(grid[max(range(run, end), key=lambda i: abs(error[i]))])
            run = end
        points = points[: n + 1]
        if len(points) < n + 1:
            break
    return [c[j] for j in range(n)], max(abs(e) for e in error)


def show(title, coefficients, error):
    print(f"{title}: error of the exact polynomial {mp.nstr(error * 2**24, 3)} u")
    for c in coefficients:
        print(f"    {float(np.float32(float(c))).hex()}f  {mp.nstr(c, 10)}")


def fit_exp():
    """e^r = 1 + r + r^2 P(r) for |r| <= ln(2)/2."""
    half = mp.log(2) / 2 * mp.mpf("1.001")
    value = lambda r: (mp.exp(r) - 1 - r) / r**2 if abs(r) > 1e-12 else mp.mpf(1) / 2
    basis = {"n": 5, "term": lambda j, r: r**j}
    weight = lambda r: r**2 / mp.exp(r) + mp.mpf(10) ** -9
    c, e = remez(value, basis, weight, -half, half)
    show("exp: P, from the constant up", c, e)
    ln2 = mp.log(2)
    high = mp.floor(ln2 * 2**14) / 2**14  # few bits, so that n * high is exact
    print("    ln 2 =", float(high).hex(), "+", float(np.float32(float(ln2 - high))).hex())


def fit_tanh(terms, end):
    """tanh x = x + x^3 P(x^2) for |x| < end, with z = x^2."""
    def value(z):
        x = mp.sqrt(z)
        return (mp.tanh(x) / x - 1) / z if z > 1e-12 else -mp.mpf(1) / 3
    basis = {"n": terms, "term": lambda j, z: z**j}
    weight = lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)) if z > 1e-12 else mp.mpf(10) ** -9
    return remez(value, basis, weight, mp.mpf(0), mp.mpf(end) ** 2)


def fit_tail(terms, p):
    """P(X > x) = exp(-x^2/2) t T(t), t = 1/(1 + p x), x >= 0."""
    def value(t):
        x = (1 / t - 1) / p
        return mp.erfc(x / mp.sqrt(2)) / 2 * mp.exp(x * x / 2) / t
    basis = {"n": terms, "term": lambda j, t: t**j}
    return remez(value, basis, lambda t: 1 / value(t), 1 / (1 + 14 * mp.mpf(p)), mp.mpf(1))


if __name__ == "__main__":
    fit_exp()
    show("tanh: P, from the constant up", *fit_tanh(5, mp.mpf("0.625")))
    show("tail: T, from the constant up, p = 0.35", *fit_tail(9, mp.mpf("0.35")))
