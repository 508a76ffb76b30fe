"""The constructions of the corpus: each is a generator of (Chinese words, English, weight).

A construction says every sentence it can say; make.py picks from them. The larger the weight, the
likelier a sentence is picked.
SPDX-License-Identifier: MIT
"""
from clauses import (act, actions, article, ask, be, counted, deny, do, forms, helped, join, past,
                     present)
from lexicon import (BUY, CITIZENS, COUNTRIES, DRINK, DRINKS, EAT, FEELINGS, FOODS, FUTURE, HABIT,
                     HOURS, JOBS, LANDS, LIKED, LOOKS, NAMES, NUMBERS, PAST, PEOPLE, POSSESSORS,
                     PRONOUNS, SPOTS, THINGS, TRAITS, WEATHER, Verb)

GOODS = [noun for noun in THINGS if noun.zh not in ("猫", "狗", "鸟", "花", "桌子", "车")]
OTHER_PEOPLE = [person for person in PEOPLE if person.agree != "I"]
ALWAYS = 10 ** 6                                # a weight that is never passed over

LOVE = Verb("爱", "love", "loves", "loved", "loving")
LIKE = Verb("喜欢", "like", "likes", "liked", "liking")
MISS = Verb("想念", "miss", "misses", "missed", "missing")
KNOW = Verb("认识", "know", "knows", "knew", "knowing")
WANT = Verb("想", "want to", "wants to", "wanted to", "wanting to")
HAVE = Verb("有", "have", "has", "had", "having")
LIVE = Verb("住在", "live in", "lives in", "lived in", "living in")
NEED = Verb("需要", "need", "needs", "needed", "needing")
COME = Verb("来自", "come from", "comes from", "came from", "coming from")

# ---- loving, liking, missing, knowing ----------------------------------------------------------


def love_and_like():
    """我爱中国, 她喜欢音乐吗, 他不喜欢雪. Persons and lands are only loved and liked, never the contrary."""
    for p in PEOPLE:
        for verb in (LOVE, LIKE):
            weight = p.weight * (2 if verb is LOVE else 1)
            for zh, en in LANDS + LIKED:
                sure = ALWAYS if verb is LOVE and (p.subject == "I" or en == "China") else weight
                yield [*p.zh, verb.zh, zh], present(p, verb, en), sure
            for zh, en in LANDS if "?" in forms(p) else []:
                yield [*p.zh, verb.zh, zh, "吗"], present(p, verb, en, "?"), weight
            for zh, en in LIKED:
                for form in forms(p)[1:]:
                    told = [*p.zh, *deny(form, "不"), verb.zh, zh, *ask(form)]
                    yield told, present(p, verb, en, form), weight


def persons_loved():
    for p in PEOPLE:
        for verb in (LOVE, LIKE, MISS, KNOW):
            for q in PEOPLE:
                if set(p.zh[:1]) & set(q.zh[:1]):
                    continue
                weight = p.weight * q.weight
                if verb is LOVE and p.subject == "I":
                    weight = ALWAYS if q.weight > 1 else weight * 4
                yield [*p.zh, verb.zh, *q.zh], present(p, verb, q.object), weight
                for form in forms(p)[1:] if verb is KNOW else []:
                    zh = [*p.zh, *deny(form, "不"), verb.zh, *q.zh, *ask(form)]
                    yield zh, present(p, verb, q.object, form), weight


def missed_lands():
    for p in PEOPLE:
        for zh, en in LANDS:
            yield [*p.zh, MISS.zh, zh], present(p, MISS, en), p.weight


def whom_and_what():
    for p in OTHER_PEOPLE:
        does = do(p)
        yield [*p.zh, "爱", "谁"], f"who {does} {p.subject} love?", p.weight
        yield [*p.zh, "喜欢", "谁"], f"who {does} {p.subject} like?", p.weight
        yield [*p.zh, "喜欢", "什么"], f"what {does} {p.subject} like?", p.weight
        yield [*p.zh, "想", "买", "什么"], f"what {does} {p.subject} want to buy?", p.weight
        yield [*p.zh, "想", "吃", "什么"], f"what {does} {p.subject} want to eat?", p.weight
        yield [*p.zh, "昨天", "买", "了", "什么"], f"what did {p.subject} buy yesterday?", p.weight
        yield [*p.zh, "在", "哪里"], f"where {be(p)} {p.subject}?", p.weight
        yield [*p.zh, "住在", "哪里"], f"where {does} {p.subject} live?", p.weight
        yield [*p.zh, "想", "去", "哪里"], f"where {does} {p.subject} want to go?", p.weight


