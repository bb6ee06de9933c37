"""Runs in the sandbox: one turn of nanobot, the scaffold of the paper, from its package ``nanobot-ai``.

Its files and its shell are its own, over the workspace; its model and the tools of apps come over the two sockets.
"""

# mypy: ignore-errors
# It is read as text and run where nanobot is, not here.

import asyncio
import importlib
import importlib.metadata
import json
import os
import shutil
import sys
from pathlib import Path

RELAY = """
import socket, sys, threading
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    def hear():
        while data := line.recv(65536):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    threading.Thread(target=hear, daemon=True).start()
    while data := sys.stdin.buffer.raw.read(65536):
        line.sendall(data)
"""
SERVER = "appworld"
WRITTEN_FOR = "0.3.5"
"""The version of nanobot-ai. Only what it documents is used: its class, its hooks, and its settings."""
MODEL, TOOLS = os.environ["STUDIO_MODEL_SOCKET"], os.environ["STUDIO_TOOLS_SOCKET"]


def configured(tools):
    """nanobot's settings: nothing of its own that reaches out."""
    named = [tool["function"]["name"].removeprefix(f"mcp_{SERVER}_") for tool in tools]
    server = {"command": sys.executable, "args": ["-c", RELAY, TOOLS], "toolTimeout": 300, "enabledTools": named}
    return {
        "agents": {
            "defaults": {"workspace": str(Path.cwd()), "model": "studio", "provider": "custom", "timezone": "UTC"}
        },
        "providers": {"custom": {"apiKey": "none", "apiBase": "http://studio/v1"}},
        "tools": {
            "web": {"enable": False},
            "restrictToWorkspace": True,
            "mcpServers": {SERVER: server} if named else {},
        },
    }


class Turn:
    def __init__(self, line):
        self.line = line
        self.did = []

    async def take(self):
        from nanobot import Nanobot
        from nanobot.agent.hook import AgentHook

        did, made = self.did, {}

        class Watch(AgentHook):
            """All calls in the order they were begun: its own with what they gave, others as recorded by the studio."""

            async def before_execute_tool(self, context, tool_call, tool, params):
                if tool_call.name.startswith("mcp_"):
                    made[tool_call.id] = {"recorded": True}
                else:
                    made[tool_call.id] = {"name": tool_call.name, "arguments": dict(params or {}), "result": ""}
                did.append(made[tool_call.id])

            async def after_execute_tool(self, context, tool_call, tool, params, result):
                made[tool_call.id]["result"] = str(result)

            async def on_execute_tool_error(self, context, tool_call, tool, params, error):
                made[tool_call.id] |= {"result": str(error), "ok": False}

            async def after_iteration(self, context):
                for call, result in zip(context.tool_calls, context.tool_results, strict=False):
                    if call.id not in made:  # it was refused before it began
                        made[call.id] = {"name": call.name, "result": str(result), "ok": False}
                        if isinstance(call.arguments, dict):
                            made[call.id]["arguments"] = call.arguments
                        did.append(made[call.id])

        # It wants its conversations outside of the workspace, of which alone something stays.
        home, stays = Path.home() / ".nanobot", Path.cwd() / ".nanobot" / "sessions"
        home.mkdir(parents=True, exist_ok=True)
        if stays.is_dir():
            shutil.copytree(stays, home / "sessions", dirs_exist_ok=True)
        (home / "config.json").write_text(json.dumps(configured(self.line["tools"])))
        bot = Nanobot.from_config(home / "config.json", workspace=Path.cwd())
        result = await bot.run(self.line["message"], session_key=f"studio:{self.line['conversation']}", hooks=[Watch()])
        shutil.copytree(home / "sessions", stays, dirs_exist_ok=True)
        if result.error:
            sys.exit(f"nanobot: {result.error}")
        return result.content


def connect_to_studio():
    """Whatever it asks over HTTP goes to the model's socket: there is no network to leave by."""
    for name in ("httpcore", "httpcore2"):
        try:
            pool = importlib.import_module(name).AsyncConnectionPool
        except ImportError:
            continue

        def open_pool(self, *args, _open=pool.__init__, **options):
            _open(self, *args, **{**options, "uds": MODEL, "socket_options": None})

        pool.__init__ = open_pool


def main():
    line = json.loads(sys.stdin.readline())
    out, sys.stdout = sys.stdout, sys.stderr
    connect_to_studio()
    turn = Turn(line)
    try:
        reply = asyncio.run(turn.take())
    except Exception as error:
        installed = importlib.metadata.version("nanobot-ai")
        other = f" This driver was written for {WRITTEN_FOR}." if installed != WRITTEN_FOR else ""
        sys.exit(f"nanobot-ai {installed} cannot be driven ({type(error).__name__}: {error}).{other}")
    print(json.dumps({"reply": reply, "did": turn.did}), file=out, flush=True)
    os._exit(0)  # its background tasks have nothing left to do


if __name__ == "__main__":
    main()
