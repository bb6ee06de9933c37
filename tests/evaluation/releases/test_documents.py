"""What a pack says of itself: whatever people wrote is shown as they wrote it, and read as they wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evaluation.releases.documents.changelog import changelog_file
from evaluation.releases.documents.citation import author, citation_file, yaml_text
from evaluation.releases.documents.data_card import data_card_file
from evaluation.releases.documents.licence import licence_file
from evaluation.releases.documents.markdown import inline, paragraphs, printable, quote, table
from evaluation.releases.documents.readme import readme_file
from evaluation.releases.documents.statistics import statistics_file
from studio.domain.credits import LICENCES

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(1)) ![x](http://x/y.png) # no heading\n---\n- [ ] *x*\n"
    "| a | b |\n|--|--|\n``` `code` &lt; $x$ \\ ~~x~~\n\n> x\n1. x\n\u202eevil\x07 {{7*7}}"
)
texts = st.text(alphabet=st.one_of(st.sampled_from("\\`*_[]<>#+-=.!|&~$(){}:\n 1a\"'\t"), st.characters()), max_size=60)


def tokens(source: str) -> list[Token]:
    return [inner for token in MARKDOWN.parse(source) for inner in (token, *(token.children or ()))]


def words(text: str) -> str:
    return " ".join(printable(text).split())


@given(texts)
def test_inline_text_is_one_paragraph_that_reads_as_it_was_written(text: str):
    found = tokens(inline(text))

    kinds = {token.type for token in found}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    assert "".join(token.content for token in found if token.type in ("text", "text_special")) == words(text)


@given(texts)
def test_cell_of_a_table_stays_one_cell(text: str):
    found = tokens(table(["A", "B"], [[text, 1], ["y", 2_000]]))

    cells = [token for token in found if token.type == "td_open"]
    assert len(cells) == 4
    assert not {"html_inline", "link_open", "image", "code_inline", "em_open"} & {token.type for token in found}


@given(texts)
def test_paragraphs_have_no_markup_but_lists(text: str):
    kinds = {token.type for token in tokens(paragraphs(text))}

    assert kinds <= {
        *("paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }


@given(texts)
def test_quoted_text_is_one_block_of_code(text: str):
    [block] = MARKDOWN.parse(quote(text))

    assert (block.type, block.content.rstrip("\n")) == ("fence", printable(text).strip("\n").rstrip("\n"))


@given(texts)
def test_yaml_reads_texts_as_they_were_written(text: str):
    given_values: dict[str, Any] = {"title": text, "authors": [{"name": text}], "is": True}

    assert yaml.safe_load(yaml_text(given_values)) == {
        "title": printable(text),
        "authors": [{"name": printable(text)}],
        "is": True,
    }


def test_name_with_a_comma_is_cited_as_a_person():
    assert author("Lovelace, Ada") == {"family-names": "Lovelace", "given-names": "Ada"}
    assert author("The Bakery Team") == {"name": "The Bakery Team"}
    assert author("Bakers, ") == {"name": "Bakers, "}


def hostile_manifest() -> dict[str, Any]:
    prose = ("introduction", "purpose", "making", "limits", "sanitisation", "validation", "contact")
    return {
        "benchmark": {"slug": "b", "name": HOSTILE, "description": HOSTILE},
        "version": "1.0",
        "released": "2026-11-28",
        "canary": "0e6f7a3e-0000-4000-8000-000000000000",
        "credits": {
            "licence": "own",
            "licence_text": HOSTILE,
            "contributors": [HOSTILE],
            "file_origins": [{"path": HOSTILE, "source": HOSTILE, "licence": ""}],
            **dict.fromkeys(prose, HOSTILE),
        },
        "totals": {
            **dict.fromkeys(("personas", "tasks", "hidden_intents", "checklist_items"), 1),
            **dict.fromkeys(("grader_checks", "dependency_groups"), 0),
        },
        "statistics": {
            "personas": [
                {
                    "persona": HOSTILE,
                    "name": HOSTILE,
                    "occupation": HOSTILE,
                    "tasks": 1,
                    "groups": 0,
                    "local": 1,
                    **dict.fromkeys(("persistent", "rubric", "rule", "dependencies", "files", "tools", "skills"), 1),
                }
            ],
            "tools": [{"name": HOSTILE, "domain": "x", "description": HOSTILE, "personas": 1, "tasks": 0}],
            "skills": [{"name": HOSTILE, "description": HOSTILE, "personas": 1, "tasks": 0}],
            "categories": [{"code": HOSTILE, "name": HOSTILE, "tasks": 1}],
        },
        "tasks": [{"persona": "p", "task": "t", "approved_by": [HOSTILE]}],
        "made": {
            "authors": 1,
            "versions": 2,
            "model_help": [{"model": HOSTILE, "scripted": False, "texts": 3, "edited": 1}],
        },
        "evidence": {
            "protocol": "paper",
            "pilots": [{"agent": HOSTILE, "judge": HOSTILE, "runs": 3, "scores": {"strict": {"proc": 0.5}}}],
            "audits": {
                "decisions": 3,
                "disagreed": 1,
                "not_enough_shown": 0,
                "in_truth": {"decisions": 0, "disagreed": 0},
            },
        },
        "validation": {
            "tasks": 2,
            "validated": [{"persona": HOSTILE, "task": HOSTILE}],
            "models": [HOSTILE],
            "not_validated": [{"persona": HOSTILE, "task": HOSTILE, "why": HOSTILE}],
        },
        "exceptions": [
            {"problem": {"message": HOSTILE}, "reason": HOSTILE, "by": HOSTILE, "scope": "task", "since": HOSTILE}
        ],
        "set_aside": [{"message": HOSTILE, "persona": "p", "task": "t", "by": HOSTILE, "reason": HOSTILE}],
        "changes": {"notes": HOSTILE, "tasks": {"rerun": [HOSTILE], "words": []}},
    }


@pytest.mark.parametrize("name", ["readme", "data card", "statistics", "changelog"])
def test_hostile_text_is_never_markup_of_a_document(name: str):
    manifest = hostile_manifest()
    content = {
        "readme": lambda: readme_file(manifest, None, ["flat/tasks.jsonl"]),
        "data card": lambda: data_card_file(manifest),
        "statistics": lambda: statistics_file(manifest),
        "changelog": lambda: changelog_file(manifest, [manifest]),
    }[name]().decode()

    body = content.split("---\n\n", 1)[1] if name == "readme" else content
    found = tokens(body)
    html = [token.content for token in found if token.type in ("html_inline", "html_block")]
    assert [text.strip() for text in html] == [re.findall("<!--.*-->", body)[-1]], "only the canary is HTML"
    links = [token.attrs["href"] for token in found if token.type == "link_open"]
    assert all(str(link).endswith((".md", ".cff", "LICENSE")) for link in links)
    assert not [token for token in found if token.type in ("image", "em_open", "blockquote_open", "ordered_list_open")]
    assert "\u202e" not in content and "\x07" not in content
    assert manifest["canary"] in content


def test_heads_of_readme_and_citation_are_yaml_with_the_texts_as_written():
    manifest = hostile_manifest()

    head = yaml.safe_load(readme_file(manifest, None, ["flat/tasks.jsonl", "flat/personas.jsonl"]).split(b"---\n")[1])
    citation = yaml.safe_load(citation_file(manifest))

    assert head["pretty_name"] == citation["title"] == printable(HOSTILE)
    assert [config["config_name"] for config in head["configs"]] == ["tasks", "personas"]
    assert citation["cff-version"] == "1.2.0" and citation["date-released"] == "2026-11-28"
    assert "license" not in citation, "a licence of its own has no SPDX identifier"
    assert len(citation["authors"]) == 1
    assert json.dumps(citation)


def test_licence_names_files_from_elsewhere_and_what_is_unknown():
    manifest = hostile_manifest()
    manifest["credits"] |= {"licence": "", "licence_text": "", "contributors": ["Ada"]}
    manifest["credits"]["file_origins"] = [{"path": "p/a.csv", "source": "A book", "licence": ""}]

    text = licence_file(manifest).decode()

    assert "No licence has been given." in text and "Copyright: Ada" in text
    assert "data/p/a.csv\n    from: A book\n    licence: unknown" in text
    manifest["credits"]["licence"] = "CC-BY-4.0"
    assert "SPDX-License-Identifier: CC-BY-4.0" in licence_file(manifest).decode()


@pytest.mark.parametrize("licence", LICENCES)
def test_licence_has_its_text_and_those_of_files_from_elsewhere(licence: str):
    manifest = hostile_manifest()
    manifest["credits"] |= {"licence": licence, "licence_text": "", "contributors": ["Ada"]}
    manifest["credits"]["file_origins"] = [{"path": "p/a.csv", "source": "A book", "licence": "MIT"}]

    text = licence_file(manifest).decode()

    assert len(text) > 1_000
    assert text.count("Permission is hereby granted, free of charge") == 1
    assert f"Copyright (c) {manifest['released'][:4]} Ada" in text
    assert "<" not in text.split("=" * 80, 1)[1]
