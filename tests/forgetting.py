"""Makes functions of texts compute again what they remember."""

import gc
from functools import lru_cache


def forget_texts() -> None:
    for each in gc.get_objects():
        if type(each) is type(lru_cache(len)) and each.__module__.startswith("studio.domain"):
            each.cache_clear()
