from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from snowballstemmer.english_stemmer import EnglishStemmer

from studio.domain.text.stems import IRREGULAR, stem


@pytest.mark.parametrize(
    "forms",
    [
        "shorten shortens Shortened shortening",
        "organise organises organising organized organize",
        "summary summaries summarise summarized",
        "buy bought buyer buyer's buyers’",
        "late later latest",
        "settle settles settlement settlements",
    ],
)
def test_inflected_forms_share_a_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("words", ["part party", "custom customer", "import important", "police policy", "theory the"])
def test_different_words_keep_different_stems(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 2


def test_stemming_is_thread_safe() -> None:
    words = [f"{start}{middle}{end}" for start in "bdgl" for middle in ("atter", "ondon") for end in ("ing", "ed", "s")]
    expected = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert all(
            each == expected for each in pool.map(lambda _: [stem.__wrapped__(word) for word in words], range(40))
        )


def test_compiled_stemmer_and_the_one_in_python_agree():
    in_python, compiled = EnglishStemmer(), snowballstemmer.stemmer("english")
    words = {*" ".join(IRREGULAR.values()).split(), *IRREGULAR, "generously", "skies", "reporting’s", "naïvely", "ΑΣ"}

    assert type(compiled) is not type(in_python)
    assert {word: compiled.stemWord(word) for word in words} == {word: in_python.stemWord(word) for word in words}
