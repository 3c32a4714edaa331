// The selected program: why it has what it has, and its speedup.
import { Curve } from "./chart.js";
import { Table, each, element, say } from "./table.js";

export function short(number, digits = 2) {
  return number == null ? "–" : number.toFixed(digits);
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
    const rows = !program ? [["Program", "none is selected"]] : [
      ["Program", `${program.name}, process ${program.pid} of ${user(program.uid)}${program.job ? `, job ${program.job}` : ""}`],
      ["Why", program.reason],
      ["How", [program.mechanism, program.mechanism_reason].filter(Boolean).join(": ")],
      ["Permission", program.permission ?? ""],
      ["Not gathered", program.ungathered ?? ""],
      ["Limits", `${program.min} to ${program.max || "no limit"}, weight ${program.weight}` +
        (program.exact ? ", exact" : "")],
      ["Regions", `${program.regions}, of which ${program.promised_regions} fix their team size`],
      ["Earlier runs", program.earlier_runs ? String(program.earlier_runs) : ""],
    ].filter(([, text]) => text);
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
