"""Drives a Chromium without a window, for tests of the report and its screenshots: no driver, and no network port.

Chromium reads commands of its DevTools protocol from one pipe and writes answers and events to another.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = f"no {', '.join(NAMES[:-1])} or {NAMES[-1]} on the PATH"
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # containers run tests as root, for whom the sandbox does not start
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
# The browser reads from file descriptor 3 and writes to 4.
LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
# Events that say that a page did something it must not do, with where their text is.
COMPLAINTS = {
    "Runtime.consoleAPICalled": lambda event: str([each.get("value") for each in event["args"]]),
    "Runtime.exceptionThrown": lambda event: str(event["exceptionDetails"]["text"]),
    "Log.entryAdded": lambda event: str(event["entry"]["text"]),
    "Page.javascriptDialogOpening": lambda event: f"dialog {event['message']}",
}


class BrowserError(Exception):
    """The browser refused a command, or is gone."""


def find() -> str | None:
    """Return the first Chromium on the PATH."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Page:
    """An open page: what it complained about, and what it asked for."""

    browser: Browser
    session: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def command(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command to the page, and return its answer."""
        return self.browser.command(method, session=self.session, **parameters)

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - any value of JavaScript
        """Return the value of an expression in the page."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self, file: Path) -> None:
        """Write what is in the window as a PNG file."""
        file.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))


class Browser:
    """A running browser."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process, self._write, self._read = process, write, read
        self._number = 0
        self._buffer = b""
        self._pages: dict[str, Page] = {}
        self._loaded: set[str] = set()

    def open(self, url: str, *, width: int, height: int = 900, dark: bool = False, script: bool = True) -> Page:
        """Open a page in a window of this size, and wait until it is loaded."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        self._pages[page.session] = page
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.command(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.command("Emulation.setEmulatedMedia", features=[scheme])
        page.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        page.command("Emulation.setScriptExecutionDisabled", value=not script)
        page.command("Page.navigate", url=url)
        while page.session not in self._loaded:
            self._receive()
        return page

    def command(self, method: str, *, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Send a command and return its answer; events that come before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        text = json.dumps(message | ({"sessionId": session} if session else {}))
        os.write(self._write, text.encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            if not part:
                raise BrowserError(f"the browser ended with {self._process.wait()}")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        page = self._pages.get(message.get("sessionId", ""))
        if page:
            self._note(page, message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, page: Page, method: str, event: dict[str, Any]) -> None:
        if method in COMPLAINTS:
            page.complaints.append(COMPLAINTS[method](event))
        elif method == "Network.requestWillBeSent":
            page.requests.append(event["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded.add(page.session)


def _pipe() -> tuple[int, int]:
    """Make a pipe whose numbers are not those that the browser expects."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it afterwards."""
    program = find()
    if program is None:
        raise BrowserError(MISSING)
    read_commands, write = _pipe()
    read, write_answers = _pipe()
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(  # noqa: S603 - the browser that was found, with arguments of our own
            [
                *(sys.executable, "-c", LAUNCH, str(read_commands), str(write_answers)),
                *(program, *FLAGS, f"--user-data-dir={profile}"),
            ],
            pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        try:
            yield Browser(process, write, read)
        finally:
            # It ends when nobody can send commands any more.
            os.close(write)
            os.close(read)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
