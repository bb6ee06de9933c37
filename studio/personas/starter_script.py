"""The text of a new grader script: a working example with an explanation."""

STARTER_SCRIPT = '''"""What has the agent to do with its tools? Say it here in a sentence.

The studio calls score() with the tool calls of a session, the oldest first:

    [{"tool_name": "write_file", "call": {"path": "letter.md", "content": "…"}, "result": "…"}, …]

It returns each key with 1 (earned) or 0 (not earned). For an empty list it returns every key with 0: that is how
the studio learns which keys there are. Each key counts like a checklist item of weight 1, beside the checklist.

Ask only for what the request, an intent or a file says. Look at who gets a message, and count what is sent, not
what is drafted. Python's standard library and PyYAML are there; the network is not.
"""

FILE = "letter.md"


def score(tools_history):
    earned = {"letter_written": 0, "letter_names_the_deadline": 0}
    for entry in tools_history:
        call = entry.get("call") or {}
        if tool_of(entry) == "write_file" and str(call.get("path", "")).endswith(FILE):
            earned["letter_written"] = 1
            if "deadline" in str(call.get("content", "")).lower():
                earned["letter_names_the_deadline"] = 1
    return earned


def tool_of(entry):
    """The tool's name as the tools list has it; apps are called with a prefix."""
    return str(entry.get("tool_name", "")).removeprefix("mcp_appworld_")
'''
