#!/usr/bin/env python3
"""Counts what the packets of each item of the corpus show, apart from stampede.

  decode.py check ITEM...    compare with the counts in item.json; exit 1 if they differ
  decode.py write ITEM...    write the counts into item.json
  decode.py show ITEM        print steps and notifications in the order of time
"""

import json
import os
import sys

import etcd
import zookeeper
from model import count

FIGURES = ("notifications", "sessions", "changes", "most_woken", "wasted", "wasted_share")


def read(item, folder):
    protocol = {"zookeeper": zookeeper, "etcd": etcd}[item["protocol"]]
    return protocol.Decoder().read(os.path.join(folder, "traffic.pcap.gz"), item["port"])


def counted(item, traffic):
    rows = count(traffic, {row["path"]: row["rule"] for row in item["paths"]})
    for row in rows.values():
        row["wasted_share"] = round(row["wasted"] / row["notifications"], 4)
    return rows


def turns_without_waiting(item, rows):
    """Returns the turns that the program counted less the notifications that led to one."""
    stated = item["program_turns_of"]
    row = rows.get(stated["path"], {"notifications": 0, "wasted": 0})
    return item["program_turns"] + stated.get("ends", 0) - row["notifications"] + row["wasted"]


def within(event, traffic):
    """Returns what all sessions asked and were notified of in the time of an event."""
    begin = start(traffic)
    told = [n for n in traffic.notifications if event["from"] <= n.time - begin <= event["to"]]
    steps = [s for s in traffic.steps if event["from"] <= s.asked - begin <= event["to"]]
    writes = [s for s in steps if s.op in ("create", "set", "delete")]
    return {
        "notifications": len(told),
        "woken": len({n.session for n in told}),
        "reads": sum(s.op in ("read", "wait") for s in steps),
        "writes": len(writes),
        "failed_writes": sum(not s.done for s in writes),
    }


def differences(item, traffic):
    for event in item.get("events", []):
        found = within(event, traffic)
        if any(event[figure] != found[figure] for figure in found):
            yield "event that begins with %s: stated %s, counted %s" % (event["begins"], event, found)
    rows = counted(item, traffic)
    for path in sorted(set(rows) | {row["path"] for row in item["paths"]} - {""}):
        stated = next((row for row in item["paths"] if row["path"] == path), {})
        for figure in FIGURES:
            if rows.get(path, {}).get(figure) != stated.get(figure):
                yield "%s %s: stated %s, counted %s" % (
                    path, figure, stated.get(figure), rows.get(path, {}).get(figure))
    fired = sum(row["notifications"] for row in rows.values()) + traffic.suppressed
    if "server_fired" in item and item["server_fired"] != fired:
        yield "watches fired: the server counted %d, the packets have %d" % (item["server_fired"], fired)
    if "program_calls_of" in item:
        told = sum(rows.get(path, {}).get("notifications", 0) for path in item["program_calls_of"])
        if told != item["program_calls"]:
            yield "calls of watchers: the program's %d, the packets' %d" % (item["program_calls"], told)
    if "program_turns_of" in item:
        stated, direct = item["program_turns_of"]["without_waiting"], turns_without_waiting(item, rows)
        if direct != stated:
            yield "turns without waiting: stated %d, counted %d" % (stated, direct)
    if dict(traffic.undecoded) != item.get("undecoded", {}):
        yield "undecoded: stated %s, found %s" % (item.get("undecoded", {}), dict(traffic.undecoded))


def write(item, traffic, file):
    rows = counted(item, traffic)
    for path, row in rows.items():
        stated = next((r for r in item["paths"] if r["path"] == path), None)
        if stated is None:
            rule = next((r["rule"] for r in item["paths"] if r["path"] == ""), {"otherwise": "useful"})
            stated = {"path": path, "rule": rule, "verdict": "?", "why": "?"}
            item["paths"].append(stated)
        stated.update(row)
    item["paths"] = [row for row in item["paths"] if row.get("notifications")]
    item["undecoded"] = dict(traffic.undecoded)
    if "program_turns_of" in item:
        item["program_turns_of"]["without_waiting"] = turns_without_waiting(item, rows)
    with open(file, "w") as f:
        json.dump(item, f, indent=1, ensure_ascii=False)
        f.write("\n")


def start(traffic):
    return min([s.asked for s in traffic.steps] + [n.time for n in traffic.notifications], default=0)


def show(traffic):
    lines = [(s.asked, s.session, s.op + ("" if s.done else "!"), s.path, "") for s in traffic.steps]
    lines += [(n.time, n.session, "NOTIFIED", n.path, n.change) for n in traffic.notifications]
    for time, *words in sorted(lines, key=lambda l: l[0]):
        print("%9.4f" % (time - start(traffic)), *words)


def main():
    mode, failed = sys.argv[1], False
    for folder in sys.argv[2:]:
        file = os.path.join(folder, "item.json")
        with open(file) as f:
            item = json.load(f)
        traffic = read(item, folder)
        if mode == "show":
            show(traffic)
        elif mode == "write":
            write(item, traffic, file)
        for line in differences(item, traffic) if mode != "show" else ():
            failed = True
            print("%s: %s" % (folder, line))
    sys.exit(failed)


if __name__ == "__main__":
    main()
