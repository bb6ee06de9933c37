"""A pack as a taskset of verifiers, with the engine of `pibench` as its harness."""

from pi_bench_pack.harness import PackHarness
from pi_bench_pack.taskset import PackTaskset

__all__ = ["PackHarness", "PackTaskset"]
