from __future__ import annotations

import pytest
import yaml

from studio.domain.pibench.encoding import decode
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.problems import Report


def errors(text: str | bytes) -> list[tuple[int | None, int | None, str]]:
    report = Report("f.yaml")
    parse_yaml(text.encode() if isinstance(text, str) else text, report)
    return [(error.line, error.column, error.message) for error in report.errors]


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "“a” appears twice, first in line 1"),
        ("1: a\ntrue: b\n", 2, 1, "appears twice"),
        ("a: !!python/object:os.system x\n", 1, 4, "tag “!!python/object:os.system”"),
        ("- !mine {a: 1}\n", 1, 3, "tag “!mine”"),
        ("a: !!omap [b: 1]\n", 1, 4, "tag “!!omap”"),
        ('a: "x\\0y"\n', 1, 4, "U+0000"),
        ("a: 1\n\nb: \x07\n", 3, 4, "U+0007"),
        (b"a: 1\nb: \xff\n", 2, 4, "0xff is not UTF-8"),
        ("a: b: c\n", 1, 5, "mapping values are not allowed"),
        ("a:\n\t- b\n", 2, 1, "cannot start any token"),
        ("a: [1, 2\nb: 3\n", 2, 2, "Not valid YAML"),
        ("a: *gone\n", 1, 4, "“*gone” refers to nothing"),
        ("a: &a [*a]\n", 1, 8, "refers to something it is a part of"),
        ("--- a\n--- b\n", 2, 1, "more than one document"),
        ("", 1, 1, "empty"),
        ("a: 2020-13-41\n", 1, 4, "looks like a timestamp"),
        ("? [a, b]\n: c\n", 1, 3, "A key cannot be a list"),
        ("a:\n  <<: 3\n", 2, 7, "“<<” takes over a mapping"),
    ],
)
def test_error_names_line_and_column(text: str | bytes, line: int, column: int, expected: str) -> None:
    [(at_line, at_column, message)] = errors(text)

    assert (at_line, at_column) == (line, column)
    assert expected in message


def test_all_problems_of_a_document_are_reported() -> None:
    problems = errors('a: 1\na: 2\nb: !x 1\nc: "\\0"\n')

    assert sorted(problem[:2] for problem in problems) == [(2, 1), (3, 4), (4, 4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "a: " + "[" * 100 + "]" * 100,
        "\n".join(["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]),
        "\n".join(["a0: &a0 []"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]),
        "a: &a x\nb: [" + "*a, " * 2_000 + "]",
        "a: &a " + "x" * 1_000_000 + "\nb: [" + "*a, " * 20 + "]",
        "x: [" + "1, " * 200_000 + "]",
    ],
    ids=[
        "deep, open",
        "deep",
        "billion laughs",
        "laughs without a letter",
        "many aliases",
        "long text repeated",
        "many values",
    ],
)
def test_bombs_are_rejected_before_they_expand(text: str) -> None:
    [(line, _, _)] = errors(text)

    assert line is not None


@pytest.mark.parametrize(
    "text",
    [
        "a: 0x1F\nb: 0o17\nc: 1_000\nd: 190:20:30\n",
        "a: 1.5\nb: .inf\nc: -.inf\nd: 1e3\ne: 1.0e+3\n",
        "a: yes\nb: 'yes'\nc: ~\nd:\ne: null\n",
        "a: 2001-12-14\nb: 2001-12-14t21:59:43.10-05:00\nc: 2001-12-14 21:59:43.1 Z\n",
        "a: !!binary aGVsbG8=\nb: !!str 12\nc: !!float 3\n",
        "a: !!set {x, y}\n",
        "1: a\n2.5: b\nnull: c\n2001-01-01: d\n$yaml: e\n",
        "base: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}\nd: {<<: [*b, {y: 4, z: 5}]}\n",
        "a: &b {x: 1}\n" + "".join(f"m{n}: {{<<: [*b, {{y: 4}}]}}\nn{n}: {{<<: *b, x: [3, z]}}\n" for n in range(9)),
        "a: |\n  x\n   y\n\n  z\nb: >-\n  folded\n  text\n",
        "a: \ufeffx\n",
        "\ufeffa: b\r\nc: d\r\n",
    ],
)
def test_values_equal_those_of_pyyaml(text: str) -> None:
    report = Report("")

    node = parse_yaml(text.encode(), report)

    assert node is not None and not report.errors
    assert decode(node.value) == yaml.safe_load(text)
    assert repr(decode(node.value)) == repr(yaml.safe_load(text)) or "!!set" in text


def test_utf_16_is_read() -> None:
    node = parse_yaml("a: é\n".encode("utf-16"), Report(""))

    assert node is not None and node.value == {"a": "é"}
