"""chromium.py - a page in headless Chromium, by the DevTools protocol over a pipe; Python's own library alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = """--headless=new --no-sandbox --disable-gpu --no-first-run --disable-extensions --disable-background-networking
    --disable-component-update --disable-dev-shm-usage --hide-scrollbars --force-device-scale-factor=1
    --remote-debugging-pipe""".split()
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def find():
    """The browser's path: $CHROMIUM, or what is installed; None where there is none."""
    given = os.environ.get("CHROMIUM")
    return shutil.which(given) if given else next(filter(None, map(shutil.which, NAMES)), None)


class Broken(Exception):
    """The browser is gone, does not answer, or a script threw."""


class Page:
    """One tab. What it asks of the network and says on its console is in `requests` and `complaints`."""

    def __init__(self, width=1280, height=900, limit=60):
        self.limit, self.requests, self.complaints, self.number = limit, [], [], 0
        self.profile = tempfile.mkdtemp(prefix="sm100emu-page-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def descriptors():  # the browser reads commands from 3 and answers on 4
            os.dup2(to_read, 103), os.dup2(from_write, 104)
            os.dup2(103, 3), os.dup2(104, 4)

        command = [find(), *FLAGS, "--user-data-dir=" + self.profile, "--window-size=%d,%d" % (width, height)]
        self.process = subprocess.Popen([*command, "about:blank"], preexec_fn=descriptors, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(from_write)
        self.to, self.answers, self.buffer = to_write, from_read, b""
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log", "Accessibility":
            self.call(domain + ".enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to), os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, until - time.monotonic()))[0]:
                raise Broken("no answer from the browser in time")
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise Broken("the browser has gone")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def note(self, event):
        method, told = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            thrown = told["exceptionDetails"]
            self.complaints.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])

    def call(self, method, **params):
        """Calls a method of the protocol; what it answers."""
        self.number += 1
        sent = {"id": self.number, "method": method, "params": params}
        if self.session:
            sent["sessionId"] = self.session
        data, until = json.dumps(sent).encode() + b"\0", time.monotonic() + self.limit
        while data:
            data = data[os.write(self.to, data) :]
        while True:
            got = self.message(until)
            if got.get("id") == self.number:
                if "error" in got:
                    raise Broken("%s: %s" % (method, got["error"]["message"]))
                return got["result"]
            self.note(got)

    def js(self, expression):
        """The value of an expression in the page, awaited."""
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            thrown = got["exceptionDetails"]
            raise Broken(thrown.get("exception", {}).get("description") or thrown["text"])
        return got["result"].get("value")

    # A watch page has been laid out, and painted: the browser drops keys that come before the first paint.
    WATCH = ("window.watch && watch.views.every(v => v.tracks.width > 0)"
             " && performance.getEntriesByType('paint').length > 0")
    PLAIN = "document.readyState == 'complete' && location.protocol == 'file:'"

    def open(self, path, shown=WATCH, fragment=""):
        """Opens a file and waits until `shown` holds in it."""
        self.call("Page.navigate", url="about:blank")  # of the page before nothing is taken for this one
        self.requests.clear()
        loader = self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment).get("loaderId")
        until = time.monotonic() + self.limit
        # Not of the whole body: that has the text of scripts, and of one that has not run yet.
        refused = "/cannot be shown/.test(document.getElementById('loading')?.textContent)"
        # The document before this one may answer for a while yet. Another fragment of it has no loader.
        while (loader and self.call("Page.getFrameTree")["frameTree"]["frame"]["loaderId"] != loader
               or not self.js("!!(%s || %s)" % (shown, refused))):
            if time.monotonic() > until:
                raise Broken("the page does not finish")
            time.sleep(0.05)
        self.settle()

    def settle(self):
        """Two frames."""
        self.js("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def key(self, key, shift=False, leaves=False):
        """Presses a key, as a person does. leaves: which leads to another page, so that this one is not waited for."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        for kind, typed in ("keyDown", text), ("keyUp", ""):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=typed, modifiers=8 if shift else 0,
                      windowsVirtualKeyCode=KEYS.get(key, 0))
        if not leaves:
            self.settle()

    def picture(self, path):
        """A screenshot."""
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
