"""A headless Chromium that opens one page and tells what it saw, over the DevTools pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from contextlib import contextmanager

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page:
    """A tab; ``told`` holds the console's messages, errors and requests."""

    def __init__(self, read, write):
        self._read, self._write = read, write
        self._sent = 0
        self._rest = b""
        self._session = None
        self.told = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _next(self):
        while b"\0" not in self._rest:
            assert select.select([self._read], [], [], 60)[0], "the browser says nothing"
            part = os.read(self._read, 2**16)
            assert part, "the browser ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _keep(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.told.append(("request", given["request"]["url"].partition(",")[0]))
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.told.append((method, json.dumps(given)))
        return method

    def call(self, method, **options):
        """Return what a method of the protocol returns."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": options}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                return answer["result"]
            self._keep(answer)

    def show(self, address, width, height=844, *, dark=False):
        """Open an address on a screen of this size and wait until all is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)
        while self._keep(self._next()) != "Page.loadEventFired":
            pass

    def value(self, expression):
        """Return what an expression of JavaScript is."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"][
            "value"
        ]

    def picture(self, *, whole=True):
        """Return a PNG of the page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def printed(self):
        """Return a PDF of the page."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])


@contextmanager
def browsing(folder):
    """Run a browser with its profile in an empty folder, and give its page."""
    # The protocol is spoken over the descriptors 3 and 4.
    command = ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1', "sh", str(CHROMIUM)]
    with subprocess.Popen(
        [*command, *QUIET, f"--user-data-dir={folder}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield Page(process.stdout.fileno(), process.stdin.fileno())
        finally:
            process.terminate()
            process.wait(30)