def who():
    for zh, en in LANDS + LIKED:
        yield ["谁", "爱", zh], f"who loves {en}?", 2
        yield ["谁", "喜欢", zh], f"who likes {en}?", 1
    for zh, en in LANDS:
        yield ["谁", "住在", zh], f"who lives in {en}?", 1
        yield ["谁", "去", "过", zh], f"who has been to {en}?", 1
        yield ["谁", "想", "去", zh], f"who wants to go to {en}?", 1
    for p in PEOPLE:
        yield ["谁", "爱", *p.zh], f"who loves {p.object}?", p.weight
        yield ["谁", "认识", *p.zh], f"who knows {p.object}?", p.weight


# ---- doing -------------------------------------------------------------------------------------


def likes_to():
    for p in PEOPLE:
        for a in actions("l"):
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "喜欢", *act(a), *ask(form)]
                yield zh, present(p, LIKE, join("to", a.verb.base, a.many), form), p.weight


def wants_to():
    for p in PEOPLE:
        for a in actions("w"):
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "想", *act(a), *ask(form)]
                yield zh, present(p, WANT, join(a.verb.base, a.one), form), p.weight


def can():
    for p in PEOPLE:
        for a in actions("k"):
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "会", *act(a), *ask(form)]
                yield zh, helped(p, "can", a.verb.base, a.many, form), p.weight


def habits():
    for p in PEOPLE:
        for a in actions("h"):
            for when, often in HABIT:
                for form in forms(p):
                    zh = [*p.zh, when, *deny(form, "不"), *act(a), *ask(form)]
                    yield zh, present(p, a.verb, join(a.many, often), form), p.weight


def now():
    for p in PEOPLE:
        for a in actions("n"):
            for form in forms(p):
                zh = [*p.zh, *deny(form, "没"), "在", *act(a), *ask(form)]
                yield zh, helped(p, be(p), a.verb.ing, a.one, form), p.weight


def occasions():
    """昨天看电影了, 昨天没看电影; 明天会看电影, 明天不会看电影."""
    for p in PEOPLE:
        for a in actions("e"):
            for form in forms(p):
                for zh, when in PAST[:2]:
                    end = [] if form == "-" else ["了"]
                    told = [*p.zh, zh, *deny(form, "没"), *act(a), *end, *ask(form)]
                    yield told, past(p, a.verb, join(a.one, when), form), p.weight
                for zh, when in FUTURE[:2]:
                    told = [*p.zh, zh, *deny(form, "不"), "会", *act(a), *ask(form)]
                    yield told, helped(p, "will", a.verb.base, join(a.one, when), form), p.weight


# ---- places ------------------------------------------------------------------------------------


def going():
    go = Verb("去", "go", "goes", "went", "going")
    targets = [(zh, f"to {en}", True) for zh, en in LANDS]
    targets += [(zh, to, False) for zh, to, _ in SPOTS]
    for p in PEOPLE:
        for place, to, far in targets:
            weight = p.weight
            for form in forms(p):
                for zh, when in PAST if far else PAST[:1]:
                    end = [] if form == "-" else ["了"]
                    told = [*p.zh, zh, *deny(form, "没"), "去", place, *end, *ask(form)]
                    yield told, past(p, go, join(to, when), form), weight
                for zh, when in FUTURE if far else FUTURE[:1]:
                    told = [*p.zh, zh, *deny(form, "不"), "会", "去", place, *ask(form)]
                    yield told, helped(p, "will", "go", join(to, when), form), weight
                told = [*p.zh, *deny(form, "不"), "想", "去", place, *ask(form)]
                yield told, present(p, WANT, f"go {to}", form), weight * 2
    for p in PEOPLE:
        for place, to, _ in SPOTS:
            for zh, when in HABIT:
                for form in forms(p):
                    told = [*p.zh, zh, *deny(form, "不"), "去", place, *ask(form)]
                    yield told, present(p, go, join(to, when), form), p.weight


def been():
    for p in PEOPLE:
        has = "has" if p.agree == "s" else "have"
        for place, en in LANDS:
            for form in forms(p):
                zh = [*p.zh, *deny(form, "没"), "去", "过", place, *ask(form)]
                yield zh, helped(p, has, "been", f"to {en}", form), p.weight


