// The page: takes events, shows a moment. What somebody did or who came is drawn at once, but four times a
// second at most; numbers twice a second; and the stacked areas, which take longest, each second.
import { Areas } from "./chart.js";
import { MachineMap, colour, letter } from "./map.js";
import { program as fields } from "./fields.js";
import { Past } from "./past.js";
import { ProgramView, short } from "./program.js";
import { Table, each, element, say } from "./table.js";

const by = (id) => document.getElementById(id);
const SOON_MS = 240;
const NUMBERS_MS = 500;
const AREAS_MS = 1000;
const MOST_AREAS = 12;
const COLUMNS = 240;

const past = new Past();
const page = { users: {}, machine: { pus: [] }, lost: null, selected: null, looked: null, sort: null, falling: true };
let wall = 0; // what to add to the daemon's clock, in nanoseconds, for the time of day

const user = (uid) => page.users[uid] ?? String(uid);
const time = (ns) => new Date((ns + wall) / 1e6).toLocaleTimeString();

// A column of a program's field: texts rise, numbers fall, and what is long comes last.
const column = ({ key, column, about, number, fraction }) => ({
  key, name: column, about, number, fraction, head: key === "name", long: key === "reason",
  falls: number && key !== "pid",
  sort: (p) => (key === "uid" ? user(p.uid) : p[key] ?? -1),
});
const shownFields = fields.filter((field) => field.column).map(column).sort((a, b) => a.long - b.long);
const columns = [{ name: "Sign" }, ...shownFields];
page.sort = columns.find(({ key }) => key === "dop");
const table = new Table(by("table"), columns, "Managed programs", (column) => {
  page.falling = page.sort === column ? !page.falling : Boolean(column.falls);
  page.sort = column;
  soon(true);
});
const log = new Table(by("log"), [
  { name: "Time" }, { name: "Program", head: true }, { name: "What", long: true },
], "Decisions and events, the latest first");
const map = new MachineMap(by("map"));
const areas = new Areas(by("areas"));
const program = new ProgramView();

// ---- what is shown

function state() {
  return page.looked === null ? past.now : page.looked;
}

function facts(now) {
  const programs = [...now.programs.values()];
  const granted = programs.reduce((sum, p) => sum + (p.dop ?? 0), now.others.contexts);
  const known = programs.filter((p) => p.speedup != null);
  const rows = [
    ["Programs", String(programs.length + now.others.programs)],
    ["Contexts granted", `${granted} of ${now.capacity}`],
    ["Sum of speedups", known.length ? short(known.reduce((sum, p) => sum + p.speedup, 0)) : "–"],
    ["Policy", now.policy],
    ["Load of others", short(now.unmanaged_load)],
    ["Decisions", `${now.decisions}, the latest in ${short(now.decision_ns / 1e6)} ms`],
  ];
  each(by("facts"), rows, () => element("div", {}, element("dt"), element("dd")), (box, [name, value]) => {
    say(box.children[0], name);
    say(box.children[1], value);
  });
}

function programs(now, ranks) {
  const wanted = by("filter").value.toLowerCase();
  const fits = (p) => [p.name, String(p.pid), user(p.uid)].some((it) => it.toLowerCase().includes(wanted));
  const key = page.sort.sort;
  const shown = [...now.programs.values()].filter(fits).sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const order = x < y ? -1 : x > y ? 1 : 0;
    return (page.falling ? -order : order) || a.id - b.id;
  });
  if (!now.programs.has(page.selected)) page.selected = shown[0]?.id ?? null;
  table.sorted(page.sort, page.falling);
  const text = (p, { key, fraction }) => {
    if (key === "name") return (cell) => choice(cell, p);
    if (key === "uid") return user(p.uid);
    return fraction ? short(p[key]) : String(p[key] ?? "–");
  };
  table.show(shown.map((p) => [
    sign(ranks.get(p.id)), ...shownFields.map((field) => text(p, field)),
  ]), (tr, i) => {
    const selected = shown[i].id === page.selected;
    if (tr.classList.contains("selected") !== selected) tr.classList.toggle("selected", selected);
  });
  const { others } = now;
  say(by("others"), others.programs
    ? `And ${others.programs} programs of other users, with ${others.contexts} contexts.`
    : shown.length ? "" : "No programs; start one with: scaf run PROGRAM");
}

