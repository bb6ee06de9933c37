"""Figures and names of tools."""

from __future__ import annotations

import pytest

from studio.domain.statistics import Figures, sum_figures
from studio.domain.tool_names import bare_tool_name, tool_domain, tool_label


def test_figures_add_up_and_an_empty_mean_is_a_dash():
    both = sum_figures([Figures(tasks=2, local=3, persistent=1, rubric=4), Figures(tasks=1, local=2, rule=5)])

    assert (both.intents, both.items, both.per_task("intents"), both.per_task("rule")) == (6, 9, "2.0", "1.7")
    assert sum_figures([]).per_task("intents") == "–"


@pytest.mark.parametrize(
    ("tool", "domain", "label"),
    [
        ("gmail__show_inbox_threads", "gmail", "Show inbox threads"),
        ("mcp_appworld_simple_note__create_note", "simple_note", "Create note"),
        ("read_file", "workspace", "Read file"),
        ("x__", "x", ""),
    ],
)
def test_tool_name_gives_domain_and_label(tool, domain, label):
    assert (tool_domain(tool), tool_label(tool)) == (domain, label)


def test_prefix_and_spaces_do_not_change_a_tool():
    assert bare_tool_name(" mcp_appworld_gmail__login ") == "gmail__login"
