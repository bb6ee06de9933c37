"""Counting, and telling what tools and skills are for."""

from __future__ import annotations

import pytest

from studio.spec.statistics import Figures, domain_of, in_words, plain_tool, skill_function, total


def test_figures_add_up_and_a_mean_is_a_dash_where_nothing_is():
    both = total([Figures(tasks=2, local=3, persistent=1, rubric=4), Figures(tasks=1, local=2, rule=5)])

    assert (both.intents, both.items, both.per_task("intents"), both.per_task("rule")) == (6, 9, "2.0", "1.7")
    assert total([]).per_task("intents") == "–"


@pytest.mark.parametrize(
    ("tool", "domain", "words"),
    [
        ("gmail__show_inbox_threads", "gmail", "Show inbox threads"),
        ("mcp_appworld_simple_note__create_note", "simple_note", "Create note"),
        ("read_file", "workspace", "Read file"),
        ("x__", "x", ""),
    ],
)
def test_a_tool_says_its_domain_and_what_it_does(tool, domain, words):
    assert (domain_of(tool), in_words(tool)) == (domain, words)


def test_a_tool_is_the_same_however_a_task_names_it():
    assert plain_tool(" mcp_appworld_gmail__login ") == "gmail__login"


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("---\nname: x\ndescription: >-\n  Reads\n  PDFs.\n---\n# X\n", "Reads PDFs."),
        ("# Reader\n\nReads PDFs,\neven long ones.\n\nMore.", "Reads PDFs, even long ones."),
        ("---\n[broken\n---\nReads PDFs.", "Reads PDFs."),
        ("---\ndescription: 7\n---\n", ""),
        ("", ""),
    ],
)
def test_a_skill_says_what_it_is_for(text, function):
    assert skill_function(text) == function


def test_a_skill_of_many_words_is_cut():
    assert len(skill_function("word " * 10_000)) < 310
