"""The settings that deploy/studio.env.example gives a team's studio."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

ASK = """
import json
from django.core.management import call_command
from django.test import Client
import django
django.setup()
call_command("check", deploy=True, fail_level="WARNING")
plain = Client().get("/login/", headers={"Host": "studio.example.org"})
print(json.dumps([plain.status_code, plain.headers.get("Location")]))
secure = Client().get("/api/schema/", headers={"Host": "studio.example.org", "X-Forwarded-Proto": "https"})
print(json.dumps([secure.status_code, secure.headers.get("Strict-Transport-Security")]))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[list[object]]:
    """What a studio with these settings answers over HTTP and HTTPS, after a clean `check --deploy`."""
    lines = (CHECKOUT / "deploy" / "studio.env.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("STUDIO_", "DJANGO_"))}
    environment |= given | {
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "STUDIO_SECRET_KEY": secrets.token_urlsafe(48),
        "STUDIO_DATA_DIR": str(tmp_path_factory.mktemp("data")),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def test_deployment_check_is_clean_and_http_leads_to_https(answers: list[list[object]]):
    assert answers[0] == [301, "https://studio.example.org/login/"]


def test_browsers_are_told_to_stay_with_https(answers: list[list[object]]):
    assert answers[1][1] == "max-age=31536000; includeSubDomains"
