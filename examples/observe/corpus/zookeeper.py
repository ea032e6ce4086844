"""Decodes ZooKeeper's protocol, with which change each notification is about.

A watch fires once, at the first change after the request that left it. The answer to that request has the
number (zxid) of the last change before it, and the answer to a write has the write's own number. So the
change is known exactly, though notifications of ZooKeeper 3.8 do not name it, and no times are compared.
"""

import collections
import struct

from model import Notification, Step, Traffic, Watch
from wire import pieces

READS = {3: "exists", 4: "data", 8: "children", 12: "children"}
CREATES = (1, 15, 19, 21)
OTHERS = {6: "acl", 7: "acl", 9: "sync", 13: "check", 17: "check", 100: "auth", 103: "read", 104: "read"}
CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4
CLOSE = -11


def text(data, at):
    length = struct.unpack_from(">i", data, at)[0]
    return (data[at + 4 : at + 4 + length].decode(), at + 4 + length) if length >= 0 else ("", at + 4)


def skip_buffer(data, at):
    return at + 4 + max(0, struct.unpack_from(">i", data, at)[0])


def skip_acl(data, at):
    entries, at = struct.unpack_from(">i", data, at)[0], at + 4
    for _ in range(max(0, entries)):
        at = text(data, text(data, at + 4)[1])[1]
    return at


def create_body(op, data, at):
    """Returns path, whether the node lives as long as its session, and where the body ends."""
    path, at = text(data, at)
    at = skip_acl(data, skip_buffer(data, at))
    flags = struct.unpack_from(">i", data, at)[0]
    return path, flags in (1, 3), at + 4 + (8 if op == 21 else 0)


def parent(path):
    return path.rpartition("/")[0] or "/"


