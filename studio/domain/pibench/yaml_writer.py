"""Writes documents as YAML that reads back the same, with long texts as blocks where possible."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

import yaml

from studio.domain.pibench.encoding import Encoded, decode
from studio.domain.pibench.yaml_emitter import NotOrdinaryError, emit_yaml
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.problems import Report

_NUMBER_ELSEWHERE = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|0o[0-7]+|0x[0-9a-fA-F]+")
"""Numbers in YAML 1.2 that are text in PyYAML, or the other way round."""


class _OrderedSet(dict[Any, None]):
    """An ordered set, so that output is deterministic."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


class _PlainDumper(_Dumper):
    """Every text on one line, quoted if necessary."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if _can_be_block(value):
        style = "|"
    elif _NUMBER_ELSEWHERE.fullmatch(value):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _plain_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"')


def _can_be_block(value: str) -> bool:
    """A block preserves a text only without unusual line breaks and without white space at the ends of lines."""
    if "\n" not in value.rstrip("\n") and not value.endswith("\n"):
        return False
    if not value.strip() or value[0] in " \n\t" or re.search("[\r\x85\u2028\u2029\ufeff]", value):
        return False
    return not any(line != line.rstrip() for line in value.split("\n"))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_OrderedSet, lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:set", value))
_PlainDumper.add_representer(_OrderedSet, _Dumper.yaml_representers[_OrderedSet])
_PlainDumper.add_representer(str, _plain_text)


def dump_yaml(document: Encoded) -> bytes:
    """YAML in UTF-8. Raises ValueError if it would not read back the same, which would be a defect here."""
    with suppress(NotOrdinaryError):
        return emit_yaml(document).encode()
    value = decode(document, make_set=_OrderedSet.fromkeys)
    for dumper in (_Dumper, _PlainDumper):
        data = yaml.dump(
            value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=False
        ).encode()
        report = Report("")
        node = parse_yaml(data, report)
        if node is not None and not report.errors and is_identical(node.value, document):
            return data
    raise ValueError("this document cannot be written as YAML")


def is_identical(a: Encoded, b: Encoded) -> bool:
    """Unlike ``==``, distinguishes key order and types of numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(is_identical(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_identical, a, b))
    return type(a) is type(b) and a == b and repr(a) == repr(b)
