from __future__ import annotations

import pytest

from evaluation.metrics.asking import Asking, asking_by_agent, count_questions


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Done.", 0),
        ("Which date? And which room?", 2),
        ("Really?!", 0),
        ("Really?? Yes.", 1),
        ("See https://example.org/?q=1 and `a?` or\n```\nwhat?\n```", 0),
        ("**Shall I send it?**", 1),
        ("“Who?” she asked.", 1),
        ("Which?\nWhen?", 2),
    ],
)
def test_questions_are_sentences_with_a_question_mark_outside_code(reply: str, number: int):
    assert count_questions(reply) == number


def test_precision_is_of_replies_and_recall_of_intents():
    sessions = [
        Asking("quick", questions=3, hits=2, asking_turns=2, hitting_turns=1, open_intents=4),
        Asking("quick", questions=1, hits=0, asking_turns=1, hitting_turns=0, open_intents=0),
        Asking("silent", questions=0, hits=0, asking_turns=0, hitting_turns=0, open_intents=2),
    ]

    quick, silent = asking_by_agent(sessions)

    assert (quick.precision, quick.recall, quick.questions_a_session) == (pytest.approx(1 / 3), 0.5, 2.0)
    assert (silent.precision, silent.recall) == (None, 0.0)
