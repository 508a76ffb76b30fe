#!/usr/bin/env python3
"""Two translations of one test set compared: BLEU and chrF by sacreBLEU, and paired bootstrap.

  python bench/quality/compare.py --references REF.txt --baseline TWIN.txt --system HEED.txt [--lc]

Prints each score with its signature, its 95 % interval, and p. The exit status is 1 where the
system loses to the baseline at p < 0.05.
Needs: bench/requirements.txt
SPDX-License-Identifier: MIT
"""
import argparse
import sys

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest


def read(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        return f.read().removesuffix("\n").split("\n")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("references", "baseline", "system"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--lc", action="store_true", help="without regard to case")
    parser.add_argument("--samples", type=int, default=1000)
    return parser.parse_args()


def main():
    args = parse()
    references, baseline, system = map(read, (args.references, args.baseline, args.system))
    counts = len(references), len(baseline), len(system)
    if len(set(counts)) != 1:
        raise SystemExit("references, baseline and system have %d, %d and %d lines" % counts)
    metrics = {
        "BLEU": BLEU(lowercase=args.lc, references=[references]),
        "chrF": CHRF(lowercase=args.lc, references=[references]),
    }
    named = [("baseline", baseline), ("system", system)]
    test = PairedTest(named, metrics, references=None, test_type="bs", n_samples=args.samples)
    signatures, scores = test()
    lost = False
    for metric in signatures:
        for name, result in zip(scores["System"], scores[metric]):
            p = "" if result.p_value is None else f"  p = {result.p_value:.4f}"
            spread = f"({result.mean:.2f} ± {result.ci:.2f})"
            print(f"{metric:5} {name:9} {result.score:6.2f} {spread}{p}")
        first, second = scores[metric]
        lost = lost or (second.score < first.score and second.p_value < 0.05)
        print(f"      {signatures[metric].format(short=False)}")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
