"""A task's rules on tool calls and app records as a grader script, for harnesses that know no such rules."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable

from studio.domain import app_rules
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec

KINDS = ("tool_called", "record_exists", "record_gone", "nothing_else_changed")
MAX_KEY = 200
"""Characters of a criterion in its key."""

_SCORE = '''

RULES = json.loads(
    {rules!r}
)


def score(tools_history):
    """Key of each criterion -> 1 if it is met. An app call's `changes` are the records it changed; where a harness
    does not give them, rules on records are not met."""
    rules = [rule for _, rule in RULES]
    known = [call for call in tools_history if not refused(call)]
    lacks = any("__" in call["tool_name"] and "changes" not in call for call in known)
    return {{
        key: int(decide(rule, rules, known)[0] and not (lacks and rule["kind"] != "tool_called"))
        for key, rule in RULES
    }}


def refused(call):
    response = (call.get("result") or {{}}).get("response")
    return not call.get("ok", True) or (isinstance(response, dict) and response.get("status", 0) in range(400, 600))
'''


def rule_script(task: TaskSpec) -> str:
    """Empty if there is no rule that tool calls decide."""
    rules = [
        (f"{position} {' '.join(item.criterion.split())}"[:MAX_KEY], item.rule.to_json())
        for position, item in enumerate(task.scored_items, start=1)
        if item.grader == "rule" and item.rule is not None and item.rule.kind in KINDS
    ]
    if not rules:
        return ""
    source = inspect.getsource(app_rules).replace(
        "from __future__ import annotations\n", "from __future__ import annotations\n\nimport json\n", 1
    )
    return source + _SCORE.format(rules=json.dumps(rules, ensure_ascii=False))


def rule_script_files(episodes: Iterable[EpisodeSpec]) -> dict[str, bytes]:
    """``graders/<persona>/<task>.py`` for a pack, beside the personas' folders: authors did not write these scripts."""
    return {
        f"graders/{episode.persona.user_id}/{task.task_id}.py": script.encode()
        for episode in episodes
        for task in (*episode.tasks, *episode.unplaced)
        if (script := rule_script(task))
    }
