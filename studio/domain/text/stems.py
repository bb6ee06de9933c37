"""English stemming: “shortened” and “shortens” have one stem."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from threading import Lock

import snowballstemmer


def read_lines(name: str) -> list[str]:
    """Of a list of words beside this file."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


IRREGULAR = {form: base for base, *forms in map(str.split, read_lines("irregular.txt")) for form in forms}
FIXED = {"important": "important", "customer": "customer", "customers": "customer"}
"""Words the stemmer would conflate with others: customer, custom."""
_BRITISH = re.compile(r"(?<=\w\w)is(?=(?:e[drs]?|ers|ing|ations?)$)")
"""“-ise”, normalized to “-ize”."""
_stemmer = snowballstemmer.stemmer("english")
_lock = Lock()
"""The stemmer is not thread-safe."""


@lru_cache(50_000)
def stem(word: str) -> str:
    word = word.casefold().replace("’", "'")
    word = word.removesuffix("'s").removesuffix("'")
    if word in FIXED:
        return FIXED[word]
    word = _BRITISH.sub("iz", IRREGULAR.get(word, word))
    with _lock:
        return str(_stemmer.stemWord(word))
