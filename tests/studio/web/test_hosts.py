from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("address", ["/", "/login/", "/api/benchmarks/", "/static/css/base.css", "/nowhere/"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "a b", "x/../y"])
def test_foreign_host_is_answered_with_a_sentence(host: str, address: str, debug: bool, settings):
    settings.DEBUG = debug

    answer = Client(raise_request_exception=False).get(address, headers={"Host": host})

    assert answer.status_code == 400
    assert "This is not an address of the studio." in answer.content.decode()
    assert len(answer.content) < 500
