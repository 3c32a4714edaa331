// Charts, drawn by uPlot: contexts over time, stacked, and a program's speedup with standard errors.

/* global uPlot */
import { colour } from "./machine-map.js";

function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function axis(label, more = {}) {
  return {
    label,
    stroke: paint("soft"),
    grid: { stroke: paint("line"), width: 1 },
    ticks: { stroke: paint("line"), width: 1 },
    labelSize: 22,
    size: 44,
    ...more,
  };
}

const common = { legend: { show: false }, cursor: { show: false }, select: { show: false } };

function line(chart, from, to, style, dash) {
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = style;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((part) => part * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
  ctx.restore();
}

class Chart {
  constructor(parent, height) {
    this.parent = parent;
    this.height = height;
    this.chart = null;
    this.key = "";
  }

  // A chart with other series is another chart.
  show(key, options, data) {
    const width = this.parent.clientWidth;
    const whole = `${width} ${matchMedia("(prefers-color-scheme: dark)").matches} ${key}`;
    if (whole === this.key) {
      this.chart.setData(data);
      return;
    }
    this.chart?.destroy();
    this.key = whole;
    this.chart = new uPlot({ ...common, width, height: this.height, ...options() }, data, this.parent);
  }
}

export class Areas extends Chart {
  constructor(parent) {
    super(parent, 230);
    this.marks = [];
    this.capacity = 0;
    this.looked = null;
  }

  // Rows of [id, name, values], the events to mark, and the time that is looked at, if that isn't the latest.
  draw(times, rows, ranks, capacity, marks, looked) {
    this.marks = marks;
    this.capacity = capacity;
    this.looked = looked;
    const last = times[times.length - 1];
    const seconds = times.map((ns) => (ns - last) / 1e9);
    this.last = last;
    let sums = times.map(() => 0);
    const stacked = rows.map((row) => (sums = sums.map((sum, i) => sum + row.values[i])));
    // Drawn from the highest, each from its own sum down to the one below.
    const fill = (row) => paint(row.id === null ? "rest" : colour(ranks.get(row.id) ?? 0));
    const key = JSON.stringify([rows.map((row) => [row.id, fill(row)]), Math.round(seconds[0])]);
    this.first = seconds[0];
    const stepped = uPlot.paths.stepped({ align: 1 });
    this.show(key, () => ({
      scales: {
        x: { time: false, range: () => [this.first, 0] },
        y: { range: () => [0, Math.max(1, this.capacity) * 1.04] },
      },
      axes: [axis("seconds before"), axis("contexts")],
      series: [{}, ...rows.map((row) => ({
        stroke: fill(row), fill: fill(row), width: 1, paths: stepped, points: { show: false },
      }))],
      bands: rows.slice(1).map((row, i) => ({ series: [i + 2, i + 1], fill: fill(row) })),
      hooks: { draw: [(chart) => this.over(chart)] },
    }), [seconds, ...stacked]);
  }

  over(chart) {
    const { left, top, width, height } = chart.bbox;
    const x = (ns) => chart.valToPos((ns - this.last) / 1e9, "x", true);
    const full = chart.valToPos(this.capacity, "y", true);
    line(chart, [left, full], [left + width, full], paint("fore"), [6, 4]);
    for (const { ns, kind } of this.marks)
      line(chart, [x(ns), top], [x(ns), top + height], paint(kind === "policy" ? "mark" : "soft"), [2, 3]);
    if (this.looked !== null) line(chart, [x(this.looked), top], [x(this.looked), top + height], paint("fore"), []);
  }
}

export class Curve extends Chart {
  constructor(parent) {
    super(parent, 220);
  }

  draw(program, rank) {
    this.program = program;
    const points = program.curve;
    const most = Math.max(program.natural, ...points.map((point) => point.dop), 2);
    this.most = most;
    this.top = Math.max(...points.map((point) => point.speedup * (1 + point.error_ratio)), program.speedup ?? 1, 1);
    this.show(`${most} ${colour(rank)}`, () => ({
      scales: { x: { time: false, range: () => [0, this.most + 0.5] }, y: { range: () => [0, this.top * 1.08] } },
      axes: [axis("contexts"), axis("speedup")],
      series: [{}, { stroke: paint(colour(rank)), width: 2, points: { show: true, size: 7 } }],
      hooks: { draw: [(chart) => this.over(chart)] },
    }), [points.map((point) => point.dop), points.map((point) => point.speedup)]);
  }

  over(chart) {
    const x = (dop) => chart.valToPos(dop, "x", true);
    const y = (speedup) => chart.valToPos(speedup, "y", true);
    for (const { dop, speedup, error_ratio } of this.program.curve) {
      const error = Math.min(speedup * error_ratio, this.top);
      line(chart, [x(dop), y(Math.max(0, speedup - error))], [x(dop), y(speedup + error)], paint("soft"), []);
    }
    const { dop } = this.program;
    if (dop != null) line(chart, [x(dop), y(0)], [x(dop), y(this.top)], paint("mark"), [4, 3]);
  }
}
