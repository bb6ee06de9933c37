"""The keys of a grader script, for authoring, which must not run code."""

from __future__ import annotations

from evaluation.grading.script import GraderScriptError, grader_keys
from evaluation.sandbox import SandboxUnavailableError
from studio.findings.grader_keys import GraderKeys


def count_keys(script: bytes) -> GraderKeys:
    """The keys that ``score([])`` returns, or the problem. Never raises."""
    try:
        return GraderKeys(keys=grader_keys(script.decode("utf-8")))
    except UnicodeDecodeError:
        return GraderKeys(problem="The script is not UTF-8 text.")
    except (GraderScriptError, SandboxUnavailableError) as error:
        return GraderKeys(problem=str(error))
