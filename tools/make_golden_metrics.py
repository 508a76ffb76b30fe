"""Writes tests/golden/metrics/metrics.json: what sacreBLEU says about texts that are hard to cut.

Needs: sacrebleu==2.6.0 regex==2026.11.19 numpy==2.4.6
SPDX-License-Identifier: MIT
"""
import itertools
import json
import logging
import pathlib
import random

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/metrics/metrics.json"

# Reference, then what a system might have said.
PAIRS = [
    ("A man in a blue shirt is standing on a ladder cleaning a window.",
     "A man in a blue shirt stands on a ladder and cleans a window."),
    ("Two men, both wearing hats, sit at a table.",
     "Two men both wearing hats are sitting at a table ."),
    ("He paid $1,234.56 for it; 3.5% less than in 1999.",
     "He paid $ 1,234.56 for it, 3,5 % less than 1999."),
    ("&quot;Tom &amp; Jerry&quot; &lt;1940&gt; &amp;lt;b&amp;gt;",
     "\"Tom & Jerry\" <1940> &lt;b&gt;"),
    ("well-known 10-year-old state-of-the-art -5 5- 5-6 a-1 1-a",
     "well known 10 - year-old state-of-the-art -5 5 - 5-6"),
    ("It's John's; don't 'quote' it's.", "It is John 's; do n't 'quote' its."),
    ("e.g. the U.S.A., i.e. a.b.c...", "e.g., the U.S.A. i.e. a. b. c. ..."),
    ("...,,,.,1.,2,.3", ". . . , , , . , 1. , 2 , .3"),
    ("我爱中国。", "我爱中国！"),
    ("他说：“你好，世界”（2020年10月1日）。", "他说:“你好,世界” (2020年10月1日)."),
    ("我有3.5个GPU，价格￥1,000。", "我有 3.5 个 GPU，价格 ￥1，000。"),
    ("“引号”—破折号…省略号·间隔", "\"引号\"——破折号...省略号·间隔"),
    ("全角ＡＢＣ１２３，半角ｶﾅ", "全角ＡＢＣ１２３, 半角カナ"),
    ("日本語のテスト、ひらがなとカタカナ。", "日本語 の テスト 、 ひらがな と カタカナ 。"),
    ("한국어 문장입니다.", "한국어 문장 입니다 ."),
    ("Ünïcödé ÀÉÎÕÜ straße STRASSE", "ünïcödé àéîõü strasse straße"),
    ("İstanbul IĞDIR ılık ΑΣ ΌΔΟΣ. ΣΑΣ Σ ΑΣ' ΑΣΒ Α'Σ Α.Σ 'Σ Α\u0301Σ Α Σ",
     "i̇stanbul iğdir ilik ας όδος. σας σ ας' ασβ α'ς"),
    ("ǅ Ⅷ Ⓐ 𝐀 𐐀 Ꭰ Ა", "ǆ ⅷ ⓐ 𝐀 𐐨 ꭰ ა"),
    ("price: 5€ £6 ¥7 ₹8 +9 =10 ^11 |12 ~13", "price : 5 € £ 6 ¥ 7 ₹ 8 + 9 = 10 ^ 11 | 12 ~ 13"),
    ("emoji 👍🏽 👨‍👩‍👧 ❤️ ☃ ✓", "emoji 👍 👨‍👩‍👧 ❤ ☃ ✔"),
    ("¡Hola! ¿Qué tal? «Bien» „gut“ ‚so‘ –—―", "Hola! Qué tal? «bien» \"gut\" 'so' - --"),
    ("a\u00a0b\u2009c\u3000d\u200be\u2028f\u0085g\u001ch", "a b c d e f g h"),
    ("tab\there  double  space ", "  tab here double space"),
    ("", "nothing was there"),
    ("nothing came out", ""),
    ("", ""),
    ("   ", " \t "),
    ("a", "a"),
    ("the the the the", "the the"),
    ("the the", "the the the the the"),
    ("<skipped> x <skipped>y", "x y"),
    ("1.000.000,00 12:30 3/4 5\\6 7_8 9@10 #11",
     "1.000.000 , 00 12 : 30 3 / 4 5 \\ 6 7_8 9 @ 10 # 11"),
    ("(a) [b] {c} <d> (hi), 'x' \"y\" z.",
     "( a ) [ b ] { c } < d > ( hi ) , ' x ' \" y \" z ."),
    ("٣٫٥ ½ ² ① Ⅳ १२३", "3.5 1/2 2 1 IV 123"),
    ("combining e\u0301 vs é", "combining é vs e\u0301"),
    ("ends with dash-", "ends with dash -"),
]
TOKENIZERS = ("13a", "zh", "char", "intl", "none")
WORDS = "a man woman dog child red blue runs sits on in the park street with ball two and".split()


