"""`manage.py judge_regression`: how judges do on what people decided in audits."""

from __future__ import annotations

from typing import Any

from evaluation.audits.gate import judges_document
from studio.management.base import ReportCommand


class Command(ReportCommand):
    help = (
        "What people decided in audits of whole sessions, and for each judge and prompt version its accuracy on it, "
        "wrong passes and fails, flips between samples, and whether it is worse than the judge in use. Judge sessions "
        "again with another prompt (`rejudge`) to compare it before it scores. Exit status 0: printed; 2: usage error."
    )

    empty = {"benchmark": None, "cases": [], "judges": []}

    def handle(self, *args: Any, **options: Any) -> None:
        document = judges_document(self.find_benchmark(options))
        if self.as_json:
            self.print_json(document)
            return
        self.stdout.write(f"{len(document['cases'])} questions that people decided")
        for row in document["judges"]:
            accuracy = "–" if row["accuracy"] is None else f"{100 * row['accuracy']:.1f} %"
            self.stdout.write(
                f"  pilot {row['pilot']} round {row['round']} {row['judge']} {row['prompts']}: "
                f"{accuracy} of {row['n']}, "
                f"{row['false_pass']} wrong passes, {row['false_fail']} wrong fails, "
                f"{row['flips']} of {row['repeated']} flipped{_beside(row)}"
            )


def _beside(row: dict[str, Any]) -> str:
    if row["in_use"]:
        return ", in use"
    if row["beside_judge_in_use"] is None:
        return ""
    how = "worse" if row["beside_judge_in_use"]["worse"] else "no worse"
    return f", {how} than the judge in use"
