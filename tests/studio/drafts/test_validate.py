"""What a draft must not hold."""

import pytest

from studio.drafts.validate import DraftError, validate_storable
from tests.factories import a_task_spec


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"title": "bread\0"}, "title", "U+0000"),
        ({"initial_request": "a\ud800b"}, "initial_request", "U+D800"),
        ({"metadata": {"key\0": 1}}, "metadata", "U+0000"),
        ({"metadata": {"list": ["\udfff"]}}, "metadata", "U+DFFF"),
    ],
)
def test_characters_that_the_database_cannot_store_are_named_with_their_field(changes, field, code):
    with pytest.raises(DraftError, match=code.replace("+", r"\+")) as problem:
        validate_storable(a_task_spec().model_copy(update=changes))
    assert problem.value.field == field


def test_text_that_only_spells_such_a_character_is_stored():
    validate_storable(a_task_spec().model_copy(update={"title": "\\u0000", "metadata": {"\\ud800": "\U0001f600"}}))
