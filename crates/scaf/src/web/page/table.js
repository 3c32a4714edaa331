// Tables that are brought up to date without being made anew, so that focus and selections stay.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function classed(node, name) {
  if (node.className !== name) node.className = name;
}

// Makes a list's children as many as there are values, and shows a value in each.
export function each(parent, values, make, show) {
  while (parent.children.length > values.length) parent.lastElementChild.remove();
  values.forEach((value, i) => {
    if (i >= parent.children.length) parent.append(make());
    show(parent.children[i], value, i);
  });
}

export class Table {
  // A column has a name, whether it is a number or long, and whether rows can be sorted by it.
  constructor(table, columns, caption, onSort) {
    this.columns = columns;
    this.head = element("tr");
    this.body = element("tbody");
    table.replaceChildren(element("caption", { class: "unseen" }, caption), element("thead", {}, this.head), this.body);
    for (const column of columns) {
      const th = element("th", { scope: "col", class: column.number ? "number" : "", title: column.about ?? "" });
      if (onSort && column.sort) {
        const button = element("button", { type: "button" }, column.name);
        button.addEventListener("click", () => onSort(column));
        th.append(button);
      } else th.append(column.name);
      this.head.append(th);
    }
  }

  sorted(by, falling) {
    this.columns.forEach((column, i) => {
      if (column === by) this.head.children[i].setAttribute("aria-sort", falling ? "descending" : "ascending");
      else this.head.children[i].removeAttribute("aria-sort");
    });
  }

  // A row is a list of texts, or of functions that show something in a cell.
  show(rows, about = () => {}) {
    const cell = (column) => element(column.head ? "th" : "td", {
      class: column.number ? "number" : column.long ? "long" : "",
      ...(column.head ? { scope: "row" } : {}),
    });
    each(this.body, rows, () => element("tr", {}, ...this.columns.map(cell)), (tr, row, i) => {
      about(tr, i);
      row.forEach((text, j) => (typeof text === "function" ? text(tr.children[j]) : say(tr.children[j], text)));
    });
  }
}
