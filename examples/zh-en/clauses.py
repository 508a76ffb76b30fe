"""English clauses and Chinese pieces that every construction of grammar.py is made of.

English agreement, tense and do-support live here and nowhere else. A form is '+' (statement),
'-' (negation) or '?' (question).
SPDX-License-Identifier: MIT
"""
from lexicon import ACTIONS

FORMS = "+-?"

# ---- English clauses ---------------------------------------------------------------------------


def join(*parts):
    return " ".join(part for part in parts if part)


def be(person, past=False):
    return {"I": ("am", "was"), "s": ("is", "was"), "p": ("are", "were")}[person.agree][past]


def do(person):
    return "does" if person.agree == "s" else "do"


def present(person, verb, rest, form="+"):
    if form == "+":
        return join(person.subject, verb.third if person.agree == "s" else verb.base, rest)
    return helped(person, do(person), verb.base, rest, form)


def past(person, verb, rest, form="+"):
    if form == "+":
        return join(person.subject, verb.past, rest)
    return helped(person, "did", verb.base, rest, form)


def helped(person, auxiliary, base, rest, form="+"):
    """A clause whose auxiliary carries the form: do, did, will, can, am, was, have and the like."""
    if form == "?":
        return join(auxiliary, person.subject, base, rest) + "?"
    if auxiliary == "can" and form == "-":
        return join(person.subject, "cannot", base, rest)
    return join(person.subject, auxiliary, "not" if form == "-" else "", base, rest)


def article(noun):
    return ("an " if noun.one[0] in "aeiou" else "a ") + noun.one


def counted(number, noun):
    return article(noun) if number == "a" else f"{number} {noun.many}"


# ---- Chinese pieces ----------------------------------------------------------------------------


def forms(person):
    """Nobody asks what only he can know (do I like tea?)."""
    return FORMS[:2] if person.agree == "I" else FORMS


def ask(form):
    return ["吗"] if form == "?" else []


def deny(form, word):
    return [word] if form == "-" else []


def act(action):
    return [word for word in (action.verb.zh, action.zh) if word]


def actions(use):
    return [action for action in ACTIONS if use in action.uses]
