from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluation.tools import Toolbox, Workspace, toolbox_for
from evaluation.tools.apps import World, bound_tools, usable_names
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.general import GENERAL
from evaluation.tools.tool import BOUNDS, Tool


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    return toolbox_for(Workspace(tmp_path_factory.mktemp("ws")), ["fax__send"])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("read_files", "{}", "There is no tool 'read_files'. The nearest: read_file, edit_file, write_file."),
        ("read_file", "{path: x", "Error: The arguments are not JSON"),
        ("read_file", '{"path": "a", "offset": NaN}', "Error: The arguments are not JSON (NaN is not a valid number"),
        ("read_file", "[]", "Error: The arguments are not a JSON object."),
        ("read_file", "", "Error: read_file cannot be called like this: path: Field required."),
        ("read_file", '{"path": "a", "page": 2}', "page: Extra inputs are not permitted"),
        ("read_file", '{"path": "a", "offset": "many"}', "offset: Input should be a valid integer"),
        ("read_file", '{"path": "\\ud800"}', "Error: "),
        ("write_file", '{"path": "a", "content": "\\ud800"}', "Error: "),
        ("read_file", '{"path": ' + "[" * 100_000, "Error: The arguments are not JSON"),
    ],
)
def test_invalid_call_is_reported_to_the_model(toolbox: Toolbox, name: str, arguments: str, message: str):
    record = toolbox.call(name, arguments)

    assert not record.ok
    assert message in record.result


def test_numbers_as_text_are_accepted(toolbox: Toolbox):
    toolbox.call("write_file", '{"path": "lines", "content": "one\\ntwo\\n"}')

    record = toolbox.call("read_file", '{"path": "lines", "offset": "2"}')

    assert (record.ok, record.result, record.arguments) == (True, "two\n", {"path": "lines", "offset": "2"})


def described(tool: Tool) -> Any:
    properties = tool.schema["function"]["parameters"]["properties"]
    return {name: part.get("description") for name, part in properties.items()}


def test_descriptions_name_no_app_tool_that_is_not_offered():
    every = [name for app in APPS.values() for name in app.apis]
    for tool in bound_tools(every[::7]):
        words = re.findall(
            r"[a-z]+(?:_+[a-z]+)+", " ".join(filter(None, [tool.description, *described(tool).values()]))
        )
        named = {word if "__" in word else f"{tool.name.partition('__')[0]}__{word}" for word in words}
        assert named & set(every) <= set(every[::7])

    [download, _] = bound_tools(["gmail__download_attachment", "gmail__show_draft"])
    assert described(download)["attachment_id"] == "From show_draft"
    assert described(download)["file_system_access_token"] is None
    [reply] = bound_tools(["gmail__reply_to_email"])
    assert reply.description == "Reply to an email, in its thread and under its subject."
    assert described(reply)["email_id"] == "Email you answer"
    [search] = bound_tools(["simple_note__search_notes"])
    assert search.description == "Search your notes. The list leaves out their content."


def test_tools_that_need_an_account_of_an_app_that_nobody_can_sign_in_to_are_left_out():
    names = ["amazon__login", "amazon__show_cart", "spotify__login", "spotify__reset_password", "fax__send"]
    names += ["todoist__login", "todoist__show_tasks", "phone__get_current_date_and_time", "read_file"]
    world = World.from_data(
        {
            "amazon": {"accounts": [{"username": "a@example.com", "password": "x"}]},
            "todoist": {"accounts": [{"username": "a@example.com"}]},
        }
    )

    kept = ("amazon__login", "amazon__show_cart", "fax__send", "phone__get_current_date_and_time", "read_file")
    assert usable_names(names, world) == kept
    assert "todoist__show_tasks" in usable_names([*names, "mcp_appworld_todoist__signup"], world)


def test_unbuilt_bound_tools_are_not_offered(toolbox: Toolbox):
    assert not [schema for schema in toolbox.schemas if "fax" in schema["function"]["name"]]


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(
        ["read_file", "write_file", "edit_file", "list_dir", "glob", "grep", "notebook_edit", "cron", "?"]
    ),
    arguments=st.text(max_size=80)
    | st.dictionaries(
        st.sampled_from(["path", "content", "pattern", "old_text", "new_text", "offset", "limit"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    ).map(json.dumps),
)
def test_any_call_gets_an_answer(toolbox: Toolbox, name: str, arguments: str):
    record = toolbox.call(name, arguments)

    assert isinstance(record.result, str)
    assert record.result
    assert record.ok or record.result.startswith("Error: ")


def test_every_parameter_says_what_it_is_and_what_is_checked_at_the_call_is_not_said():
    general = [Tool(tool.name, tool.description, tool.arguments, str) for tool in GENERAL.values()]
    for tool in [*general, *bound_tools(name for app in APPS.values() for name in app.apis)]:
        parameters = tool.schema["function"]["parameters"]["properties"]
        silent = {name for name, part in parameters.items() if not part.get("description")}
        assert silent <= {"access_token"}, tool.name  # each app's login says what it is
        assert not BOUNDS & {key for part in parameters.values() for key in part}, tool.name


def test_parameter_that_may_be_left_out_has_no_null_and_may_be_null_all_the_same():
    [tool] = bound_tools(["gmail__show_inbox_threads"])
    parameters = tool.schema["function"]["parameters"]["properties"]

    assert parameters["read"] == {"description": "True: only read threads; false: only unread", "type": "boolean"}
    assert {"type": "null"} in parameters["archived"]["anyOf"]  # means something else than its default
    assert (parameters["page_limit"]["default"], "default" in parameters["page_index"]) == (5, False)  # 0 says nothing
    assert tool.arguments.model_validate({"read": None, "access_token": "x"})
    with pytest.raises(ValidationError):
        tool.arguments.model_validate({"page_limit": 21, "access_token": "x"})
