"""English stemming: “shortened” and “shortens” have one stem."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

IRREGULAR = {
    form: base
    for base, forms in {
        "accrue": "accrual accruals",
        "agree": "agreement agreements",
        "analysis": "analyses analyse analyze analysed analyzed analysing analyzing analytical",
        "argue": "argument arguments",
        "be": "am is are was were been being",
        "begin": "began begun beginning",
        "big": "bigger biggest",
        "bring": "brought",
        "buy": "bought buyer buyers",
        "charge": "responsible responsibility responsibilities",
        "child": "children",
        "choose": "chose chosen",
        "comply": "compliance compliant",
        "deliver": "delivery deliveries",
        "dense": "density",
        "do": "did done does",
        "draw": "drew drawn",
        "dry": "dryer dryers",
        "early": "earlier earliest",
        "easy": "easier easiest",
        "employ": "employee employees",
        "expire": "expiry",
        "find": "found",
        "give": "gave given",
        "go": "went gone goes",
        "guarantee": "guarantor guarantors guaranty",
        "guide": "guidance",
        "have": "has had",
        "hear": "heard",
        "high": "higher highest",
        "hold": "held",
        "judge": "judgment judgments judgement judgements",
        "keep": "kept",
        "know": "knew known",
        "large": "larger largest",
        "late": "later latest",
        "leave": "left",
        "lend": "lender lenders",
        "long": "longer longest",
        "low": "lower lowest",
        "make": "made making",
        "mean": "meant",
        "meet": "met",
        "near": "nearer nearest",
        "old": "older oldest",
        "own": "owner owners",
        "pay": "paid",
        "person": "people",
        "quote": "quotation quotations",
        "read": "reader readers readable",
        "say": "said",
        "see": "saw seen",
        "sell": "sold seller sellers",
        "send": "sent",
        "settle": "settlement settlements",
        "short": "shorter shortest",
        "show": "shown",
        "small": "smaller smallest",
        "speak": "spoke spoken speaker speakers",
        "specific": "specify specifies specified specifying",
        "spend": "spent",
        "split": "splitting",
        "summary": "summaries summarise summarised summarises summarising summarize summarized summarizes summarizing",
        "supervise": "supervisor supervisors",
        "supply": "supplier suppliers",
        "take": "took taken",
        "teach": "taught teacher teachers",
        "tell": "told",
        "think": "thought",
        "treat": "treatment treatments",
        "use": "used using uses",
        "write": "wrote written writing writer writers",
        "young": "younger youngest",
    }.items()
    for form in forms.split()
}
"""Irregular forms and related words the stemmer does not map to their base."""
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
