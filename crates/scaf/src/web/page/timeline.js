// All known moments, from the daemon's answers (docs/internals/protocol.md): the state at one moment, and the
// changes from there on. Independent of the page.

import { frame as FRAME, numbers as NUMBERS } from "./fields.js";

const KEPT_NS = 600e9;
const MOST_EVENTS = 500;

// The state at a frame's moment, made from the one before.
export function advance(state, frame) {
  for (const key of FRAME) state[key] = frame[key];
  state.others = frame.others ?? { programs: 0, contexts: 0 };
  Object.assign(state, frame.setting);
  for (const id of frame.left ?? []) state.programs.delete(id);
  for (const program of frame.arrived ?? []) state.programs.set(program.id, { ...program });
  const change = (id, what) => {
    const program = state.programs.get(id);
    if (program) Object.assign(program, what);
  };
  for (const grant of frame.grants ?? []) change(grant.id, grant);
  for (const [id, ...values] of frame.numbers ?? [])
    change(id, Object.fromEntries(NUMBERS.map((key, i) => [key, values[i]])));
  for (const { id, points } of frame.curves ?? []) change(id, { curve: points });
  return state;
}

function begin(base) {
  return { ...base, programs: new Map(base.programs.map((program) => [program.id, { ...program }])) };
}

function copy(state) {
  const programs = [...state.programs].map(([id, program]) => [id, { ...program }]);
  return { ...state, programs: new Map(programs) };
}

export class Timeline {
  constructor() {
    this.daemon = 0;
    this.forgetAll();
  }

  forgetAll() {
    this.base = null;
    this.now = null;
    this.frames = [];
    this.series = new Map(); // by program: its name, and [ns, contexts] where these changed
    this.slot = new Map(); // by which each has its letter and colour for as long as it is known
    this.events = []; // what happened, the latest last
  }

  // Adds an answer. Returns what happened in it.
  take(answer) {
    if (answer.daemon !== this.daemon) this.forgetAll();
    this.daemon = answer.daemon;
    if (answer.base) {
      this.forgetAll();
      this.base = begin(answer.base);
      this.now = begin(answer.base);
      for (const program of answer.base.programs) this.had(this.now.now_ns, program);
    }
    if (!this.now) return [];
    const before = this.events.length ? this.events[this.events.length - 1] : null;
    for (const frame of answer.frames) {
      if (frame.moment !== this.now.moment + 1) continue;
      this.record(frame);
      advance(this.now, frame);
      this.frames.push(frame);
    }
    this.forget();
    return this.events.slice(before ? this.events.lastIndexOf(before) + 1 : 0);
  }

  had(ns, { id, name, dop }) {
    if (!this.series.has(id)) {
      this.series.set(id, { name, changes: [] });
      const taken = new Set(this.slot.values());
      let slot = 0;
      while (taken.has(slot)) slot++;
      this.slot.set(id, slot);
    }
    const { changes } = this.series.get(id);
    const contexts = dop ?? 0;
    if (!changes.length || changes[changes.length - 1][1] !== contexts) changes.push([ns, contexts]);
  }

  record(frame) {
    const ns = frame.now_ns;
    const happened = (kind, name, text) => this.events.push({ ns, kind, name, text });
    for (const program of frame.arrived ?? []) {
      this.had(ns, program);
      happened("arrival", program.name, program.dop == null ? "came" : `came and got ${program.dop}: ${program.reason}`);
    }
    for (const id of frame.left ?? []) {
      const name = this.series.get(id)?.name ?? "";
      this.had(ns, { id, name, dop: 0 });
      happened("departure", name, "left");
    }
    for (const grant of frame.grants ?? []) {
      const program = this.now.programs.get(grant.id);
      const name = program?.name ?? this.series.get(grant.id)?.name ?? "";
      this.had(ns, { ...grant, name });
      if (program && program.dop !== grant.dop)
        happened("grant", name, `${program.dop ?? "all"} → ${grant.dop ?? "all"} contexts: ${grant.reason}`);
    }
    if (frame.setting && frame.setting.policy !== this.now.policy)
      happened("policy", "", `policy ${frame.setting.policy}`);
    const warnings = frame.warnings - this.now.warnings;
    if (warnings > 0) happened("warning", "", `the daemon logged ${warnings} warnings`);
    if (this.events.length > MOST_EVENTS) this.events.splice(0, MOST_EVENTS / 2);
  }

  forget() {
    const oldest = this.now.now_ns - KEPT_NS;
    let old = 0;
    while (old < this.frames.length && this.frames[old].now_ns < oldest) advance(this.base, this.frames[old++]);
    if (!old) return;
    this.frames.splice(0, old);
    for (const [id, { changes }] of this.series) {
      while (changes.length > 1 && changes[1][0] <= oldest) changes.shift();
      if (changes.length === 1 && changes[0][1] === 0) {
        this.series.delete(id);
        this.slot.delete(id);
      }
    }
  }

  // The state at the frame of that number in `frames`, from 0; -1 is the state before the first.
  at(index) {
    if (index >= this.frames.length - 1) return this.now;
    const state = copy(this.base);
    for (let i = 0; i <= index; i++) advance(state, this.frames[i]);
    return state;
  }

  // Contexts of the programs that had most of them from one time to another, and of all others together, at
  // `columns` times: the names and the numbers, the rest last.
  stacked(from, to, columns, most) {
    const times = Array.from({ length: columns }, (_, i) => from + ((to - from) * i) / (columns - 1));
    const rows = [];
    for (const [id, { name, changes }] of this.series) {
      const values = new Array(columns).fill(0);
      let at = -1;
      let sum = 0;
      for (let i = 0; i < columns; i++) {
        while (at + 1 < changes.length && changes[at + 1][0] <= times[i]) at++;
        values[i] = at < 0 ? 0 : changes[at][1];
        sum += values[i];
      }
      if (sum) rows.push({ id, name, values, sum });
    }
    rows.sort((a, b) => b.sum - a.sum || a.id - b.id);
    const shown = rows.slice(0, most).sort((a, b) => a.id - b.id);
    const rest = rows.slice(most);
    if (rest.length) {
      const values = new Array(columns).fill(0);
      for (const row of rest) row.values.forEach((value, i) => (values[i] += value));
      shown.push({ id: null, name: `${rest.length} more`, values });
    }
    return { times, rows: shown };
  }
}
