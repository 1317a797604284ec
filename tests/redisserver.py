"""A real Redis for tests: on a free loopback port, in a folder of its own."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

__all__ = ["MISSING", "Cut", "RedisServer", "find_redis"]

#: Why a test is skipped that needs it.
MISSING = "no redis-server here (Debian: apt-get install redis-server)"


def find_redis() -> str | None:
    """Return where redis-server is, or None."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


class RedisServer:
    """Starts it, stops it, and starts it again with what it had.

    With ``durable`` it writes an append-only file, and survives :meth:`kill`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        durable: bool = False,
        password: str = "",
        socket: Path | None = None,
    ) -> None:
        self.folder = folder
        self.port = _free_port()
        self.password = password
        self._options = ["--appendonly", "yes" if durable else "no"]
        if socket is not None:
            self._options += ["--unixsocket", str(socket)]
        if password:
            self._options += ["--requirepass", password]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        user = f":{self.password}@" if self.password else ""
        return f"redis://{user}127.0.0.1:{self.port}/0"

    def start(self) -> None:
        server = find_redis()
        assert server is not None, MISSING
        self._process = subprocess.Popen(
            [server, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--dir", str(self.folder), *self._options],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as sock:
                    sock.sendall(b"PING\r\n")
                    if sock.recv(64)[:1] in (b"+", b"-"):
                        return
            except OSError:
                pass
            time.sleep(0.02)
        raise AssertionError("redis-server does not answer")

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


class Cut:
    """A line to a port of this machine that can be cut, and mended."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._is_cut = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.cut()
        self._listener.close()

    def cut(self) -> None:
        """End every connection, and refuse new ones."""
        with self._lock:
            self._is_cut = True
            for sock in self._open:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self) -> None:
        """Let connections through again."""
        self._is_cut = False

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return  # closed
            try:
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                if self._is_cut:
                    near.close()
                    far.close()
                    continue
                self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with self._lock:
            self._open -= {source, sink}
        for sock in (source, sink):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
