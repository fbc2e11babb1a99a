"""What a model writes, made up: markdown blocks drawn from word lists by a seeded generator.

The same seed gives the same text. No two code blocks are alike, so that no cache of highlighted code can help.
"""

from random import Random


def _listed(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split(";")]


_SUBJECTS = _listed("""
    the parser; the retry loop; this handler; the connection pool; the migration; each worker; the cache layer;
    the event queue; our config loader; the test suite; the scheduler; the client; the session store; the build step;
    the rate limiter; a stale lock; the index; the tokenizer; the response body; the feature flag
""")
_VERBS = _listed("""
    reads; rewrites; skips; blocks on; never closes; silently drops; already validates; holds on to; depends on;
    duplicates; re-creates; invalidates; waits for; swallows; normalises; exposes; batches; races with
""")
_OBJECTS = _listed("""
    the previous result; every open file handle; the default timeout; an empty list; its own state;
    the request context; two of the three shards; the last known offset; the environment; a shared buffer;
    the error that the caller needs; the trailing newline; any pending write; the user's locale; a nil pointer;
    the first page of results; the lock file; the original exception
""")
_TAILS = _listed("""
    when the deadline has passed; before the first commit; on every call; as soon as the queue is full;
    which is why the test was flaky; even though nothing changed; unless `--force` is given;
    for backwards compatibility; because the order of the keys is not stable; and that is what the log shows;
    if the server answers with a redirect; while the other side is still writing; so the second run succeeds
""")
_NAMES = _listed("""
    load_config; parse_event; flush_queue; open_session; retry_with_backoff; render_row; build_index;
    read_chunk; merge_results; validate_token; close_idle_connections; schedule_job; resolve_path; normalize_key
""")
_TYPES = _listed("""
    Config; Event; Session; Row; Token; Index; Chunk; Result; Worker; Request; Cursor; Batch
""")
_FILES = _listed("""
    src/app/config.py; src/app/events/decode.py; lib/net/retry.go; web/src/components/Table.tsx;
    crates/core/src/lib.rs; tests/test_session.py; deploy/values.yaml; scripts/migrate.sql;
    internal/queue/worker.go; README.md
""")
_PAGES = _listed("""
    https://docs.python.org/3/library/asyncio-queue.html; https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2;
    https://github.com/example/project/issues/1482; https://example.com/docs/configuration
""")
_TITLES = _listed("""
    What goes wrong; The fix; Why this works; Steps to reproduce; Summary of the changes; Alternatives considered;
    Next steps; Performance; How the pieces fit together; Testing; Rolling it out; Open questions
""")
_FOREIGN = (
    "日本語の入力も確認しました。幅の広い文字は端末で二桁を占めるため、折り返しの位置が変わります。",
    "设置文件的编码必须是 UTF-8，否则解析器会在第一行就失败，并且不会给出有用的错误信息。",
    "한국어 메시지도 같은 방식으로 처리되며, 줄바꿈은 글자 사이에서 일어납니다.",
    "✅ All checks passed, 🚀 the release candidate is out, and the 👩‍💻 on call has signed off ⚠️ with one remark.",
)
_MARKS = ("✅", "❌", "⚠️", "yes", "no", "n/a")


def name(rng: Random) -> str:
    """An identifier that is most likely the only one of its kind."""
    return f"{rng.choice(_NAMES)}_{rng.randrange(10_000)}"


def path(rng: Random) -> str:
    return rng.choice(_FILES)


def sentence(rng: Random) -> str:
    subject = rng.choice(_SUBJECTS)
    match rng.randrange(12):
        case 0:
            subject = f"`{name(rng)}()`"
        case 1:
            subject = f"**{subject}**"
        case 2:
            subject = f"[{subject}]({rng.choice(_PAGES)})"
        case 3:
            subject = f"`{path(rng)}`"
    text = f"{subject} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}"
    match rng.randrange(6):
        case 0 | 1 | 2:
            text += f", {rng.choice(_TAILS)}"
        case 3:
            text += f" — *{rng.choice(_TAILS)}*"
    return f"{text[0].upper()}{text[1:]}."


def prose(rng: Random, least: int = 2, most: int = 6) -> str:
    return " ".join([sentence(rng) for _ in range(rng.randint(least, most))])


def heading(rng: Random) -> str:
    return f"{'#' * rng.randint(2, 4)} {rng.choice(_TITLES)}"


def _item(rng: Random) -> str:
    if rng.random() < 0.4:
        return f"**{rng.choice(_TITLES)}**: {sentence(rng)}"
    return prose(rng, 1, 2)


def bullets(rng: Random) -> str:
    lines: list[str] = []
    for _ in range(rng.randint(3, 7)):
        lines.append(f"- {_item(rng)}")
        if rng.random() < 0.2:
            lines += [f"  - {sentence(rng)}" for _ in range(rng.randint(1, 3))]
    return "\n".join(lines)


def steps(rng: Random) -> str:
    return "\n".join([f"{number}. {_item(rng)}" for number in range(1, rng.randint(4, 8))])


def tasks(rng: Random) -> str:
    return "\n".join([f"- [{rng.choice('x ')}] {sentence(rng)}" for _ in range(rng.randint(3, 6))])


def quote(rng: Random) -> str:
    return f"> {prose(rng, 1, 3)}"


