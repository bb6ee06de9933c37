"""What is written without PyYAML is what PyYAML writes."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.pibench.yaml_writer import NotOrdinaryError, _Dumper, emit_yaml

PIECES = """a B yes no null ~ - : ' " { [ , & * ! | é << = < x: — “q” 1 0o7 ... --- @ % ` > 2020-01-01""".split()
pieces = st.sampled_from([*PIECES, " ?", ": ", " #", "\n", " ", "\t", "\u2028", "two words"])
texts = st.lists(pieces, max_size=6).map("".join)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


def by_pyyaml(document):
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=False
    )


@pytest.mark.slow
@given(values)
@settings(max_examples=600)
def test_ordinary_documents_are_written_as_pyyaml_writes_them(document):
    try:
        text = emit_yaml(document)
    except NotOrdinaryError:
        return
    assert text == by_pyyaml(document)


def test_a_task_is_ordinary():
    document = {
        "schema_version": "v2",
        "title": "Fees: the harbour's “new” ones",
        "description": "",
        "intent": {"initial_input": "Please see to it.\n\nToday - by 5.\n", "hidden_intent": [{"content": "yes"}]},
        "objectives": {"checklist": [{"criterion": "It is #1", "weight": 2}, {"criterion": "- listed"}], "tools": []},
        "metadata": {},
    }
    assert emit_yaml(document) == by_pyyaml(document)


@pytest.mark.parametrize("document", [{}, [], "text", {"a": 1.5}, {"a": "12"}, {1: "a"}, {"$yaml": "set", "items": []}])
def test_other_documents_are_left_to_pyyaml(document):
    with pytest.raises(NotOrdinaryError):
        emit_yaml(document)
