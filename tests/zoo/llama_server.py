"""llama.cpp's own server, from a prebuilt wheel: ``python llama_server.py MODEL.gguf PORT CONTEXT``.

It needs the package ``xllamacpp``, and ends when it is told to.
"""

from __future__ import annotations

import signal
import sys

import xllamacpp


def serve(model: str, port: int, context: int) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.port = port
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