class Decoder:
    def __init__(self):
        self.traffic = Traffic()
        self.rest = collections.defaultdict(bytes)
        self.session, self.pending, self.shaken = {}, collections.defaultdict(collections.deque), set()
        self.changes = collections.defaultdict(list)  # by event and path: zxid, time asked
        self.owned = collections.defaultdict(set)
        self.armed = {}  # by session, path and "data" or "child": zxid
        self.persistent = {}  # by session and path: zxid, recursive, zxid of the last event by event and path
        self.fired = []

    def read(self, file, port):
        for piece in pieces(file, port, self.traffic.undecoded):
            way = (piece.connection, piece.client)
            data = self.rest[way] + piece.data
            if piece.client and way not in self.shaken and data[:4].isalpha():
                self.traffic.undecoded["four-letter word"] += 1
                continue
            at = 0
            while len(data) - at >= 4:
                length = struct.unpack_from(">i", data, at)[0]
                if len(data) - at - 4 < length:
                    break
                self.message(piece, way, data[at + 4 : at + 4 + length])
                at += 4 + length
            self.rest[way] = data[at:]
        self.attribute()
        return self.traffic

    def message(self, piece, way, body):
        if way not in self.shaken:
            self.shaken.add(way)
            if not piece.client:
                self.session[piece.connection] = "%#x" % struct.unpack_from(">Q", body, 8)[0]
        elif piece.client:
            self.request(piece, body)
        else:
            self.answer(piece, body)

    def request(self, piece, body):
        xid, op = struct.unpack_from(">ii", body)
        if op not in (11, 100):  # pings and logins have numbers of their own and change nothing
            self.pending[piece.connection].append((xid, op, body[8:], piece.time))

    def answer(self, piece, body):
        xid, zxid, error = struct.unpack_from(">iqi", body)
        session = self.session[piece.connection]
        if xid == -1:
            event, _, (path, _) = *struct.unpack_from(">ii", body, 16), text(body, 24)
            self.notified(piece.time, session, event, path)
            return
        if xid in (-2, -4):
            return
        sent, op, request, asked = self.pending[piece.connection].popleft()
        if sent != xid:
            raise ValueError("answer %d to request %d" % (xid, sent))
        self.answered(session, op, request, asked, piece.time, zxid, error, body[16:])

    def step(self, session, op, path, done, asked, answered):
        self.traffic.steps.append(Step(session, op, path, done, asked, answered))

    def answered(self, session, op, request, asked, now, zxid, error, result):
        if op in READS:
            path, at = text(request, 0)
            watched = request[at] == 1 and (error == 0 or op == 3)
            self.step(session, "wait" if watched else "read", path, error == 0, asked, now)
            if watched:
                self.arm(session, path, "child" if READS[op] == "children" else "data", zxid)
        elif op == 14:
            self.multi(session, request, asked, now, zxid, error, result)
        elif op in CREATES or op in (2, 5):
            self.write(session, op, request, 0, asked, now, zxid, error, result)
        elif op == 101 or op == 105:
            at, since = 8, struct.unpack_from(">q", request)[0]
            for kind in ("data", "data", "child", "all", "all/")[: 3 if op == 101 else 5]:
                number, at = struct.unpack_from(">i", request, at)[0], at + 4
                for _ in range(max(0, number)):
                    path, at = text(request, at)
                    self.step(session, "wait", path, True, asked, now)
                    if kind[:3] == "all":
                        self.persist(session, path, since, kind == "all/")
                    else:
                        self.arm(session, path, kind, since)
        elif op == 106:
            path, at = text(request, 0)
            self.step(session, "wait", path, error == 0, asked, now)
            self.persist(session, path, zxid, struct.unpack_from(">i", request, at)[0] == 1)
        elif op == 18:
            path, at = text(request, 0)
            self.step(session, "cancel", path, error == 0, asked, now)
            kinds = {1: ["child"], 2: ["data"], 3: ["child", "data"]}
            for kind in kinds.get(struct.unpack_from(">i", request, at)[0], []) if error == 0 else ():
                self.armed.pop((session, path, kind), None)
        elif op == CLOSE:
            for path in self.owned.pop(session, ()):
                self.change(DELETED, path, zxid, asked)
                self.step(session, "delete", path, True, asked, now)
        elif op in OTHERS:
            path = text(request, 0)[0] if op != 104 else ""
            self.step(session, OTHERS[op], path, error == 0, asked, now)
        else:
            self.traffic.undecoded["op %d" % op] += 1

    def write(self, session, op, request, at, asked, now, zxid, error, result):
        """Returns where the request ends."""
        if op in CREATES:
            path, owned, at = create_body(op, request, at)
            if error == 0:
                path = text(result, 0)[0]
                self.change(CREATED, path, zxid, asked)
                if owned:
                    self.owned[session].add(path)
        else:
            path, at = text(request, at)
            if op == 5:
                at = skip_buffer(request, at)
            at += 4
            if error == 0:
                self.change({2: DELETED, 5: CHANGED, 13: None}[op], path, zxid, asked)
                if op == 2:
                    for nodes in self.owned.values():
                        nodes.discard(path)
        name = "create" if op in CREATES else {2: "delete", 5: "set", 13: "check"}[op]
        self.step(session, name, path, error == 0, asked, now)
        return at

    def multi(self, session, request, asked, now, zxid, error, result):
        at, answers = 0, 0
        while True:
            op, end = struct.unpack_from(">i?", request, at)
            at += 9
            if end:
                return
            found, failed = b"", -1
            if error == 0:
                kind, _, failed = struct.unpack_from(">i?i", result, answers)
                answers += 9
                found = result[answers:]
                answers += 4 if kind == -1 else self.result_length(kind, found)
                failed = 0 if kind != -1 else -1
            at = self.write(session, op, request, at, asked, now, zxid, failed, found)

    @staticmethod
    def result_length(kind, result):
        stat = 68
        return {1: lambda: text(result, 0)[1], 5: lambda: stat, 2: lambda: 0, 13: lambda: 0}.get(
            kind, lambda: text(result, 0)[1] + stat
        )()

    def change(self, event, path, zxid, asked):
        if event is None:
            return
        self.changes[event, path].append((zxid, asked))
        if event in (CREATED, DELETED):
            self.changes[CHILD, parent(path)].append((zxid, asked))

    def arm(self, session, path, kind, zxid):
        self.armed.setdefault((session, path, kind), zxid)
        self.traffic.watches.add(Watch(session, path, None))

    def persist(self, session, path, zxid, recursive):
        self.persistent[session, path] = (zxid, recursive, {})
        self.traffic.watches.add(Watch(session, path, path + "0" if recursive else None))
        if recursive:
            self.traffic.watches.add(Watch(session, path, None))

    def standing(self, session, path):
        """Returns the persistent watches of a session that a change at a path fires."""
        found, at = [], path
        while True:
            watch = self.persistent.get((session, at))
            if watch and (at == path or watch[1]):
                found.append(watch)
            if at == "/":
                return found
            at = parent(at)

    def notified(self, time, session, event, path):
        """Notes from which zxid on the cause is looked for, once all changes are known."""
        kinds = {CREATED: ["data"], CHANGED: ["data"], CHILD: ["child"], DELETED: ["data", "child"]}[event]
        armed = [self.armed.pop((session, path, kind), None) for kind in kinds]
        armed = [zxid for zxid in armed if zxid is not None]
        standing = [] if event == CHILD else self.standing(session, path)
        if event == CHILD and (session, path) in self.persistent and not self.persistent[session, path][1]:
            standing = [self.persistent[session, path]]
        if not armed and not standing:
            raise ValueError("%s was notified of %s, which it did not watch" % (session, path))
        self.traffic.suppressed += event == DELETED and (len(armed) == 2 or bool(standing))
        self.fired.append((time, session, event, path, armed, standing))

    def attribute(self):
        unseen = {}
        for time, session, event, path, armed, standing in self.fired:
            told = [watch[2].get((event, path), watch[0]) for watch in standing]
            since = max(told) if told else min(armed)
            later = [z for z, asked in self.changes[event, path] if z > since and asked <= time]
            if later:
                cause = min(later)
                for watch in standing:
                    watch[2][event, path] = cause
            else:  # a session that expired, or a server's own deletion: told to all within a moment
                first = unseen.get((event, path), time)
                unseen[event, path] = first = time if time - first > 0.2 else first
                cause = "unseen %d %s %.6f" % (event, path, first)
                self.traffic.undecoded["change not on the wire"] += first == time
            self.traffic.notifications.append(Notification(time, session, (path, event), path, cause))
