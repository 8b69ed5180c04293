"""An OpenAI-compatible server on a thread that speaks real HTTP, and does as it is told."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Answers each request by the next of its `acts`, and by the last one from then on.

    An act is called with the handler and the body, an object of JSON.
    """

    def __init__(self, *acts: Callable[[Any, dict[str, Any]], None]) -> None:
        self.acts = list(acts)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.bodies.append(body)
                    outer.headers.append(dict(self.headers))
                    act = outer.acts[min(len(outer.bodies), len(outer.acts)) - 1]
                self.path_seen = self.path
                act(self, body)

            def log_message(self, *args: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args: object) -> None:
                pass  # The client left, as it should.

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def reply(status: int, content: bytes, kind: str = "application/json", **headers: str):
    def act(handler: Any, body: dict[str, Any]) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return act


def answer(value: Any, status: int = 200, **headers: str):
    return reply(status, json.dumps(value).encode(), **headers)


def refusal(status: int, message: str, **headers: str):
    return answer({"error": {"message": message, "type": "x", "code": None}}, status, **headers)


def reset(handler: Any, body: dict[str, Any]) -> None:
    """Break the connection off without a word."""
    off = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, off)
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def half(content: bytes):
    """Promise more bytes than are sent."""

    def act(handler: Any, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(2 * len(content)))
        handler.end_headers()
        handler.wfile.write(content)
        handler.close_connection = True

    return act