def texts():
    """The pairs above and forty made-up ones, with a second reference and a second system."""
    rng = random.Random(1)
    refs, hyps = [r for r, _ in PAIRS], [h for _, h in PAIRS]
    for _ in range(40):
        ref = [rng.choice(WORDS) for _ in range(rng.randint(3, 14))]
        hyp = [w if rng.random() < 0.8 else rng.choice(WORDS) for w in ref]
        refs.append(" ".join(ref).capitalize() + ".")
        hyps.append(" ".join(hyp).capitalize() + ".")
    second = [r.replace(" ", " the ", 1) if i % 2 else r[: len(r) // 2] for i, r in enumerate(refs)]
    better = {0: lambda h, r: r, 4: lambda h, r: h.rsplit(" ", 1)[0]}  # now better, now worse
    other = [better.get(i % 9, lambda h, r: h)(h, r) for i, (h, r) in enumerate(zip(hyps, refs))]
    return hyps, other, refs, second


def segments(metric, hyps, references, option):
    """Scores of single sentences, for some of the options (the file stays small)."""
    if not set(option) & {"effective_order", "word_order", "beta"}:
        return []
    def score(i):
        return metric.sentence_score(hyps[i], [r[i] for r in references]).score

    return [score(i) for i in range(len(hyps))]


def bleu_cases(hyps, refs, second):
    options = [dict(tokenize=t, lowercase=lc) for t in TOKENIZERS for lc in (False, True)]
    options += [dict(smooth_method=m) for m in ("floor", "add-k", "none")]
    options += [dict(smooth_method="floor", smooth_value=0.5)]
    options += [dict(smooth_method="add-k", smooth_value=2.0), dict(effective_order=True)]
    for option, references in itertools.product(options, ([refs], [refs, second])):
        metric = BLEU(**option)
        score = metric.corpus_score(hyps, references)
        yield dict(options=option, references=len(references), score=score.score,
                   verbose=score._verbose, signature=str(metric.get_signature()),
                   segments=segments(metric, hyps, references, option))


def chrf_cases(hyps, refs, second):
    options = [{}, dict(word_order=2), dict(lowercase=True), dict(whitespace=True)]
    options += [dict(char_order=3, beta=1), dict(word_order=1, lowercase=True, beta=3)]
    for option, references in itertools.product(options, ([refs], [refs, second])):
        metric = CHRF(**option)
        score = metric.corpus_score(hyps, references)
        yield dict(options=option, references=len(references), score=score.score, name=score.name,
                   signature=str(metric.get_signature()),
                   segments=segments(metric, hyps, references, option))


def token_cases(refs, hyps):
    for name in TOKENIZERS:
        for lc in (False, True):
            metric = BLEU(tokenize=name, lowercase=lc)
            yield dict(tokenize=name, lowercase=lc,
                       lines=[" ".join(metric._preprocess_segment(x).split()) for x in refs + hyps])


def paired(hyps, other, refs):
    metrics = {"BLEU": BLEU(lowercase=True), "chrF2": CHRF()}
    _, scores = PairedTest([("base", hyps), ("system", other)], metrics, [refs], test_type="bs")()
    for name in metrics:
        base, system = scores[name]
        yield dict(metric=name, base=base.__dict__, system=system.__dict__)


def main():
    logging.disable(logging.WARNING)
    hyps, other, refs, second = texts()
    out = dict(hyps=hyps, other=other, refs=[refs, second],
               bleu=list(bleu_cases(hyps, refs, second)),
               chrf=list(chrf_cases(hyps, refs, second)),
               tokens=list(token_cases(refs[:40], hyps[:40])),
               paired=list(paired(hyps, other, refs)))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(out, ensure_ascii=False, indent=0, default=float)
    OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
