"""What was measured, as a table in Markdown and as a picture."""

import statistics
from html import escape

COLOURS = {"unmanaged": "#9a9a9a", "passive": "#e69f00", "pinned": "#56b4e9", "scaf": "#009e73"}


def table(data):
    head = ["program", "managed", "plain, s", "scaf / plain", "results", "chaos", "STP: unmanaged"]
    lines = [f"| {' | '.join([*head, *list(COLOURS)[1:]])} |", "|---|---|--:|--:|---|--:|--:|--:|--:|--:|"]
    failed = []
    for found in data["programs"]:
        if "failed" in found:
            failed.append(f"- {found['name']} ({found['description']}): {found['failed']}")
            continue
        alone, chaos, how = found["alone"], found["chaos"], found["how"]
        same = "differ" if alone["wrong"] or how["wrong"] else "same"
        cells = [f"{found['name']}: {found['description']}", ", ".join(how["mechanisms"]),
                 f"{found['seconds']:.1f}", number(alone["ratio"]), same, f"{chaos['right']}/{chaos['runs']}"]
        cells += [number(mean(found, config), 2) for config in COLOURS]
        lines.append(f"| {' | '.join(cells)} |")
    good = [found for found in data["programs"] if "failed" not in found]
    lines += ["", summary(good)]
    lines += [f"- {found['name']}: {fault}" for found in good for fault in found["wrong"]]
    lines += ["", "Not measured:", *failed] if failed else []
    return "\n".join(lines) + "\n"


def summary(good):
    said = f"{len(good)} programs"
    ratios = [found["alone"]["ratio"] for found in good if found["alone"]["ratio"]]
    if ratios:
        said += f"; alone under scaf they take {statistics.geometric_mean(ratios):.3f} of their time"
    runs, right = (sum(found["chaos"][key] for found in good) for key in ("runs", "right"))
    said += f"; {right} of {runs} runs under chaos had the same results"
    for config in COLOURS:
        values = [mean(found, config, "vs_pinned") for found in good]
        values = [value for value in values if value]
        if values and config != "pinned":
            said += f"; {config} {statistics.geometric_mean(values):.2f} of pinned"
    return said + "."


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def mean(found, config, key="stp"):
    """The geometric mean over the rivals."""
    values = [configs[config][key] for configs in found.get("rivals", {}).values() if config in configs]
    values = [value for value in values if value]
    return statistics.geometric_mean(values) if values else None


def draw(data, file):
    """A row a program: its throughput beside rivals under each configuration, as points on a line."""
    rows = [found for found in data["programs"] if any(mean(found, config) for config in COLOURS)]
    rows.sort(key=lambda found: -(mean(found, "scaf") or 0))
    left, wide, high, top = 150, 480, 16, 44
    most = max([mean(found, config) or 0 for found in rows for config in COLOURS] + [1.0]) * 1.05
    bottom = top + high * len(rows)

    def at(value):
        return left + wide * value / most

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 20}" height="{bottom + 40}" '
             'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for index, (config, colour) in enumerate(COLOURS.items()):
        x = left + 110 * index
        parts.append(f'<circle cx="{x + 5}" cy="14" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="18">{config}</text>')
    step = 0.25 if most < 3 else 1.0
    for index in range(int(most / step) + 1):
        x = at(index * step)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 10}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{index * step:g}</text>')
    title = "sum of speedups (STP) beside a rival, geometric mean over the rivals"
    parts.append(f'<text x="{left + wide / 2}" y="{bottom + 32}" text-anchor="middle">{title}</text>')
    for index, found in enumerate(rows):
        y = top + high * index + 4
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(found["name"])}</text>')
        points = {config: mean(found, config) for config in COLOURS if mean(found, config)}
        ends = at(min(points.values())), at(max(points.values()))
        parts.append(f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}" stroke="#bbb"/>')
        parts += [f'<circle cx="{at(value):.1f}" cy="{y}" r="4" fill="{COLOURS[config]}"/>'
                  for config, value in points.items()]
    with open(file, "w") as opened:
        opened.write("\n".join([*parts, "</svg>"]) + "\n")
