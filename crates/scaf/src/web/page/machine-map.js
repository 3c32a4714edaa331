// The machine's contexts along its topology, each with the letter and colour of the program that has it.
import { classed, element, say } from "./table.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export function letter(rank) {
  return LETTERS[rank % LETTERS.length];
}

export function colour(rank) {
  return `c${rank % 12}`;
}

// "0-3,8" as numbers.
export function numbers(list) {
  return list.split(",").filter(Boolean).flatMap((part) => {
    const [first, last] = part.split("-").map(Number);
    return Array.from({ length: (last ?? first) - first + 1 }, (_, i) => first + i);
  });
}

export class MachineMap {
  constructor(parent) {
    this.parent = parent;
    this.cells = new Map();
    this.known = "";
  }

  // Makes the boxes, if there aren't those of this machine yet.
  lay(machine) {
    const known = JSON.stringify(machine);
    if (known === this.known) return;
    this.known = known;
    this.cells.clear();
    this.parent.replaceChildren();
    let last = null;
    let caches, cache;
    for (const pu of machine.pus) {
      if (!last || last.package !== pu.package || last.numa !== pu.numa) {
        caches = element("div", { class: "caches" });
        const label = `package ${pu.package}, node ${pu.numa}`;
        this.parent.append(element("div", { class: "package" }, element("p", {}, label), caches));
        last = null;
      }
      if (!last || last.l3 !== pu.l3) {
        cache = element("div", { class: "cache" });
        caches.append(cache);
      }
      const cell = element("span", { class: "pu" }, ".");
      this.cells.set(pu.os, cell);
      cache.append(cell);
      last = pu;
    }
  }

  show(state, ranks) {
    const owners = new Map();
    for (const program of state.programs.values())
      if (program.dop != null)
        for (const pu of numbers(program.pus)) owners.set(pu, owners.has(pu) ? null : program);
    const given = new Set(numbers(state.pus));
    for (const [pu, cell] of this.cells) {
      const program = owners.get(pu);
      const rank = program && ranks.get(program.id);
      const mixed = program === null;
      say(cell, mixed ? "*" : program ? letter(rank) : given.has(pu) ? "." : "-");
      classed(cell, mixed ? "pu rest" : program ? `pu ${colour(rank)}` : given.has(pu) ? "pu" : "pu away");
      const title = mixed ? `PU ${pu}: several` : `PU ${pu}: ${program ? program.name : "free"}`;
      if (cell.title !== title) cell.title = title;
    }
  }
}
