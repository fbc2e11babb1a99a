"""The page in a browser, with a conversation of 5,000 rows: how soon it is there, and how smoothly it is scrolled.

Times are of the browser's own clock; on a machine with two cores, server, browser and measurement share them.
"""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.run.answers import AT_END, Several
from bench.server import Server
from bench.terminal import Run

ROWS = 5000
OPEN_MS, LONG_TASK_MS, NODES = 1000, 100, 4000
"""The page is there within a second, never busy for a tenth of one, and never of more elements than these."""
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MESSAGE = """\
## Step {n}

| a | b |
|---|---|
| {n} | `x` |

```python
for x in range({n}):
    print(x)
```
"""
WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.tasks.push(task.duration);
}).observe({ type: "longtask", buffered: true });
new MutationObserver(() => {
  window.there ??= document.querySelector(".entry[data-n='%d'] article") ? performance.now() : undefined;
}).observe(document, { childList: true, subtree: true });
"""


def events() -> list[dict[str, Any]]:
    """Two events a row: a call with its output, and now and then a message with a table and code."""
    told: list[dict[str, Any]] = []
    for n in range(ROWS):
        if n % 10 == 0:
            told.append({"type": "assistant_text", "text": MESSAGE.format(n=n)})
        else:
            call = {"toolCallId": f"c{n}"}
            told.append({"type": "tool_start", "tool": "shell", "args": {"command": f"make step-{n}"}, **call})
            told.append({"type": "tool_end", "output": f"line of {n}\n" * (n % 40), "durationMs": n, **call})
    return told


def _opened(page: Page, url: str) -> Several:
    """Milliseconds until it is there and of its longest task, also while it is scrolled; and its elements."""
    page.goto("about:blank")
    page.goto(url)
    page.locator(f".entry[data-n='{ROWS}'] article").wait_for()
    open_ms = page.evaluate("window.there")
    page.keyboard.press("g")
    page.locator(".entry[data-n='1'] article").wait_for()
    page.mouse.move(700, 500)
    for _ in range(40):
        page.mouse.wheel(0, 800)
    page.keyboard.press("G")
    page.locator(f".entry[data-n='{ROWS}'] article").wait_for()
    for _ in range(40):
        page.mouse.wheel(0, -800)
    page.locator(".entry-wait").first.wait_for(state="detached")
    return Several(
        [
            open_ms,
            max(page.evaluate("window.tasks"), default=0.0),
            page.evaluate("document.querySelectorAll('*').length"),
        ]
    )


def opened(_corpus: Path) -> Run:
    server = Server()
    server.conversation("long")
    caller = server.caller()
    told = events()
    for start in range(0, len(told), 5000):
        caller.ask("POST", "/v1/conversations/long/events", told[start : start + 5000])
    caller.close()
    stack = ExitStack()
    AT_END.insert(0, stack.close)
    playwright = stack.enter_context(sync_playwright())
    browser = stack.enter_context(playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS))
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH % ROWS)
    base = f"http://127.0.0.1:{server.port}"
    answer = context.request.post(f"{base}/login", data={"token": server.token})
    assert answer.ok
    kept = json.dumps(answer.text())
    context.add_init_script(f"localStorage.setItem('vantage-session', {kept})")
    page = context.new_page()
    return lambda: _opened(page, f"{base}/#c=long")


def promised(_corpus: Path) -> Run:
    return lambda: Several((OPEN_MS, LONG_TASK_MS, NODES))
