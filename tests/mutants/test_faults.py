"""What `make mutants` would plant."""

from __future__ import annotations

import pytest

from tests.mutants.__main__ import AREAS, CHECKOUT
from tests.mutants.faults import faults_of


def planted(path: str, text: str) -> set[str]:
    return {fault.planted(text) for fault in faults_of(path, text)}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "a = b == c", {"a = b != c"}),
        ("a.py", "ä = 'é' not in c", {"ä = 'é' in c"}),
        ("a.py", "a = b and c", {"a = b or c"}),
        ("a.py", "a = b < 2", {"a = b <= 2", "a = b < 3"}),
        ("a.py", "if a:\n    f()", {"if not (a):\n    f()", "if a:\n    pass"}),
        ("a.py", "a = [b for b in c if b]", {"a = [b for b in c if True]"}),
        ("a.py", "a = rows.select_for_update().get", {"a = rows.get"}),
        ("a.py", "a = b(wait=True)", {"a = b(wait=False)"}),
        ("a.sql", "SELECT 1\n  AND a <> b;", {"SELECT 1\n", "SELECT 1\n  AND a = b;"}),
        ("a.js", "if (a === b) c();", {"if (a !== b) c();", "if (!(a === b)) c();"}),
        ("a.js", "  save(a);\n", {"\n"}),
        ("a.html", "{% if a.b %}x{% endif %}", {"{% if not a.b %}x{% endif %}"}),
        ("a.html", "{{ task.title }}{{ task.number }}", {"{{ task.title|safe }}{{ task.number }}"}),
        ("a.html", "{% csrf_token %}", {""}),
    ],
)
def test_a_file_has_these_faults(path, text, expected):
    assert planted(path, text) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", '"""1 < 2"""\nlog.info("x", 3)\na: "b < c"'),
        ("a.py", "if TYPE_CHECKING:\n    import a"),
        ("a.py", "class A:\n    class Meta:\n        b = 1"),
        ("a.py", "a = f'{b == c}'"),
        ("a.js", "// if (a === b) c();\n/* a && b */"),
        ("a.sql", "-- AND a <> b"),
        ("a.html", "{# {{ title }} #}"),
    ],
)
def test_what_is_no_behaviour_has_none(path, text):
    assert faults_of(path, text) == []


@pytest.mark.parametrize("area", AREAS.values(), ids=AREAS)
def test_every_area_has_files_and_tests(area):
    assert all(list(CHECKOUT.glob(pattern)) for pattern in area["files"])
    assert all((CHECKOUT / path).exists() for path in area["tests"])
