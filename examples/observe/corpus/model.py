"""What both protocols come to: steps of sessions, and notifications that changes caused."""

import collections
import math
import re

# A Step is a request with its answer. op is create, delete, set, read, wait (a read that leaves a
# watch, or a watch of etcd), cancel, txn or another; done says whether it succeeded. asked and
# answered are times.
Step = collections.namedtuple("Step", "session op path done asked answered")

# A Notification tells a session of a change (its zxid or revision, or a name for one that the
# wire does not show) at a path. watch says which of the session's watches.
Notification = collections.namedtuple("Notification", "time session watch path change")

# A Watch stood at a path, or at all paths of a range (first inclusive, last exclusive).
Watch = collections.namedtuple("Watch", "session first last")


class Traffic:
    """All that a capture says."""

    def __init__(self):
        self.steps, self.notifications, self.watches = [], [], set()
        self.undecoded = collections.Counter()
        self.suppressed = 0  # second watches of a session that a deletion fired, of which it is told once

    def by_session(self):
        steps = collections.defaultdict(list)
        for step in sorted(self.steps, key=lambda s: s.asked):
            steps[step.session].append(step)
        return steps


IDENTIFIER = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<![0-9a-zA-Z])[0-9a-f]{12,}(?![0-9a-zA-Z])|-?\d+"
)


def fold(path):
    """Writes each number and each random identifier as *, so that the nodes of one line are one path."""
    return IDENTIFIER.sub("*", path)


def matches(patterns, step):
    """A pattern is "op path" or "op! path" (failed). The path may have * for anything."""
    for pattern in patterns:
        op, _, path = pattern.partition(" ")
        if op == step.op + ("" if step.done else "!"):
            if re.fullmatch(".*".join(re.escape(p) for p in path.split("*")), step.path, re.S):
                return True
    return False


def is_useful(rule, notification, steps, told):
    """Judges a notification by what its session did next: the first step that the rule names decides.

    told has the session's notifications. "until": "notified" ends the search at the next of them,
    "notified here" at the next of the same folded path. "after" names the step by which the session asks again:
    what decides must come after it, and a notification after which the session goes on without it has ended
    no wait.
    """
    end, until, path = math.inf, rule.get("until"), fold(notification.path)
    if until:
        later = told[told.index(notification) + 1 :]
        end = min((n.time for n in later if until == "notified" or fold(n.path) == path), default=math.inf)
    asked = not rule.get("after")
    same = re.compile(rule.get("same", ""))
    key = lambda path: same.match(path).groups() if same.match(path) else None
    for step in steps:
        if step.asked < notification.time:
            continue
        if step.asked > end:
            break
        if rule.get("same") and key(step.path) != key(notification.path):
            continue
        if not asked and matches(rule["after"], step):
            asked = True
            continue
        if matches(rule.get("useful", []), step):
            return asked
        if matches(rule.get("wasted", []), step):
            return False
    return rule["otherwise"] == "useful"


def useful_for_each(rule, notifications, traffic):
    """Counts changes after which, before the next, some session did what the rule names.

    It serves where a client has a connection for its watch and others for its requests: one of those that a
    change woke has succeeded then, and the wire does not say which.
    """
    first = {}
    for n in notifications:
        first.setdefault(n.change, n.time)
    starts = sorted(first.values())
    ends = starts[1:] + [math.inf]
    done = [s.asked for s in traffic.steps if matches(rule["one_for_each_change"], s)]
    return sum(any(start < asked <= end for asked in done) for start, end in zip(starts, ends))


def covers(watch, path):
    return watch.first == path if watch.last is None else watch.first <= path < watch.last


def count(traffic, rules):
    """Counts each folded path. rules maps folded paths to rules, "" is the rule of all others."""
    rows, steps = {}, traffic.by_session()
    groups, told = collections.defaultdict(list), collections.defaultdict(list)
    for n in traffic.notifications:
        groups[fold(n.path)].append(n)
        told[n.session].append(n)
    for path, notifications in sorted(groups.items()):
        woken = collections.defaultdict(set)
        for n in notifications:
            woken[n.change].add(n.session)
        paths = {n.path for n in notifications}
        at = {w.session for w in traffic.watches if any(covers(w, p) for p in paths) or fold(w.first) == path}
        rule = rules.get(path, rules.get("", {"otherwise": "useful"}))
        if "one_for_each_change" in rule:
            wasted = len(notifications) - useful_for_each(rule, notifications, traffic)
        else:
            wasted = sum(not is_useful(rule, n, steps[n.session], told[n.session]) for n in notifications)
        rows[path] = {
            "notifications": len(set((n.session, n.watch, n.change, n.path) for n in notifications)),
            "sessions": len(at),
            "changes": len(woken),
            "most_woken": max(map(len, woken.values())),
            "wasted": wasted,
        }
    return rows
