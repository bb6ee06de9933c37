"""A model server for ``tests.bench.engine``: answers every participant of a session after a fixed latency.

A session over a task of four intents takes 16 calls: three turns of agent with a tool call, agent in words, two
judges of the user; in the fourth the agent calls two tools and the last intent is met.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from typing import Any

INDEX = re.compile(r'<(?:requirement|criterion) index="(\d+)">')
TOOL = {"name": "list_dir", "arguments": "{}"}


def answer(body: dict[str, Any]) -> dict[str, Any]:
    messages = body["messages"]
    system = str(messages[0].get("content"))
    judge = next((kind for kind in ("satisfaction", "follow-up", "checklist") if f"{kind} judge" in system), "")
    if judge:
        asked = next(str(message["content"]) for message in messages if message["role"] == "user")
        indices = [int(index) for index in INDEX.findall(asked)]
        yes = judge == "checklist" or (judge == "satisfaction" and len(indices) == 1)
        entries = [
            {"index": index, "decision": "YES" if yes else "NO", "quote": "", "reason": "So."}
            | ({"style": "Clarify"} if judge == "follow-up" else {})
            for index in indices
        ]
        return {"role": "assistant", "content": json.dumps({"decisions": entries})}
    turns = sum(message["role"] == "user" for message in messages)
    done = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        done += message["role"] == "tool"
    if done < (2 if turns == 4 else 1):
        call = {"id": f"call_{turns}_{done}", "type": "function", "function": TOOL}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": f"Here is the answer for step {turns}. " + "Details follow. " * 20}


class Stub:
    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.calls = self.in_flight = self.most = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head, re.I)
                content = await reader.readexactly(int(length[1])) if length else b""
                if head.startswith(b"GET"):
                    document: dict[str, Any] = {"calls": self.calls, "most": self.most}
                else:
                    document = await self.complete(content)
                text = json.dumps(document).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text)
                )
                writer.write(text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def complete(self, content: bytes) -> dict[str, Any]:
        self.calls += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            body = json.loads(content)
            await asyncio.sleep(self.latency)
            return {
                "id": f"chatcmpl-{self.calls}",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": answer(body), "finish_reason": "stop"}],
                "usage": {"prompt_tokens": len(content) // 4, "completion_tokens": 30, "total_tokens": 30},
            }
        finally:
            self.in_flight -= 1


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=200, help="milliseconds")
    options = parser.parse_args()
    server = await asyncio.start_server(Stub(options.latency / 1000).serve, "127.0.0.1", 0, limit=2**24, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
