"""Draws the plane of workers × time: plane.py TRACE.json OUT.svg [--run NUMBER] [--rank NUMBER].

Of one run of a trace (`freestone run … --trace TRACE.json`), by default the last: what each worker computed and when,
gray where it waited; below, what was planned for these sizes. One colour for each operator, the same in both parts.
Prints the time of the run, the planned time, and the part of it in which workers waited. Of a training over ranks, one of
them is drawn, by default rank 0.
"""

import argparse
import colorsys
import html
import json
import zlib

WIDTH, ROW, LABEL = 1600, 44, 150


def read_lanes(path, rank):
    """Lane → events of tasks and waits, in microseconds."""
    with open(path) as file:
        events = [event for event in json.load(file)["traceEvents"] if event["pid"] == rank + 1]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    lanes = {name: [] for name in names.values() if "worker" in name}
    for event in events:
        if event["ph"] == "X" and names[event["tid"]] in lanes:
            lanes[names[event["tid"]]].append(event)
    return lanes


def colour(name):
    red, green, blue = colorsys.hls_to_rgb(zlib.crc32(name.encode()) % 360 / 360, 0.72, 0.6)
    return f"rgb({int(255 * red)},{int(255 * green)},{int(255 * blue)})"


def draw_span(event, begin, scale, row):
    name, arguments = event["name"], event["args"]
    x, width = LABEL + (event["ts"] - begin) * scale, max(event["dur"] * scale, 0.3)
    is_wait = "tiles" not in arguments
    tiles = "" if is_wait else f", tiles {arguments['first tile']} to {arguments['first tile'] + arguments['tiles'] - 1}"
    title = html.escape(f"{name}: {event['dur']:.1f} µs{tiles}")
    text = ""
    if not is_wait and width > 8 * len(name) + 4:
        text = f'<text x="{x + 3:.1f}" y="{row * ROW + 26}">{html.escape(name)}</text>'
    fill = "#bbb" if is_wait else colour(name)
    return (f'<g><title>{title}</title><rect x="{x:.1f}" y="{row * ROW + 8}" width="{width:.2f}" height="{ROW - 16}" '
            f'fill="{fill}" stroke="white" stroke-width="0.3"/>{text}</g>')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("out")
    parser.add_argument("--run", type=int)
    parser.add_argument("--rank", type=int, default=0)
    options = parser.parse_args()
    lanes = read_lanes(options.trace, options.rank)
    measured = {name: events for name, events in lanes.items() if "planned" not in name}
    run = options.run or max(event["args"]["run"] for events in measured.values() for event in events)
    planned = {name: events for name, events in lanes.items() if "planned" in name}
    plan = max((event["args"]["run"] for events in planned.values() for event in events if event["args"]["run"] <= run), default=run)

    parts = []
    for part, number in ((measured, run), (planned, plan)):
        chosen = {name: [event for event in events if event["args"]["run"] == number] for name, events in part.items()}
        begin = min((event["ts"] for events in chosen.values() for event in events), default=0)
        end = max((event["ts"] + event["dur"] for events in chosen.values() for event in events), default=0)
        parts.append((chosen, begin, end - begin))
    longest = max(length for _, _, length in parts) or 1
    scale, row, shapes = (WIDTH - LABEL - 10) / longest, 0, []
    for chosen, begin, _ in parts:
        for name, events in chosen.items():
            shapes.append(f'<text x="6" y="{row * ROW + 26}">{html.escape(name)}</text>')
            shapes += [draw_span(event, begin, scale, row) for event in events]
            row += 1
    axis = [f'<text x="{LABEL + part * longest * scale / 4:.0f}" y="{row * ROW + 20}">{part * longest / 4:.0f} µs</text>' for part in range(5)]
    with open(options.out, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {(row + 1) * ROW}" font-family="sans-serif" '
                   f'font-size="13">\n' + "\n".join(shapes + axis) + "\n</svg>\n")
    waits = sum(event["dur"] for events in parts[0][0].values() for event in events if "tiles" not in event["args"])
    total = parts[0][2] * len(measured)
    print(f"{len(measured)} workers, run {run}: {parts[0][2]:.1f} µs, planned {parts[1][2]:.1f} µs; waiting {100 * waits / total:.1f} %")


if __name__ == "__main__":
    main()
