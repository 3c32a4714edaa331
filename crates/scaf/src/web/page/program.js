// The selected program: why it has what it has, and its speedup.
import { Curve } from "./chart.js";
import { program as fields } from "./fields.js";
import { Table, each, element, say } from "./table.js";

export function short(number, digits = 2) {
  return number == null ? "–" : number.toFixed(digits);
}

// What isn't just a field's value.
const SPECIAL = {
  mechanism: (p) => [p.mechanism, p.mechanism_reason].filter(Boolean).join("; "),
  effective_ns: (p) => (p.effective_ns == null && p.dop != null ? "outstanding: the DoP isn't in effect yet" : ""),
  min: (p) => `${p.min} to ${p.max || "no limit"}, weight ${p.weight}${p.exact ? ", exact" : ""}`,
  regions: (p) => `${p.regions}, of which ${p.promised_regions} fix their team size`,
  runtimes: () => "",
};

function details(p) {
  const text = ({ key, unit, number, fraction }) => {
    if (SPECIAL[key]) return SPECIAL[key](p);
    if (!p[key]) return "";
    return number ? `${fraction ? short(p[key]) : p[key]} ${unit}`.trim() : String(p[key]);
  };
  return fields.filter(({ detail }) => detail).map((field) => [field.detail, text(field)]).filter(([, it]) => it);
}

export class ProgramView {
  constructor() {
    this.list = document.getElementById("reasons");
    this.picture = document.getElementById("curve");
    this.curve = new Curve(this.picture);
    this.points = new Table(document.getElementById("curve-table"), [
      { name: "Contexts", number: true, head: true }, { name: "Speedup", number: true },
      { name: "Error", number: true }, { name: "Measured", number: true }, { name: "Rests on" },
    ], "Speedup of the selected program");
  }

  show(program, rank, user) {
    const rows = !program ? [["program", "none is selected"]] : [
      ["program", `${program.name}, process ${program.pid} of ${user(program.uid)}`], ...details(program),
    ];
    each(this.list, rows.flat(), () => element(this.list.children.length % 2 ? "dd" : "dt"), say);
    const known = program && program.curve.length > 0;
    this.picture.hidden = !known;
    if (known) this.curve.draw(program, rank);
    const points = program?.curve ?? [];
    this.points.show(points.map((point) => [
      String(point.dop), short(point.speedup), `±${Math.round(100 * point.error_ratio)}%`, short(point.observed),
      point.sources.join(", "),
    ]));
    const label = known
      ? `Speedup of ${program.name}: ${points.map((p) => `${short(p.speedup)} on ${p.dop}`).join(", ")}`
      : "No speedup is known yet";
    if (this.picture.getAttribute("aria-label") !== label) this.picture.setAttribute("aria-label", label);
  }
}
