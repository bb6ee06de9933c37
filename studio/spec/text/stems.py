"""Words reduced to what they share with their kin: “shortened”, “shortens” and “short” are one."""

from __future__ import annotations

from functools import lru_cache

IRREGULAR = {
    word: base
    for base, words in {
        "be": "am is are was were been being",
        "begin": "began begun beginning",
        "bring": "brought",
        "buy": "bought",
        "charge": "responsible responsibility responsibilities",
        "child": "children",
        "choose": "chose chosen",
        "do": "did done does",
        "draw": "drew drawn",
        "find": "found",
        "give": "gave given",
        "go": "went gone goes",
        "have": "has had",
        "hear": "heard",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "leave": "left",
        "make": "made making",
        "mean": "meant",
        "meet": "met",
        "pay": "paid",
        "person": "people",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "show": "shown",
        "speak": "spoke spoken",
        "spend": "spent",
        "split": "splitting",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "use": "used using uses",
        "write": "wrote written writing",
        "analysis": "analyses analyse analyze analysed analyzed analysing analyzing analytical",
    }.items()
    for word in words.split()
}
FIXED = {
    form: word
    for word in """letter party policy police station important customer country county portion secretary matter paper
        number corner master computer import member honest request interest forest""".split()
    for form in (word, f"{word}s", f"{word.removesuffix('y')}ies")
}
"""Words that would lose their sense with their ending: a party is no part."""
_ENDINGS = (
    *("izations", "isations", "ization", "isation", "fulness", "iveness", "ational", "ations", "ements", "ations"),
    *("ically", "ation", "ement", "ments", "ities", "ables", "ibles", "ingly", "edly", "ance", "ence", "able", "ible"),
    *("ment", "ness", "ions", "ings", "ists", "ical", "less", "ful", "ity", "ize", "ise", "ive", "ing", "ion", "ers"),
    *("ors", "ist", "ous", "est", "ied", "ies", "ian", "al", "ed", "er", "or", "es", "ly", "ic", "s", "y", "e"),
)
_BY_LAST_LETTER = {
    letter: tuple(ending for ending in _ENDINGS if ending[-1] == letter) for letter in {each[-1] for each in _ENDINGS}
}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word in lower case without its endings; at least three letters stay."""
    word = word.casefold().replace("’", "'")
    word = word.removesuffix("'s").removesuffix("'")
    if word in FIXED:
        return FIXED[word]
    word = IRREGULAR.get(word, word)
    for _ in range(3):
        shorter = _cut(word)
        if shorter == word:
            break
        word = shorter
    return word


def _cut(word: str) -> str:
    for ending in _BY_LAST_LETTER.get(word[-1:], ()):
        rest = len(word) - len(ending)
        if not word.endswith(ending) or rest < (3 if len(ending) <= 3 else 4):
            continue
        if ending == "s" and word.endswith(("ss", "us", "is")):
            continue
        cut = word[:rest]
        if not any(letter in "aeiouy" for letter in cut):
            continue
        if ending in ("ied", "ies"):
            return cut + "i"
        if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "lsz" and ending in ("ed", "ing", "er", "ers", "est"):
            cut = cut[:-1]
        return cut
    return word