def foreign(rng: Random) -> str:
    return f"{rng.choice(_FOREIGN)} {sentence(rng)}"


def cells(rng: Random, columns: int, rows: int) -> list[list[str]]:
    """A table's cells, the header first: names, numbers, short verdicts and a remark here and there."""
    header = ["Name", *[rng.choice(_TITLES) for _ in range(columns - 1)]]
    body = [[name(rng), *[_cell(rng) for _ in range(columns - 1)]] for _ in range(rows)]
    return [header, *body]


def _cell(rng: Random) -> str:
    kind = rng.randrange(5)
    if kind < 2:
        return f"{rng.uniform(0, 900):.1f} {rng.choice(('ms', 'MB', '%'))}"
    if kind == 2:
        return rng.choice(_MARKS)
    return rng.choice(_OBJECTS)


def table_source(table: list[list[str]]) -> str:
    header, *rows = ["| " + " | ".join(row) + " |" for row in table]
    rule = "|" + "---|" * len(table[0])
    return "\n".join([header, rule, *rows])


def table(rng: Random) -> str:
    return table_source(cells(rng, rng.randint(2, 5), rng.randint(3, 8)))


_CODE = {
    "python": '''\
async def {a}(path: Path, *, timeout: float = {n}.0) -> list[{T}]:
    """Reads every entry; raises `{T}Error` when the file is damaged."""
    results: list[{T}] = []
    async with aiofiles.open(path, "rb") as stream:
        async for line in stream:
            if not line.strip() or line.startswith(b"#"):
                continue  # {s}
            try:
                results.append({T}.from_json(line))
            except ValueError as error:
                logger.warning("{a}: line %d of %s: %s", len(results), path, error)
    return sorted(results, key=lambda item: (item.created_at, item.name))
''',
    "bash": """\
set -euo pipefail
for file in $(git diff --name-only "origin/main...HEAD" -- '{f}'); do
    # {s}
    {a} --input "$file" --retries {n} > "/tmp/$(basename "$file").log" 2>&1 || exit 1
done
pytest -q tests/ -k "{a}" --maxfail={n}
""",
    "json": """\
{{
  "name": "{a}",
  "version": "1.{n}.0",
  "retry": {{"limit": {n}, "backoff_ms": [100, 200, 400], "jitter": true}},
  "paths": ["{f}", "build/**/*.map"],
  "note": "{s}",
  "parent": null
}}
""",
    "typescript": """\
export function {T}List({{ items, onSelect }}: Props<{T}>): JSX.Element {{
  const [active, setActive] = useState<number | null>(null);
  // {s}
  useEffect(() => {{
    const timer = setTimeout(() => setActive(null), {n} * 1000);
    return () => clearTimeout(timer);
  }}, [items]);
  return (
    <ul className="{a}">
      {{items.map((item, index) => <li key={{item.id}} onClick={{() => onSelect(item)}}>{{item.label}}</li>)}}
    </ul>
  );
}}
""",
    "go": """\
// {a} {s}
func (w *{T}Worker) {a}(ctx context.Context, jobs <-chan {T}) error {{
	for attempt := 0; attempt < {n}; attempt++ {{
		select {{
		case job, ok := <-jobs:
			if !ok {{
				return nil
			}}
			if err := w.run(ctx, job); err != nil {{
				return fmt.Errorf("run %q: %w", job.Name, err)
			}}
		case <-ctx.Done():
			return ctx.Err()
		}}
	}}
	return errTooMany
}}
""",
    "sql": """\
SELECT s.id, s.name, count(*) AS total, max(e.created_at) AS last_seen
FROM {a} AS s
LEFT JOIN events AS e ON e.session_id = s.id AND e.kind IN ('tool_start', 'tool_end')
WHERE s.created_at > now() - interval '{n} days' -- {s}
GROUP BY s.id, s.name
HAVING count(*) > {n}
ORDER BY total DESC;
""",
    "yaml": """\
# {s}
{a}:
  image: "registry.example.com/{a}:1.{n}"
  replicas: {n}
  env:
    - name: LOG_LEVEL
      value: debug
  resources: {{limits: {{cpu: 500m, memory: 256Mi}}}}
""",
    "rust": """\
/// {s}
pub fn {a}<R: Read>(mut reader: R, limit: usize) -> Result<Vec<{T}>, Error> {{
    let mut buffer = Vec::with_capacity({n} * 1024);
    reader.take(limit as u64).read_to_end(&mut buffer)?;
    buffer
        .split(|byte| *byte == b'\\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).map_err(Error::from))
        .collect()
}}
""",
}


def code(rng: Random, language: str = "") -> str:
    """Some lines of source, without the fence."""
    source = _CODE[language or rng.choice(list(_CODE))]
    return source.format(a=name(rng), T=rng.choice(_TYPES), n=rng.randint(2, 60), s=rng.choice(_TAILS), f=path(rng))


def fence(rng: Random) -> str:
    language = rng.choice(list(_CODE))
    return f"```{language}\n{code(rng, language)}```"


def block(rng: Random) -> str:
    """One block of a message, in the proportions of a coding agent's answers: about a quarter of the text is code."""
    kinds = (prose, bullets, steps, tasks, heading, fence, table, quote, foreign)
    return rng.choices(kinds, weights=(34, 11, 6, 2, 14, 18, 5, 3, 4))[0](rng)
