from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from studio.domain.persona import PersonaSpec
from tests.evaluation.builders import benchmark_of, task

pytestmark = pytest.mark.django_db


def test_bound_names_without_a_tool_are_missing():
    tools = ("read_file", "mcp_appworld_fax__send", "phone__create_alarm")
    benchmark = benchmark_of(task("a"), persona=PersonaSpec(user_id="clerk", tools=tools))
    out = io.StringIO()

    call_command("tools", "--benchmark", benchmark.slug, "--persona", "clerk", "--json", stdout=out)

    document = json.loads(out.getvalue())
    assert "read_file" in document["offered"] and "phone__create_alarm" in document["offered"]
    assert document["missing"] == ["mcp_appworld_fax__send"]


def test_unknown_persona_is_a_usage_error():
    benchmark = benchmark_of(task("a"))
    out = io.StringIO()

    with pytest.raises(SystemExit) as end:
        call_command(
            "tools", "--benchmark", benchmark.slug, "--persona", "x", "--json", stdout=out, stderr=io.StringIO()
        )

    assert (end.value.code, json.loads(out.getvalue())["errors"][0]["message"]) == (2, "There is no persona “x”.")
