"""Every judge that decided something of the regression set, how it does on it, and beside the one in use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotations.intervals import Rate, clustered_wilson
from evaluation.audits.gate import compare_with_judge_in_use, identity_of, round_in_use
from evaluation.audits.paired import PairedComparison
from evaluation.audits.regression import JudgeRecord, RegressionCase, judge_records, regression_cases
from studio.models import Benchmark


@dataclass(frozen=True)
class JudgeRow:
    record: JudgeRecord
    in_use: bool
    comparison: PairedComparison | None
    """With the one in use; None for that one, and where both have decided nothing in common."""

    @property
    def prompts(self) -> str:
        return ", ".join(f"{name.replace('_', '-')} {version}" for name, version in self.record.prompts.items())

    @property
    def accuracy(self) -> Rate:
        return clustered_wilson(self.record.right)


def judge_rows(benchmark: Benchmark, cases: list[RegressionCase] | None = None) -> list[JudgeRow]:
    cases = regression_cases(benchmark) if cases is None else cases
    in_use = round_in_use(benchmark)
    compared = {identity_of(row): found for row, found in compare_with_judge_in_use(benchmark, cases)}
    rows = []
    for judging_round, record in judge_records(benchmark, cases):
        used = in_use is not None and identity_of(judging_round) == identity_of(in_use)
        rows.append(JudgeRow(record, used, None if used else compared.get(identity_of(judging_round))))
    return rows


def judges_document(benchmark: Benchmark) -> dict[str, Any]:
    cases = regression_cases(benchmark)
    return {
        "benchmark": benchmark.slug,
        "cases": [asdict(case) for case in cases],
        "judges": [_row_json(row) for row in judge_rows(benchmark, cases)],
    }


def _row_json(row: JudgeRow) -> dict[str, Any]:
    found = asdict(row.record)
    del found["right"]
    comparison = row.comparison and asdict(row.comparison) | {"worse": row.comparison.is_worse}
    return found | {"in_use": row.in_use, "beside_judge_in_use": comparison}
