"""Files and batches, as OpenAI's Batch API has them, in front of any service: each line is answered as a request.

Read in developers.openai.com/api/docs (Batch guide, API reference of batches and files), openai/openai-python@e43b422
and, as Alibaba's Model Studio copies it, help.aliyun.com (OpenAI-compatible Batch). November 2026.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.zoo.service import CREATED, KEY, Body, Reply, Service

SEAT = "batch"


class BatchDesk:
    """Answers what is open when ``work`` is called, or at once."""

    def __init__(self, service: Service, *, at_once: bool = True) -> None:
        self.service = service
        self.at_once = at_once
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Body] = {}
        self.refuses: str = ""
        """A sentence with which batches fail as a whole."""
        self.expires = 0
        """Lines of the next batch that are not answered in time."""
        self.loses_answer = False
        """The next batch is made, but its maker is not told."""

    def post(self, path: str, authorization: str, content: bytes) -> Reply:
        if authorization != f"Bearer {KEY}":
            return _reply({"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}, 401)
        if path == "files":
            return self._upload(content)
        return self._create(json.loads(content))

    def get(self, path: str) -> Reply:
        kind, _, rest = path.partition("/")
        name, _, what = rest.partition("/")
        if kind == "files" and what == "content":
            return Reply(self.files[name], content_type="application/octet-stream")
        if kind == "batches" and name.split("?")[0]:
            if self.at_once:
                self.work()
            return _reply(self.batches[name])
        found = list(self.batches.values())[::-1]
        return _reply({"object": "list", "data": found, "has_more": False, "first_id": None, "last_id": None})

    def work(self) -> None:
        for batch in self.batches.values():
            if batch["status"] == "in_progress":
                self._answer(batch)

    def _upload(self, content: bytes) -> Reply:
        part = re.search(rb'filename="[^"]*"\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', content, re.S)
        assert part is not None and b"batch" in content
        name = f"file-{len(self.files)}"
        self.files[name] = part[1]
        document = {"id": name, "object": "file", "bytes": len(part[1]), "created_at": CREATED, "purpose": "batch"}
        return _reply(document | {"filename": "questions.jsonl", "status": "processed"})

    def _create(self, body: Body) -> Reply:
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert len({line["custom_id"] for line in lines}) == len(lines) <= 50_000
        assert all((line["method"], line["url"]) == ("POST", body["endpoint"]) for line in lines)
        assert body["completion_window"] == "24h"
        name = f"batch-{len(self.batches)}"
        document = {"id": name, "object": "batch", "created_at": CREATED, "status": "in_progress", **body}
        document["request_counts"] = {"total": len(lines), "completed": 0, "failed": 0}
        if self.refuses:
            problem = {"code": "token_limit_exceeded", "message": self.refuses, "param": None, "line": None}
            document |= {"status": "failed", "errors": {"object": "list", "data": [problem]}}
        self.batches[name] = document
        if self.loses_answer:
            self.loses_answer = False
            return Reply(b"", 500)
        return _reply(document)

    def _answer(self, batch: Body) -> None:
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        good: list[Body] = []
        bad: list[Body] = []
        late, self.expires = self.expires, 0
        for at, line in enumerate(lines):
            row: dict[str, Any] = {"id": f"batch_req_{at}", "custom_id": line["custom_id"], "error": None}
            if at < late:
                words = "This request could not be executed before the completion window expired."
                bad.append(row | {"response": None, "error": {"code": "batch_expired", "message": words}})
                continue
            reply = self.service.post(SEAT, line["url"].removeprefix("/v1/"), f"Bearer {KEY}", line["body"])
            assert isinstance(reply.body, bytes)
            answer = {"status_code": reply.status, "request_id": f"req_{at}", "body": json.loads(reply.body)}
            (good if reply.status == 200 else bad).append(row | {"response": answer})
        batch["status"] = "expired" if late else "completed"
        batch["request_counts"] = {"total": len(lines), "completed": len(good), "failed": len(bad)}
        for field, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[field] = f"file-{len(self.files)}"
                self.files[batch[field]] = b"\n".join(json.dumps(row).encode() for row in rows) + b"\n"


def _reply(document: Body, status: int = 200) -> Reply:
    return Reply(json.dumps(document).encode(), status)
