"""Packs in Inspect: ``inspect eval pi_bench_studio/pack -T path=PACK``. Needs the extra ``inspect``.

Inspect names what is registered after the package that holds it.
"""
