"use strict";
(() => {
  const film = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const LONGEST_PAUSE = 1000; // ms that a pause lasts when pauses are skipped
  const STEP = 5000;
  const LINE_HEIGHT = 1.25;
  const LARGEST = 20, READABLE = 14; // px
  const SPEEDS = [1, 2, 4, 8, 16];
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // ---- frames: where each one is in time, and which are whole

  const at = [];
  const whole = [];
  film.frames.reduce((time, frame, number) => {
    at.push(time + frame[0]);
    if (frame[3]?.cols) whole.push(number);
    return time + frame[0];
  }, 0);
  const duration = Math.max(film.duration, at[at.length - 1], 1);

  // ---- time as it was, and with short pauses: two scales with the same marks

  const marks = [...new Set([0, ...at, ...film.blocks.flatMap((b) => [b.begin, b.end ?? b.begin]), duration])].sort((a, b) => a - b);
  const short = [0];
  for (let n = 1; n < marks.length; n++) short.push(short[n - 1] + Math.min(marks[n] - marks[n - 1], LONGEST_PAUSE));
  let skipping = true;
  const toScale = (ms) => skipping ? between(marks, short, ms) : ms;
  const fromScale = (place) => skipping ? between(short, marks, place) : place;
  const length = () => skipping ? short[short.length - 1] : duration;

  // ---- the screen as numbers of rows

  const screen = { number: -1, rows: [], drawn: [], cols: 0, count: 0, title: "", cursor: [0, 0, 0] };

  const show = (number) => {
    if (number === screen.number) return;
    const key = whole[last(whole, number)];
    let from = screen.number < number && screen.number >= key ? screen.number + 1 : key;
    for (; from <= number; from++) {
      const [, changes, cursor, more] = film.frames[from];
      if (more?.cols) {
        screen.cols = more.cols;
        screen.count = more.rows;
        screen.rows = changes.slice();
      } else {
        for (let n = 0; n < changes.length; n += 2) screen.rows[changes[n]] = changes[n + 1];
      }
      if (more?.title !== undefined) screen.title = more.title;
      screen.cursor = cursor;
    }
    screen.number = number;
    draw();
  };

  // ---- drawing

  const piece = (part) => {
    const [string, style, cells] = typeof part === "string" ? [part, 0] : part;
    const link = film.styles[style][3];
    const element = document.createElement(link ? "a" : "span");
    if (link && isSafe(link)) {
      element.href = link;
      element.rel = "noopener noreferrer nofollow";
      element.target = "_blank";
    }
    if (style) element.className = `s${style}`;
    if (cells) element.style.width = `calc(var(--cw) * ${cells})`;
    write(element, string, cells === 2 && isOne(string));
    return element;
  };
  const fill = (element, number) => {
    const row = film.rows[number];
    element.replaceChildren(...(typeof row === "string" ? (row ? [piece(row)] : []) : row.map(piece)));
  };
  const draw = () => {
    const rows = $("rows");
    if (rows.children.length !== screen.count || screen.drawn.cols !== screen.cols) {
      rows.replaceChildren(...Array.from({ length: screen.count }, () => {
        const row = document.createElement("div");
        row.className = "row";
        return row;
      }));
      screen.drawn = [];
      screen.drawn.cols = screen.cols;
      $("size").textContent = `${screen.cols} × ${screen.count}`;
      fit();
    }
    screen.rows.forEach((number, row) => {
      if (screen.drawn[row] !== number) {
        fill(rows.children[row], number);
        screen.drawn[row] = number;
      }
    });
    const [row, column, shape] = screen.cursor;
    const cursor = $("cursor");
    cursor.dataset.shape = shape;
    cursor.style.left = `calc(var(--cw) * ${column})`;
    cursor.style.top = `calc(var(--lh) * ${row})`;
    $("name").textContent = screen.title || "Terminal";
    if (root.classList.contains("full")) follow();
  };
  /** Keeps the cursor in sight where not all of the screen is. */
  const follow = () => {
    const view = $("view"), cell = $("cursor");
    const x = cell.offsetLeft, y = cell.offsetTop, line = view.clientHeight / 8;
    if (y < view.scrollTop || y + 3 * line > view.scrollTop + view.clientHeight) view.scrollTop = y - view.clientHeight + 3 * line;
    if (x < view.scrollLeft || x > view.scrollLeft + view.clientWidth - 40) view.scrollLeft = x - view.clientWidth * 0.6;
  };

  // ---- size: as large as it fits, or readable and scrolled

  let ratio = 0.6;
  const measure = () => {
    const probe = document.createElement("span");
    probe.style.position = "absolute";
    probe.style.visibility = "hidden";
    probe.style.fontSize = "100px";
    probe.textContent = "0".repeat(50);
    $("grid").append(probe);
    ratio = probe.getBoundingClientRect().width / 5000 || 0.6;
    probe.remove();
  };
  const narrow = matchMedia("(max-width: 60rem)");
  const sizes = [...new Set(whole.map((number) => `${film.frames[number][3].cols} ${film.frames[number][3].rows}`))].map((size) => size.split(" ").map(Number));
  const fit = () => {
    const view = getComputedStyle($("view")), left = $("left");
    const sides = parseFloat(view.paddingLeft) * 2 + 2, ends = parseFloat(view.paddingTop) * 2 + $("bar").offsetHeight + 2;
    const width = left.clientWidth - sides, height = left.clientHeight - $("controls").offsetHeight - 10 - ends;
    const full = root.classList.contains("full");
    const fitting = (cols, rows) => {
      const size = Math.min(LARGEST, width / (cols * ratio), narrow.matches ? LARGEST : height / (rows * LINE_HEIGHT));
      return Math.max(size, full ? READABLE : 2);
    };
    const lineOf = (size) => size > 9 ? Math.floor(size * LINE_HEIGHT) : size * LINE_HEIGHT; // whole pixels: no seams between rows
    const size = fitting(screen.cols, screen.count), grid = $("grid").style;
    grid.setProperty("--fs", `${size}px`);
    grid.setProperty("--cw", `${size * ratio}px`);
    grid.setProperty("--lh", `${lineOf(size)}px`);
    grid.setProperty("--cols", screen.cols);
    grid.setProperty("--lines", screen.count);
    // room for the tallest screen there is: the controls stay where they are when the terminal is resized
    const tallest = Math.max(...sizes.map(([cols, rows]) => lineOf(fitting(cols, rows)) * rows + ends));
    root.style.setProperty("--tallest", full ? "0" : `${Math.ceil(tallest)}px`);
    $("view").style.maxHeight = full && !narrow.matches ? `${height + ends - $("bar").offsetHeight}px` : "";
  };

  // ---- colours: one rule for each style, made for the theme

  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  const paint = () => {
    const theme = themeOfPage();
    sheet.replaceSync(film.styles.slice(1).map(([fg, bg, attributes], number) =>
      `.s${number + 1}{${declarations({ fg, bg, attrs: attributes.split(" ") }, theme)}}`).join("\n"));
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const light = () => root.dataset.theme ? root.dataset.theme === "light" : !dark.matches;

  const say = (words) => { $("said").textContent = words; };

  // ---- blocks

  const begins = film.blocks.map((block) => block.begin);
  const items = [];
  const list = () => {
    const entries = [
      ...film.blocks.map((block, number) => [block.begin, number, block]),
      ...film.events.map((event) => [event.at, Infinity, event]),
    ].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    $("list").append(...entries.map(([, number, entry]) => {
      const item = document.createElement("li");
      if (number === Infinity) {
        item.className = "event";
        item.textContent = `${clock(entry.at)} · ${entry.text}`;
        return item;
      }
      const [kind, word] = outcome(entry);
      const button = document.createElement("button"), code = document.createElement("code");
      const badge = document.createElement("em"), small = document.createElement("small");
      button.type = "button";
      button.className = kind;
      code.textContent = entry.cmd.trim() || "(nothing)";
      badge.textContent = word;
      const took = entry.ms === null ? "" : ` · ${lasting(entry.ms)}`;
      small.textContent = `${clock(entry.begin)}${took}${entry.origin === "typed" ? " · typed" : ""}`;
      button.title = entry.cwd ? `${entry.cmd.slice(0, 500)}\nin ${entry.cwd}` : entry.cmd.slice(0, 500);
      button.setAttribute("aria-label", `${oneLine(entry.cmd).slice(0, 200)}, ${word === "✓" ? "exit 0" : word}${took.replace(" · ", ", ")}, at ${clock(entry.begin)}`);
      button.append(code, badge, small);
      button.addEventListener("click", () => { start(); go(entry.begin, true); });
      items[number] = button;
      item.append(button);
      return item;
    }));
    if (!film.blocks.length) {
      const item = document.createElement("li");
      item.className = "none";
      item.textContent = "No command was run.";
      $("list").append(item);
    }
    $("count").textContent = film.blocks.length || "";
  };
  const lane = () => {
    const whole = length();
    let edge = -1;
    $("lane").replaceChildren(...film.blocks.flatMap((block, number) => {
      const begin = toScale(block.begin) / whole * 100, end = toScale(block.end ?? duration) / whole * 100;
      const [kind] = outcome(block);
      if (film.blocks.length > 800 && begin - edge < 0.1 && kind !== "bad") return [];
      edge = begin;
      const part = document.createElement("span");
      part.className = kind;
      part.dataset.block = number;
      part.style.left = `${begin}%`;
      part.style.width = `${Math.max(end - begin, 0)}%`;
      return [part];
    }));
  };

  // ---- playing

  let now = 0, playing = false, speed = 1, tick = 0, current = -2;
  const go = (ms, told = false) => {
    now = Math.min(Math.max(ms, 0), duration);
    show(Math.max(last(at, now), 0));
    const place = toScale(now), whole = length();
    $("scrub").value = Math.round(place);
    $("done").style.width = `${place / whole * 100}%`;
    $("now").textContent = clock(now);
    const block = last(begins, now);
    if (block !== current) {
      items[current]?.removeAttribute("aria-current");
      document.querySelector("#lane .here")?.classList.remove("here");
      current = block;
      if (items[block]) {
        items[block].setAttribute("aria-current", "true");
        document.querySelector(`#lane [data-block="${block}"]`)?.classList.add("here");
        const item = items[block].parentElement, box = $("list");
        const top = item.offsetTop - box.offsetTop;
        if (top < box.scrollTop || top + item.offsetHeight > box.scrollTop + box.clientHeight) {
          box.scrollTo({ top: top - box.clientHeight / 3, behavior: still.matches || playing ? "auto" : "smooth" });
        }
      }
    }
    $("scrub").setAttribute("aria-valuetext", `${clock(now)} of ${clock(duration)}${block >= 0 ? `, ${oneLine(film.blocks[block].cmd).slice(0, 80)}` : ""}`);
    root.dataset.at = Math.round(now);
    if (told && block >= 0) say(`Command ${block + 1} of ${film.blocks.length}: ${oneLine(film.blocks[block].cmd).slice(0, 120)}`);
  };
  const frame = (time) => {
    if (!playing) return;
    const place = toScale(now) + Math.min(time - tick, 250) * speed;
    tick = time;
    if (place >= length()) {
      go(duration);
      pause();
      say("The end.");
      return;
    }
    go(fromScale(place));
    requestAnimationFrame(frame);
  };
  const label = () => {
    root.classList.toggle("playing", playing);
    $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  };
  const start = () => root.classList.add("begun");
  const play = () => {
    start();
    if (now >= duration) go(0);
    playing = true;
    tick = performance.now();
    label();
    requestAnimationFrame(frame);
  };
  const pause = () => {
    playing = false;
    label();
    try { history.replaceState(null, "", `#t=${Math.round(now)}`); } catch { /* a page that may not: no harm */ }
  };
  const toggle = () => playing ? pause() : play();
  const step = (way) => {
    start();
    const here = last(begins, now);
    // back to the beginning of this command first, as players do
    const back = here >= 0 && now - begins[here] > (playing ? 1500 : 0) ? here : here - 1;
    const target = way > 0 ? here + 1 : back;
    if (target >= begins.length) go(duration);
    else if (target < 0) go(0);
    else go(begins[target], true);
  };
  const turn = (way) => {
    start();
    if (playing) pause();
    go(at[Math.min(Math.max(screen.number + way, 0), at.length - 1)]);
  };
  const move = (ms) => { start(); go(fromScale(Math.min(Math.max(toScale(now) + ms, 0), length()))); };
  const setSpeed = (value) => { speed = value; $("speed").value = String(value); };
  const setScale = (value) => {
    skipping = value;
    $("idle").setAttribute("aria-pressed", String(value));
    $("scrub").max = Math.round(length());
    lane();
    current = -2;
    go(now);
  };
  const setZoom = (value) => {
    root.classList.toggle("full", value);
    $("zoom").setAttribute("aria-pressed", String(value));
    fit();
    if (value) follow();
  };
  const setTheme = (name) => {
    root.dataset.theme = name;
    paint();
  };

  // ---- hands

  const keys = {
    " ": toggle, ArrowLeft: () => move(-STEP), ArrowRight: () => move(STEP), ArrowUp: () => step(-1), ArrowDown: () => step(1),
    j: () => step(1), k: () => step(-1), ",": () => turn(-1), ".": () => turn(1), Home: () => { start(); go(0); }, End: () => { start(); go(duration); },
    "<": () => setSpeed(SPEEDS[Math.max(SPEEDS.indexOf(speed) - 1, 0)]), ">": () => setSpeed(SPEEDS[Math.min(SPEEDS.indexOf(speed) + 1, SPEEDS.length - 1)]),
    i: () => setScale(!skipping), z: () => setZoom(!root.classList.contains("full")), t: () => setTheme(light() ? "dark" : "light"),
    "?": () => $("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    const name = event.target.tagName;
    if (name === "SELECT" || (event.key === " " && name === "BUTTON")) return;
    if (event.target.id === "view" && root.classList.contains("full") && event.key.startsWith("Arrow")) return;
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  $("play").addEventListener("click", toggle);
  $("big").addEventListener("click", () => { play(); $("play").focus(); });
  $("view").addEventListener("click", (event) => { if (!event.target.closest("a") && getSelection().isCollapsed) toggle(); });
  $("before").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("speed").addEventListener("change", () => setSpeed(Number($("speed").value)));
  $("idle").addEventListener("click", () => setScale(!skipping));
  $("zoom").addEventListener("click", () => setZoom(!root.classList.contains("full")));
  $("theme").addEventListener("click", () => setTheme(light() ? "dark" : "light"));
  $("help").addEventListener("click", () => $("keys").showModal());
  $("scrub").addEventListener("input", () => { start(); go(fromScale(Number($("scrub").value))); });

  const tip = (place) => {
    const ms = fromScale(Math.min(Math.max(place, 0), length())), block = last(begins, ms);
    const code = document.createElement("code");
    code.textContent = block >= 0 ? oneLine(film.blocks[block].cmd).slice(0, 160) : "";
    $("tip").replaceChildren(`${clock(ms)}  `, code);
    $("tip").hidden = false;
    const track = $("track").clientWidth, width = $("tip").offsetWidth;
    $("tip").style.left = `${Math.min(Math.max(place / length() * track - width / 2, 0), track - width)}px`;
  };
  $("track").addEventListener("pointermove", (event) => {
    const box = $("track").getBoundingClientRect();
    tip((event.clientX - box.left) / box.width * length());
  });
  $("track").addEventListener("pointerleave", () => { $("tip").hidden = true; });
  $("scrub").addEventListener("focus", () => { if ($("scrub").matches(":focus-visible")) tip(toScale(now)); });
  $("scrub").addEventListener("blur", () => { $("tip").hidden = true; });
  $("scrub").addEventListener("keyup", () => { if (!$("tip").hidden) tip(toScale(now)); });

  const jump = () => {
    const [, name, value] = /^#(t|b)=?(\d+)$/.exec(location.hash) ?? [];
    if (name === "t") { start(); go(Number(value)); }
    const block = name === "b" ? film.blocks.find((one) => one.id === `b${value}`) : undefined;
    if (block) { start(); go(block.begin); }
    return name !== undefined;
  };
  addEventListener("hashchange", jump);
  new ResizeObserver(() => requestAnimationFrame(fit)).observe($("left"));
  dark.addEventListener("change", paint);

  const day = new Date(film.start);
  $("about").textContent = `${day.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })} · ${lasting(duration)}`;
  $("total").textContent = clock(duration);
  $("notes").textContent = film.notes.join(" ");
  measure();
  paint();
  list();
  setScale(true);
  if (!jump()) go(begins[0] ?? 0);
  label();
  root.dataset.ready = "true";
})();
