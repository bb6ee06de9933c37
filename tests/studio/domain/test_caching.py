from studio.domain.caching import LONG, LONG_TEXT, SHORT, cached


def test_results_of_many_short_texts_and_of_a_few_long_ones_are_kept():
    computed = []

    @cached
    def size(text: str, words: frozenset[str] = frozenset()) -> int:
        computed.append(text)
        return len(text)

    def again(texts: list[str]) -> int:
        """How many are computed again, of texts asked for twice, the last ones first the second time."""
        for text in texts:
            assert size(text) == len(text)
        computed.clear()
        for text in reversed(texts):
            size(text)
        return len(computed)

    assert again([str(number) for number in range(SHORT)]) == 0
    assert again([str(number) + "x" * LONG_TEXT for number in range(LONG + 3)]) == 3
