from tests.evaluation.pilots.conftest import quick_retries, stub_key

__all__ = ["quick_retries", "stub_key"]
