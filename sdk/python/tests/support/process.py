"""Programs of a test."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def environment(more: dict[str, str]) -> dict[str, str]:
    """What a process sees: nothing of ours but what the system needs."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ} | more


class Program:
    """A process that says where it listens."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(command, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._lines: list[str] = []
        self._listens = threading.Event()
        self.url = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._listens.wait()
        if not self.url:
            raise RuntimeError(f"{command[0]} ended at its start:\n{self.output()}")

    def output(self) -> str:
        return "".join(self._lines)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)
            found = re.match(r"listening on (http://\S+)", line)
            if found and not self.url:
                self.url = found[1]
                self._listens.set()
        self._listens.set()


@contextmanager
def ended() -> Iterator[list[Program]]:
    started: list[Program] = []
    try:
        yield started
    finally:
        for program in reversed(started):
            program.stop()


def run_to_end(command: list[str], env: dict[str, str], cwd: str | None = None) -> tuple[int, str]:
    """What a program prints until it ends by itself, after its status."""
    done = subprocess.run(command, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd, timeout=300)
    return done.returncode, done.stdout