def being():
    spots = [(zh, at) for zh, _, at in SPOTS] + [(zh, f"in {en}") for zh, en in LANDS]
    spots.append(("家", "at home"))
    for p in PEOPLE:
        for place, at in spots:
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "在", place, *ask(form)]
                yield zh, helped(p, be(p), "", at, form), p.weight
                zh = [*p.zh, "昨天", *deny(form, "不"), "在", place, *ask(form)]
                yield zh, helped(p, be(p, True), "", f"{at} yesterday", form), p.weight


def working():
    work = Verb("", "work", "works", "worked", "working")
    for p in PEOPLE:
        for place, at in [(zh, f"in {en}") for zh, en in LANDS] + [(zh, at) for zh, _, at in SPOTS]:
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "在", place, "工作", *ask(form)]
                yield zh, present(p, work, at, form), p.weight


def living():
    for p in CITIZENS:
        for place, en in LANDS:
            for form in forms(p):
                zh = [*p.zh, *deny(form, "不"), "住在", place, *ask(form)]
                yield zh, present(p, LIVE, en, form), p.weight
            yield [*p.zh, "来自", place], present(p, COME, en), p.weight


# ---- being something ---------------------------------------------------------------------------


def jobs_and_nations():
    for p in CITIZENS:
        for zh, en in JOBS:
            rest = f"{en}s" if p.subject in ("we", "they") or "和" in p.zh else f"a {en}"
            for form in forms(p):
                told = [*p.zh, *deny(form, "不"), "是", zh, *ask(form)]
                yield told, helped(p, be(p), "", rest, form), p.weight
        for zh, _, nation in COUNTRIES:
            for form in forms(p):
                told = [*p.zh, *deny(form, "不"), "是", zh, "人", *ask(form)]
                yield told, helped(p, be(p), "", nation, form), p.weight * 2


def feelings():
    """很 is `very`; a plain question or negation has none."""
    for p in PEOPLE:
        for a in FEELINGS + TRAITS:
            yield [*p.zh, "很", a.zh], f"{p.subject} {be(p)} very {a.en}", p.weight * 2
            for form in forms(p)[1:]:
                zh = [*p.zh, *deny(form, "不"), a.zh, *ask(form)]
                yield zh, helped(p, be(p), "", a.en, form), p.weight
        for a in FEELINGS:
            for zh, when, is_past in (("今天", "today", False), ("昨天", "yesterday", True)):
                it = f"{p.subject} {be(p, is_past)}"
                yield [*p.zh, zh, "很", a.zh], f"{it} very {a.en} {when}", p.weight
                yield [*p.zh, zh, "不", a.zh], f"{it} not {a.en} {when}", p.weight
            if "?" in forms(p):
                yield [*p.zh, "为什么", a.zh], f"why {be(p)} {p.subject} {a.en}?", p.weight


# ---- things ------------------------------------------------------------------------------------


def having():
    for p in PEOPLE:
        for noun in THINGS:
            for zh, en in NUMBERS:
                told = [*p.zh, "有", zh, noun.measure, noun.zh]
                yield told, present(p, HAVE, counted(en, noun)), p.weight
            for form in forms(p)[1:]:
                zh = [*p.zh, *deny(form, "没"), "有", noun.zh, *ask(form)]
                yield zh, present(p, HAVE, article(noun), form), p.weight * 2
            if "?" in forms(p):
                many = f"how many {noun.many} {do(p)} {p.subject} have?"
                yield [*p.zh, "有", "几", noun.measure, noun.zh], many, p.weight
        for thing, en in (("钱", "money"), ("时间", "time")):
            for form in forms(p):
                zh = [*p.zh, *deny(form, "没"), "有", thing, *ask(form)]
                yield zh, present(p, HAVE, en, form), p.weight * 2


def amounts():
    """Bought, eaten, drunk, needed, wanted: a number, its measure word, a thing."""
    bought = [(BUY, "昨天", "yesterday", THINGS), (EAT, "早上", "in the morning", FOODS),
              (DRINK, "昨天", "yesterday", DRINKS)]
    for p in PEOPLE:
        for verb, zh_when, when, nouns in bought:
            for noun in nouns:
                for zh, en in NUMBERS[:5]:
                    thing = [zh, noun.measure, noun.zh]
                    some = counted(en, noun)
                    done = [*p.zh, zh_when, verb.zh, "了", *thing]
                    yield done, past(p, verb, f"{some} {when}"), p.weight
                    wanted = [*p.zh, "想", verb.zh, *thing]
                    yield wanted, present(p, WANT, f"{verb.base} {some}"), p.weight
        for noun in GOODS:
            for zh, en in NUMBERS:
                needed = [*p.zh, NEED.zh, zh, noun.measure, noun.zh]
                yield needed, present(p, NEED, counted(en, noun)), p.weight