function sign(rank) {
  return (cell) => {
    const box = cell.firstElementChild ?? cell.appendChild(element("span"));
    say(box, letter(rank));
    const name = `sign ${colour(rank)}`;
    if (box.className !== name) box.className = name;
  };
}

// The name is a button that selects the program.
function choice(cell, { id, name }) {
  let button = cell.firstElementChild;
  if (!button) {
    button = cell.appendChild(element("button", { type: "button" }));
    button.addEventListener("click", () => {
      page.selected = Number(button.dataset.id);
      soon(true);
    });
  }
  button.dataset.id = id;
  button.setAttribute("aria-pressed", String(id === page.selected));
  say(button, name);
}

function timeline(ranks) {
  const to = past.now.now_ns;
  const from = to - Number(by("span").value) * 1e9;
  const { times, rows } = past.stacked(from, to, COLUMNS, MOST_AREAS);
  const marks = past.events.filter(({ ns, kind }) => ns >= from && kind !== "grant" && kind !== "warning").slice(-60);
  areas.draw(times, rows, ranks, past.now.capacity, marks, page.looked?.now_ns ?? null);
  each(by("legend"), rows, () => element("li", {}, element("span"), " ", element("span")), (item, row) => {
    const rank = ranks.get(row.id) ?? 0;
    say(item.children[0], row.id === null ? "…" : letter(rank));
    item.children[0].className = `sign ${row.id === null ? "rest" : colour(rank)}`;
    say(item.children[1], row.name);
  });
  if (!by("areas-table").closest("details").open) return;
  const few = past.stacked(from, to, 13, MOST_AREAS);
  const head = [{ name: "Program", head: true }, ...few.times.map((ns) => ({ name: time(ns), number: true }))];
  new Table(by("areas-table"), head, "Contexts over time").show(few.rows.map((row) => [row.name, ...row.values.map(String)]));
}

function slider() {
  const range = by("moment");
  const last = past.frames.length - 1;
  range.min = -1;
  range.max = last;
  if (page.looked === null) range.value = last;
  const at = page.looked ?? past.now;
  const text = page.looked === null ? "live" : `${time(at.now_ns)}, ${short((past.now.now_ns - at.now_ns) / 1e9, 1)} s ago`;
  say(by("clock"), text);
  range.setAttribute("aria-valuetext", text);
  by("pause").setAttribute("aria-pressed", String(page.looked !== null));
  say(by("pause"), page.looked === null ? "Pause" : "Go on");
}

function draw(all) {
  const now = state();
  say(by("state"), page.lost ? `No daemon: ${page.lost}` : now ? `${now.scope} daemon ${now.version}, process ${now.pid}` : "Waiting for the daemon");
  by("state").className = page.lost ? "lost" : "";
  if (!now) return;
  const ranks = past.seats;
  facts(now);
  map.lay(page.machine);
  map.show(now, ranks);
  programs(now, ranks);
  program.show(now.programs.get(page.selected), ranks.get(page.selected) ?? 0, user);
  slider();
  if (all) {
    timeline(ranks);
    const until = past.events.filter(({ ns }) => ns <= now.now_ns).slice(-200).reverse();
    log.show(until.map(({ ns, name, text }) => [time(ns), name, text]));
  }
}

// ---- when it is shown

let planned = 0; // the timer
let when = 0; // for when it is set
let drawn = 0;
let drawnAll = 0;
let all = false;

function soon(whole = false, rest = SOON_MS) {
  all ||= whole;
  if (document.hidden || (planned && when <= drawn + rest)) return;
  clearTimeout(planned);
  when = drawn + rest;
  planned = setTimeout(() => {
    planned = 0;
    drawn = performance.now();
    const whole = all || drawn - drawnAll >= AREAS_MS;
    if (whole) drawnAll = drawn;
    all = false;
    draw(whole);
  }, Math.max(0, when - performance.now()));
}

