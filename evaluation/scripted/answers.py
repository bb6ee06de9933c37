"""The scripted model's answer to a request: by role, unless a scenario or a fault says otherwise."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.scripted.assistance import AssistancePrompt, propose, read_assistance_prompt
from evaluation.scripted.conversation import Conversation, message_text, read_conversation
from evaluation.scripted.faults import FaultsByName, spoil_decisions, spoil_text
from evaluation.scripted.judge import JudgeQuestion, decide, find_question
from evaluation.scripted.scenario import Scenario, ScenarioRequest, ScenarioRule
from evaluation.scripted.temperaments import TEMPERAMENTS, ScriptedMessage

FINGERPRINT = "scripted"
"""In every answer, so that a scripted model is recognized under any name and address."""

MODELS = (
    "scripted-helpful",
    "scripted-passive",
    "scripted-asks",
    "scripted-silent",
    "scripted-user",
    "scripted-judge",
    "scripted-helper",
)


class UnknownModelError(LookupError):
    pass


@dataclass(frozen=True)
class ScriptedAnswer:
    role: str
    """A temperament, ``judge``, ``user`` or ``helper``."""
    message: ScriptedMessage
    do: str = ""
    """The fault to apply; empty for none."""
    retry_after: float = 1.0
    seconds: float = 3600.0
    raw_arguments: bool = False
    """Tool calls get invalid JSON as arguments."""


def answer_request(request: Mapping[str, Any], scenario: Scenario, faults: FaultsByName) -> ScriptedAnswer:
    """Raises UnknownModelError."""
    full_name = str(request.get("model", ""))
    model = full_name.split("+", 1)[0]
    if model not in MODELS:
        raise UnknownModelError(full_name)
    messages = [message for message in _list(request.get("messages")) if isinstance(message, Mapping)]
    all_text = "\n".join(message_text(message) for message in messages)
    conversation = read_conversation(messages, _list(request.get("tools")))
    role = model.removeprefix("scripted-")
    question_text = "" if role in TEMPERAMENTS else _question_text(messages)
    assignment = read_assistance_prompt(question_text)
    question = find_question(question_text) if assignment is None else None
    rule = scenario.rule_for(_scenario_request(model, question or assignment, conversation, all_text))
    do = rule.do if rule and rule.do else faults.next(full_name)
    message = _message(role, question or assignment, conversation, rule, do, request)
    return ScriptedAnswer(
        role=role,
        message=message,
        do=do,
        retry_after=rule.retry_after if rule else 1.0,
        seconds=rule.seconds if rule else 3600.0,
        raw_arguments=do == "bad-arguments",
    )


def completion_of(answer_request: ScriptedAnswer, request: Mapping[str, Any], size: int) -> dict[str, Any]:
    """The body of a chat completion. ``size`` is the request's, in bytes; tokens are estimated as a quarter of it."""
    identity = f"{zlib.crc32(json.dumps(request, sort_keys=True).encode()):08x}"
    message: dict[str, Any] = {"role": "assistant", "content": answer_request.message.text}
    if answer_request.message.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{identity}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": "{not json" if answer_request.raw_arguments else json.dumps(arguments),
                },
            }
            for index, (name, arguments) in enumerate(answer_request.message.tool_calls)
        ]
    prompt, completion = size // 4, max(1, len(json.dumps(message)) // 4)
    return {
        "id": f"chatcmpl-{identity}",
        "object": "chat.completion",
        "created": 0,
        "model": str(request.get("model")),
        "system_fingerprint": FINGERPRINT,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if answer_request.message.tool_calls else "stop",
            }
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


def _message(
    role: str,
    question: JudgeQuestion | AssistancePrompt | None,
    conversation: Conversation,
    rule: ScenarioRule | None,
    do: str,
    request: Mapping[str, Any],
) -> ScriptedMessage:
    if isinstance(question, AssistancePrompt):
        return ScriptedMessage(spoil_text(do, rule.reply if rule and rule.reply is not None else propose(question)))
    if question is not None:
        if rule and rule.reply is not None:
            return ScriptedMessage(rule.reply)
        decisions = _rule_decisions(question, rule) if rule and rule.decisions is not None else decide(question)
        return ScriptedMessage(
            spoil_text(do, json.dumps({"decisions": spoil_decisions(do, decisions)}, ensure_ascii=False))
        )
    if rule and (rule.reply is not None or rule.tool_calls):
        message = ScriptedMessage(rule.reply or "", [(call.name, call.arguments) for call in rule.tool_calls])
    elif role in TEMPERAMENTS:
        message = TEMPERAMENTS[role](conversation)
    else:
        message = ScriptedMessage(_default_text(role, request))
    if do == "unknown-tool" and not message.tool_calls:
        return ScriptedMessage(tool_calls=[("no_such_tool", {})])
    if do in ("endless", "bad-arguments") and not message.tool_calls:
        return ScriptedMessage(tool_calls=[("list_dir", {"path": "."})])
    return ScriptedMessage(spoil_text(do, message.text), message.tool_calls)


def _rule_decisions(question: JudgeQuestion, rule: ScenarioRule) -> list[dict[str, Any]]:
    assert rule.decisions is not None
    decisions = []
    for index, _ in question.criteria:
        configured = rule.decisions.get(str(index), rule.otherwise)
        entry = dict(configured) if isinstance(configured, Mapping) else {"decision": configured}
        default = {"index": index, "decision": "NO", "quote": "", "reason": "The scenario says so."}
        if question.purpose == "follow_up":
            default["style"] = "Clarify" if entry.get("decision") == "YES" else ""
        decisions.append(default | entry)
    return decisions


def _scenario_request(
    model: str, question: JudgeQuestion | AssistancePrompt | None, conversation: Conversation, all_text: str
) -> ScenarioRequest:
    turn = conversation.turn
    purpose = "agent" if question is None else question.purpose if isinstance(question, JudgeQuestion) else "help"
    if purpose == "checklist":
        turn = all_text.count("<user turn=") + all_text.count("<event turn=")
    first = conversation.messages[0] if conversation.messages else ""
    return ScenarioRequest(model, purpose, first, all_text, turn, conversation.step + 1)


def _question_text(messages: Sequence[Mapping[str, Any]]) -> str:
    return next((message_text(message) for message in messages if message.get("role") == "user"), "")


def _default_text(role: str, request: Mapping[str, Any]) -> str:
    response_format = request.get("response_format")
    schema = response_format.get("json_schema", {}).get("schema") if isinstance(response_format, Mapping) else None
    if isinstance(response_format, Mapping):
        return json.dumps(example_value(schema or {"type": "object"}))
    return "Thank you. Please go on." if role == "user" else "NO"


def example_value(schema: Mapping[str, Any], depth: int = 0) -> Any:
    if schema.get("enum"):
        return schema["enum"][-1]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" and depth < 8:
        return {name: example_value(part, depth + 1) for name, part in (schema.get("properties") or {}).items()}
    empty: dict[str, Any] = {"array": [], "integer": 0, "number": 0, "boolean": False, "null": None, "object": {}}
    return empty.get(kind, "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
