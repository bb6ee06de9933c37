"""A tool server over streamable HTTP, in a thread, that counts what it is asked and can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[str, dict[str, Any]], str]
"""A tool's name and arguments → what it says."""


class HttpToolServer:
    def __init__(self) -> None:
        self.tools = [tool("order"), tool("look")]
        self.calls: list[tuple[str, dict[str, Any], str, str]] = []
        """Name, arguments, idempotency key and the header of authorization."""
        self.act: Act = lambda name, arguments: f"{name} is done."
        self.garbage = False
        self.address = ""

    def answer(self, message: dict[str, Any], authorization: str) -> dict[str, Any]:
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            given = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            return {"result": {**given, "serverInfo": {"name": "shop", "version": "1"}}}
        if method == "tools/list":
            return {"result": {"tools": self.tools}}
        if method == "tools/call":
            name, arguments = params["name"], params.get("arguments", {})
            key = params.get("_meta", {}).get("pi-bench.studio/idempotency-key", "")
            self.calls.append((name, arguments, key, authorization))
            said = self.act(name, arguments)
            return {"result": {"content": [{"type": "text", "text": said}], "isError": False}}
        return {"error": {"code": -32601, "message": "Method not found"}}


def tool(name: str, description: str = "") -> dict[str, Any]:
    return {"name": name, "description": description or f"To {name}.", "inputSchema": {"type": "object"}}


@contextmanager
def serving_tools(server: HttpToolServer) -> Iterator[HttpToolServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if server.garbage:
                self._send(200, b"<h1>It works!</h1>")
            elif "id" not in message:
                self._send(202, b"")
            else:
                told = server.answer(message, self.headers.get("Authorization", ""))
                self._send(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}).encode())

        def do_GET(self) -> None:
            self._send(405, b"")

        do_DELETE = do_GET

        def _send(self, status: int, content: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # whoever asked is gone

        def log_message(self, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.address = f"http://127.0.0.1:{listening.server_address[1]}/mcp"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
