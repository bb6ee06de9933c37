"""The architecture diagrams are current, and drawn as described."""

from __future__ import annotations

import grimp
import pytest

from studio.dev.architecture import APPS, PAGE, circles_of, merge_rooms, pictures, reduce_arrows, render


def test_diagrams_in_the_page_are_current() -> None:
    assert render(PAGE.read_text(), pictures()) == PAGE.read_text(), "run `make docs`"


def test_page_without_a_placeholder_for_a_diagram_is_an_error() -> None:
    with pytest.raises(LookupError):
        render("# Architecture", {"apps": "flowchart TB"})


def test_arrow_that_follows_from_others_is_left_out() -> None:
    assert reduce_arrows({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_rooms_in_a_circle_share_a_box() -> None:
    rooms = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "views": {"a"}}
    assert circles_of(rooms) == [{"b", "c"}]
    assert merge_rooms(rooms) == {"a": {"b + c"}, "b + c": set(), "views, api, forms, …": {"a"}}


def test_no_modules_import_one_another_in_a_circle() -> None:
    imports = grimp.build_graph(*APPS, cache_dir=None)  # those for type checkers, too
    graph = {module: set(imports.find_modules_directly_imported_by(module)) for module in imports.modules}

    assert circles_of(graph) == []
