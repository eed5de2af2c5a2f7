"""bench.py [LOG.json...]: how fast the page draws in headless Chromium, without a GPU.

Frames while it zooms, pans and steps over a log made by hand with 100,000 events, or over those given; and how long it
takes to open. No time is a test.

    python3 -ISB python/sm100repo tests/page/bench.py
"""

import json
import os
import sys
import tempfile
import time

import sample
from sm100emu import watch
from sm100repo import chromium

FRAMES = 240


def measure(path, log, scratch):
    made = watch.make([log], os.path.join(scratch, "out"), room=1 << 30)[0]
    with chromium.Page(limit=300) as page:
        begun = time.monotonic()
        page.open(made)
        opened = time.monotonic() - begun
        page.js("watch.move(watch.active, 1), watch.active.tracks.fit()")  # all of the time, wherever the page opens
        got = page.js("watch.bench(%d)" % FRAMES)
        events = page.js("watch.active.c.size")
    print("%s: %d events, page of %.2f MB, shown after %.1f s" % (path, events, os.path.getsize(made) / 1e6, opened))
    print(
        "  %d frames: one every %.1f ms (%.0f a second), slowest %.1f ms; drawing and panels %.1f ms, slowest %.1f ms"
        % (got["frames"], got["between"], 1000 / got["between"], got["worst"], got["drawing"], got["slowest"])
    )


def main():
    print("processors: %d" % (os.cpu_count() or 0))
    with tempfile.TemporaryDirectory() as scratch:
        logs = [(path, path) for path in sys.argv[1:]]
        if not logs:
            path = os.path.join(scratch, "log.json")
            with open(path, "w") as f:
                json.dump({"version": 2, "logs": [sample.make(5000, 4, limit=100000)]}, f)
            logs = [("a ring in two CTAs", path)]
        for name, path in logs:
            measure(name, path, scratch)


if __name__ == "__main__":
    main()