let caughtUp = false; // what was before the page was opened isn't news
let announced = 0;
let waiting = [];

// Tells who can't see the page, but not all the time.
function announce(events) {
  waiting.push(...events.filter(({ kind }) => kind !== "grant").map(({ name, text }) => `${name} ${text.split(":")[0]}`));
  if (!waiting.length) return;
  const now = performance.now();
  if (now - announced < 3000) {
    setTimeout(() => announce([]), 3100 - (now - announced));
    return;
  }
  announced = now;
  by("news").textContent = waiting.length > 4 ? `${waiting.length} events` : waiting.join("; ");
  waiting = [];
}

const events = new EventSource("/events");
events.addEventListener("hello", ({ data }) => {
  const hello = JSON.parse(data);
  Object.assign(page, { users: hello.users, machine: hello.machine });
  say(by("host"), `on ${hello.host}`);
  say(by("version"), hello.version);
  document.title = `scaf on ${hello.host}`;
  soon();
});
events.addEventListener("lost", ({ data }) => {
  page.lost = JSON.parse(data);
  soon();
});
events.addEventListener("moments", ({ data }) => {
  const told = JSON.parse(data);
  const happened = past.take(told);
  if (past.now) wall = Date.now() * 1e6 - past.now.now_ns;
  if (caughtUp) announce(happened);
  caughtUp ||= past.now !== null && past.now.moment >= told.latest;
  const news = happened.some(({ kind }) => kind !== "grant");
  soon(news, news ? SOON_MS : NUMBERS_MS);
});
events.addEventListener("open", () => {
  if (page.lost === GONE) page.lost = null;
  soon();
});
const GONE = "scaf web doesn't answer";
events.addEventListener("error", () => {
  page.lost = GONE;
  soon();
});

// ---- what is done

by("filter").addEventListener("input", () => soon());
by("span").addEventListener("change", () => soon(true));
by("areas-table").closest("details").addEventListener("toggle", () => soon(true));
by("pause").addEventListener("click", () => {
  page.looked = page.looked === null && past.now ? structuredClone(past.now) : null;
  soon(true);
});
by("moment").addEventListener("input", ({ target }) => {
  const index = Number(target.value);
  page.looked = index >= past.frames.length - 1 ? null : past.at(index);
  soon(true);
});
document.addEventListener("visibilitychange", () => soon(true));
addEventListener("resize", () => soon(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(true));

by("ask").addEventListener("click", async () => {
  say(by("asked"), "asking");
  try {
    const of = page.looked ? `?decision=${page.looked.decisions}` : "";
    const response = await fetch(`/what-if${of}`);
    if (!response.ok) throw new Error(await response.text());
    whatIf(await response.json());
    say(by("asked"), "");
  } catch (error) {
    say(by("asked"), error.message);
  }
});

function whatIf({ decision, policy, capacity, names, given, answers }) {
  const ids = Object.keys(given.contexts).slice(0, 16);
  const table = new Table(by("what-if"), [
    { name: "Policy", head: true }, { name: "Sum of speedups", number: true }, { name: "Against now", number: true },
    ...ids.map((id) => ({ name: names[id] ?? id, number: true })), { name: "Turns" },
  ], `Decision ${decision} by other policies`);
  const best = Math.max(...answers.map((answer) => answer.throughput));
  const shown = [{ ...given, policy: `${policy}, as it was` }, ...answers];
  table.show(shown.map((answer) => [
    answer.policy, answer.known ? short(answer.throughput) : "–",
    given.throughput > 0 ? `${((100 * answer.throughput) / given.throughput - 100).toFixed(1)}%` : "–",
    ...ids.map((id) => String(answer.contexts[id] ?? "–")), answer.turns ? "yes" : "",
  ]), (tr, i) => tr.classList.toggle("best", shown[i].throughput === best && shown[i].known > 0));
  say(by("asked"), `decision ${decision}, ${capacity} contexts`);
}
