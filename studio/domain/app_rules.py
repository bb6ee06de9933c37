"""Decides rules on tool calls and on what they changed in simulated apps.

The text of this module is exported with a task's rules as a grader script, so it imports the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Values = Mapping[str, Any]
Place = tuple[str, str, Any]
"""App, table and key of a record."""
PREFIX = "mcp_appworld_"
LOOKING = ("show_", "search_", "get_", "list_", "login", "logout")
"""Calls that look: a thread marked as read or a product remembered as seen is nothing that somebody changed."""


def decide(rule: Values, rules: Sequence[Values], history: Sequence[Values]) -> tuple[bool, str, str]:
    """Whether the rule is met, what shows it, and why.

    ``rules`` are all those of the task. ``history`` holds calls as ``{tool_name, call, result, ok, changes}``;
    ``changes`` are records as ``{app, table, key, before, after}``.
    """
    kind = rule["kind"]
    if kind == "tool_called":
        for call in history:
            if fits_call(rule, call):
                return True, call["tool_name"], f"{call['tool_name']} was called as required."
        return False, "", f"{rule['tool']} was not called as required."
    records = states_of(history)
    if kind == "nothing_else_changed":
        return nothing_else(rule, rules, history, records)
    for place, states in records.items():
        if fits_record(rule, place, states):
            there = "there" if kind == "record_exists" else "gone"
            return True, "", f"{named(place)} is {there} at the end."
    wanted = "left" if kind == "record_exists" else "deleted"
    return False, "", f"No such record of {rule['app']}.{rule['table']} was {wanted} by this session."


def nothing_else(
    rule: Values, rules: Sequence[Values], history: Sequence[Values], records: Mapping[Place, list[Any]]
) -> tuple[bool, str, str]:
    """A change is asked for if a call that a rule names made it, or if a rule names the record."""
    calls = [other for other in rules if other["kind"] == "tool_called"]
    named_records = [other for other in rules if other["kind"] in ("record_exists", "record_gone")]
    asked = {
        place_of(change)
        for call in history
        if any(fits_call(other, call) for other in calls)
        for change in call.get("changes") or ()
    }
    for place, states in records.items():
        if rule.get("app") and place[0] != rule["app"]:
            continue
        if states[0] == states[-1] or place in asked:
            continue
        if not any(fits_record(other, place, states) for other in named_records):
            done = "added" if states[0] is None else "deleted" if states[-1] is None else "changed"
            return False, "", f"{named(place)} was {done}, and no rule asks for that."
    return True, "", f"Nothing else was changed in {rule.get('app') or 'the apps'}."


def fits_call(rule: Values, call: Values) -> bool:
    return (
        call.get("ok", True)
        and bare(rule["tool"].strip()) == bare(call["tool_name"])
        and fits(rule, call.get("call") or {})
    )


def fits_record(rule: Values, place: Place, states: Sequence[Any]) -> bool:
    """``states``: the record as it was at first, then after each call that changed it; None where there was none."""
    if (rule["app"], rule["table"]) != place[:2]:
        return False
    if rule["kind"] == "record_exists":
        return states[-1] is not None and fits(rule, states[-1])
    return states[-1] is None and any(state is not None and fits(rule, state) for state in states)


def states_of(history: Sequence[Values]) -> dict[Place, list[Any]]:
    """Of each record that calls changed, other than by looking."""
    states: dict[Place, list[Any]] = {}
    touched = set()
    for call in history:
        looks = bare(call["tool_name"]).partition("__")[2].startswith(LOOKING)
        for change in call.get("changes") or ():
            place = place_of(change)
            states.setdefault(place, [change["before"]]).append(change["after"])
            if not looks:
                touched.add(place)
    return {place: found for place, found in states.items() if place in touched}


def fits(rule: Values, values: Values) -> bool:
    return all(name in values and same(values[name], wanted) for name, wanted in rule["arguments"].items()) and all(
        name in values and contains(values[name], text) for name, text in (rule.get("containing") or {}).items()
    )


def same(actual: Any, wanted: Any) -> bool:
    """Equal in value and type, but a number may be written as text: True is not 1, as in JSON."""
    if isinstance(actual, bool) or isinstance(wanted, bool):
        return actual is wanted
    if isinstance(actual, list | tuple) and isinstance(wanted, list | tuple):
        return len(actual) == len(wanted) and all(map(same, actual, wanted))
    if isinstance(actual, int | float) != isinstance(wanted, int | float) and None not in (actual, wanted):
        return str(actual) == str(wanted)
    return bool(actual == wanted)


def contains(actual: Any, text: str) -> bool:
    return any(find_text(text, str(part)) is not None for part in texts_in(actual))


def find_text(wanted: str, text: str) -> str | None:
    """The passage that is ``wanted``, ignoring case and runs of white space; empty if it is spelt otherwise (“ß” for
    “ss”), None if there is none. Numbers match as numbers: “150” is “150.00”, and is not in “150,000”. A comma beside a
    date or before more than three digits is between cells of a table, not in a number."""
    between = r"(?<=-\d\d),(?=\d)|(?<=\d),(?=\d{4}|\d+-\d)"
    wanted, text = (re.sub(between, ", ", " ".join(each.split())) for each in (wanted, text))
    passage = passage_of(wanted, text)
    return passage if passage is not None or passage_of(wanted.casefold(), text.casefold()) is None else ""


def passage_of(wanted: str, text: str) -> str | None:
    number = r"(?<!\d)(?<!\d[.,])(\d+(?:[.,]\d+)*)(?![.,]?\d)"
    values = [value_of(each) for each in re.findall(number, wanted)]
    pattern = re.compile(number.join(map(re.escape, re.split(r"\d+(?:[.,]\d+)*", wanted))), re.IGNORECASE)
    match = pattern.search(text)
    while match and [value_of(each) for each in match.groups()] != values:
        match = pattern.search(text, match.start() + 1)
    return match[0] if match else None


def value_of(number: str) -> str:
    """Without commas between thousands, and without what follows the last decimal that counts."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d+", number) else number


def texts_in(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts_in(part)
    elif value is not None:
        yield value


def place_of(change: Values) -> Place:
    return change["app"], change["table"], change["key"]


def named(place: Place) -> str:
    return f"{place[0]}.{place[1]} {place[2]}"


def bare(name: str) -> str:
    return name.removeprefix(PREFIX)
