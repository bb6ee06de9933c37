"""Results handed in over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.metrics.leaderboard import scores_document
from evaluation.models import Pilot, Session
from evaluation.results.benchmark_results import compute_results
from evaluation.runner.command import main
from studio.access.tokens import create_token
from tests.evaluation.stub_model import StubModel
from tests.evaluation.submissions.played import Played

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("stub_key")]


@pytest.mark.parametrize("protocol", ["paper", "release"])
def test_results_uploaded_over_http_score_in_the_studio_as_pibench_scores_them(
    stub: StubModel, tmp_path: Path, live_server: Any, capsys: pytest.CaptureFixture[str], protocol: str
):
    played = Played(stub, tmp_path, protocol)
    _, secret = create_token(played.person, name="home", scope="write", days=1)
    capsys.readouterr()

    words = ["upload", str(played.results), "--studio", live_server.url, "--token", secret]
    assert main(words) == 0

    pilot = Pilot.objects.get()
    assert capsys.readouterr().out == (
        f"Submitted as pilot 1 of {played.benchmark.slug}, not verified: {live_server.url}/pilots/{pilot.pk}/\n"
    )
    assert main(["score", str(played.results), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    results = compute_results(played.benchmark, [pilot])
    for mode in pilot.terms.modes:
        [shown] = results.whole_board(mode)
        expected = told["scores"][mode]
        document = json.loads(json.dumps(scores_document(shown)))
        assert document == {key: expected[key] for key in document}
        assert 0 < expected["comp"]["mean"] < 1
        assert 0 < expected["proc"]["mean"] < 1
    assert all(session.strict_tokens > 0 for session in Session.objects.exclude(revision__task__task_id="a"))
    assert {session.total_tokens for session in Session.objects.all()} == {row["tokens"] for row in told["sessions"]}
    assert shown.agent == "openai:stub-model · submitted by rita, not verified"
    client = Client()
    client.force_login(played.person)
    page = client.get(reverse("evaluation:results", args=[played.benchmark.slug])).content.decode()
    assert "openai:stub-model · submitted by rita, not verified" in page

    assert main(words) == 0
    assert "These results are there already, as pilot 1" in capsys.readouterr().out
    assert Pilot.objects.count() == 1


def test_token_that_may_only_read_hands_nothing_in_and_is_told_so(
    stub: StubModel, tmp_path: Path, live_server: Any, capsys: pytest.CaptureFixture[str]
):
    played = Played(stub, tmp_path, runs=1)
    _, secret = create_token(played.person, name="home", scope="read", days=1)

    assert main(["upload", str(played.results), "--studio", live_server.url, "--token", secret]) == 2

    assert "refused the results (403): The token “home” may only" in capsys.readouterr().err
    assert not Pilot.objects.exists()
