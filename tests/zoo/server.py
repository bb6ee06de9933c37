"""Serves services of the zoo over HTTP, one address each: ``http://127.0.0.1:PORT/SEAT/v1``.

A seat is who asks: an agent, a user and a judge with addresses of their own are told apart in the service's log.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.zoo.batches import BatchDesk
from tests.zoo.service import Reply, Service


class Zoo:
    def __init__(self, service: Service, port: int) -> None:
        self.service = service
        self.desk = BatchDesk(service)
        self._port = port

    def url(self, seat: str = "agent") -> str:
        return f"http://127.0.0.1:{self._port}/{seat}/v1"


@contextmanager
def playing(service: Service) -> Iterator[Zoo]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with suppress(ConnectionError):  # whoever asked is gone
                super().handle()

        def do_POST(self) -> None:
            _, seat, _, path = self.path.split("/", 3)
            content, key = self.rfile.read(int(self.headers["Content-Length"])), self.headers.get("Authorization", "")
            if path in ("files", "batches"):
                self._send(zoo.desk.post(path, key, content))
            else:
                self._send(service.post(seat, path, key, json.loads(content)))

        def do_GET(self) -> None:
            known, path = self.path.endswith("/models"), self.path.split("/", 3)[-1]
            if path.startswith(("files", "batches")):
                return self._send(zoo.desk.get(path))
            self._send(Reply(json.dumps(service.models()).encode()) if known else Reply(b"{}", 404))

        def _send(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if isinstance(reply.body, bytes):
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                else:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for part in reply.body:
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
            except OSError:
                self.close_connection = True  # whoever asked is gone
            self.close_connection = self.close_connection or reply.drops

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    zoo = Zoo(service, server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield zoo
    finally:
        server.shutdown()
        server.server_close()
