"""A tool that says how it looks: the spec travels with the call, and every surface draws it.

python examples/tool_with_spec.py
"""

from vantage import Timeline, profile, render

SPEC = {
    "specVersion": 1,
    "collapsed": {"icon": "cloud.sun", "title": "Weather in {{args.place}}", "trailing": "{{output.now}}"},
    "expanded": {
        "blocks": [
            {"type": "kv", "pairs": [{"key": "Wind", "value": "{{output.wind}}"}]},
            {"type": "badges", "items": "{{output.warnings}}", "color": "orange", "when": "{{output.warnings}}"},
        ]
    },
}


def main() -> None:
    timeline = Timeline()
    timeline.add(
        {"type": "tool_start", "tool": "weather", "toolCallId": "1", "args": {"place": "Oslo"}, "renderSpec": SPEC}
    )
    timeline.add(
        {"type": "tool_end", "toolCallId": "1", "output": {"now": "9 °C", "wind": "12 m/s", "warnings": ["gale"]}}
    )
    for surface, name in (("plain", "api"), ("html", "web"), ("telegram", "telegram"), ("slack", "slack")):
        print(f"— {surface}\n{render(timeline.rows, profile(name), surface=surface)}\n")


if __name__ == "__main__":
    main()