def giving():
    for p in PEOPLE:
        for q in PRONOUNS + NAMES:
            if p.zh[0] == q.zh[0]:
                continue
            for noun in GOODS:
                zh = [*p.zh, "给", "了", *q.zh, "一", noun.measure, noun.zh]
                yield zh, f"{p.subject} gave {q.object} {article(noun)}", p.weight * q.weight


def this_and_that():
    """这本书很新, 那只猫不大, 这是我的书, 我喜欢这本书."""
    for which, en in (("这", "this"), ("那", "that")):
        for noun in THINGS:
            for a in map(LOOKS.get, noun.looks):
                zh, it = [which, noun.measure, noun.zh], f"{en} {noun.one}"
                yield [*zh, "很", a.zh], f"{it} is very {a.en}", 2
                yield [*zh, "不", a.zh], f"{it} is not {a.en}", 1
                yield [*zh, a.zh, "吗"], f"is {it} {a.en}?", 1
            for zh, whose in POSSESSORS:
                yield [which, "是", zh, "的", noun.zh], f"{en} is {whose} {noun.one}", 4
                yield [which, "不", "是", zh, "的", noun.zh], f"{en} is not {whose} {noun.one}", 4
                yield [which, "是", zh, "的", noun.zh, "吗"], f"is {en} {whose} {noun.one}?", 4
            yield [which, "是", "谁", "的", noun.zh], f"whose {noun.one} is {en}?", 8
            for p in PEOPLE:
                liked, it = [which, noun.measure, noun.zh], f"{en} {noun.one}"
                yield [*p.zh, "喜欢", *liked], present(p, LIKE, it), p.weight / 8
                yield [*p.zh, "不", "喜欢", *liked], present(p, LIKE, it, "-"), p.weight / 8


# ---- weather, cities, hours --------------------------------------------------------------------


def weather():
    for zh, en in LANDS:
        for look, english in (("大", "big"), ("漂亮", "beautiful")):
            yield [zh, "很", look], f"{en} is very {english}", 2
        for a in WEATHER:
            yield [zh, "今天", "很", a.zh], f"it is very {a.en} in {en} today", 1
            yield [zh, "昨天", "很", a.zh], f"it was very {a.en} in {en} yesterday", 1
            yield [zh, "今天", "不", a.zh], f"it is not {a.en} in {en} today", 1
            yield [zh, "今天", a.zh, "吗"], f"is it {a.en} in {en} today?", 1
        for rain, english in (("下雨", "rain"), ("下雪", "snow")):
            yield [zh, "昨天", rain, "了"], f"it {english}ed in {en} yesterday", 1
            yield [zh, "明天", "会", rain], f"it will {english} in {en} tomorrow", 1
            yield [zh, "明天", "不", "会", rain], f"it will not {english} in {en} tomorrow", 1
            yield [zh, "明天", "会", rain, "吗"], f"will it {english} in {en} tomorrow?", 1


def hours():
    routine = [(["起床"], Verb("", "get up", "gets up", "got up", "")),
               (["吃", "早饭"], Verb("", "have breakfast", "has breakfast", "had breakfast", "")),
               (["回家"], Verb("", "go home", "goes home", "went home", ""))]
    for zh, en in HOURS:
        yield ["现在", zh, "点"], f"it is {en} o'clock now", ALWAYS
        for p in PEOPLE:
            for done, verb in routine:
                told = [*p.zh, "每天", zh, "点", *done]
                yield told, present(p, verb, f"at {en} o'clock every day"), p.weight
                told = [*p.zh, "昨天", zh, "点", *done]
                yield told, past(p, verb, f"at {en} o'clock yesterday"), p.weight


# How many sentences of each construction the corpus holds.
QUOTAS = [
    (love_and_like, 640), (persons_loved, 480), (missed_lands, 70), (whom_and_what, 200),
    (who, 130), (likes_to, 240), (wants_to, 240), (can, 180), (habits, 320), (now, 240),
    (occasions, 400), (going, 400), (been, 180), (being, 260), (working, 140), (living, 200),
    (jobs_and_nations, 260), (feelings, 320), (having, 320), (amounts, 240), (giving, 120),
    (this_and_that, 320), (weather, 170), (hours, 130),
]
