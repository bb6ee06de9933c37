from tests.evaluation.pilots.conftest import stub_key

__all__ = ["stub_key"]
