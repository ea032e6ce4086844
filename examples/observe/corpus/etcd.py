"""Decodes etcd's protocol: gRPC on HTTP/2, and the JSON gateway on HTTP/1.1.

A notification is what one watch is told of one revision and one key. Each names its revision. A
transaction is a step named txn, or create where it requires that the key is not there, and a step for each
operation that it carried out.
"""

import base64
import collections
import json
import struct

from hpack import Headers
from model import Notification, Step, Traffic, Watch
from wire import pieces

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, CONTINUATION = 0, 1, 9
END_STREAM, PADDED, PRIORITY = 1, 8, 32
OPS = {"Range": "read", "Put": "set", "DeleteRange": "delete", "Txn": "txn"}


def fields(data):
    """Reads a protobuf message: by number of the field, a list of integers and bytes."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3].append(varint())
        elif tag & 7 == 2:
            length = varint()
            found[tag >> 3].append(data[at : at + length])
            at += length
        else:
            size = {1: 8, 5: 4}[tag & 7]
            found[tag >> 3].append(data[at : at + size])
            at += size
    return found


def one(message, number, default=b""):
    return message[number][-1] if message[number] else default


def name(key):
    return key.decode("utf-8", "backslashreplace")


class Watches:
    """The watches of one stream, whose answers come in the order of the requests."""

    def __init__(self, traffic, session):
        self.traffic, self.session, self.asked = traffic, session, collections.deque()
        self.standing = {}

    def request(self, create, cancel, time):
        if create is not None:
            self.asked.append((create, time))
        elif cancel is not None:
            path = name(self.standing.get(cancel, (b"", b""))[0])
            self.traffic.steps.append(Step(self.session, "cancel", path, True, time, time))

    def response(self, time, number, created, canceled, events, stream):
        if created:
            (key, end), asked = self.asked.popleft()
            self.standing[number] = (key, end)
            last = None if not end else name(end) if end != b"\0" else "\U0010ffff"
            self.traffic.watches.add(Watch(self.session, name(key), last))
            self.traffic.steps.append(Step(self.session, "wait", name(key), not canceled, asked, time))
        for key, revision in events:
            self.traffic.notifications.append(
                Notification(time, self.session, (stream, number), name(key), revision)
            )


class Grpc:
    """One connection with HTTP/2."""

    def __init__(self, traffic, session):
        self.traffic, self.session = traffic, session
        self.rest = {True: b"", False: b""}
        self.headers, self.block = Headers(), b""
        self.methods, self.asked, self.watches = {}, {}, {}
        self.messages = collections.defaultdict(bytes)

    def read(self, piece):
        data = self.rest[piece.client] + piece.data
        if piece.client and data.startswith(PREFACE):
            data = data[len(PREFACE) :]
        while len(data) >= 9 and len(data) - 9 >= int.from_bytes(data[:3], "big"):
            length = int.from_bytes(data[:3], "big")
            self.frame(piece, data[3], data[4], int.from_bytes(data[5:9], "big"), data[9 : 9 + length])
            data = data[9 + length :]
        self.rest[piece.client] = data

    def frame(self, piece, kind, flags, stream, payload):
        if kind in (DATA, HEADERS) and flags & PADDED:
            payload = payload[1 : len(payload) - payload[0]]
        if kind == HEADERS and flags & PRIORITY:
            payload = payload[5:]
        if kind in (HEADERS, CONTINUATION) and piece.client:
            self.block += payload
            if flags & 4:
                path = self.headers.decode(self.block).get(":path")
                self.block = b""
                if path:
                    self.methods[stream] = path
                    if path.endswith("Watch/Watch"):
                        self.watches[stream] = Watches(self.traffic, self.session)
        elif kind == DATA:
            data = self.messages[stream, piece.client] + payload
            while len(data) >= 5 and len(data) - 5 >= struct.unpack_from(">I", data, 1)[0]:
                length = struct.unpack_from(">I", data, 1)[0]
                if data[0]:
                    self.traffic.undecoded["compressed message"] += 1
                else:
                    self.message(piece, stream, fields(data[5 : 5 + length]))
                data = data[5 + length :]
            self.messages[stream, piece.client] = data

    def message(self, piece, stream, message):
        service, _, method = self.methods.get(stream, "").rpartition("/")
        if stream in self.watches:
            self.watch(piece, stream, message)
        elif service.endswith(".KV") and method in OPS:
            if piece.client:
                self.asked[stream] = (message, piece.time)
            elif stream in self.asked:
                request, asked = self.asked.pop(stream)
                self.traffic.steps.extend(kv_steps(self.session, method, request, message, asked, piece.time))
        elif service.endswith(".Lease") or service.endswith(".Maintenance") or service.endswith(".Cluster"):
            pass
        elif service:
            self.traffic.undecoded[service + "/" + method] += 1

    def watch(self, piece, stream, message):
        watches = self.watches[stream]
        if piece.client:
            create, cancel = one(message, 1, None), one(message, 2, None)
            if create is not None:
                create = fields(create)
                watches.request((one(create, 1), one(create, 2)), None, piece.time)
            elif cancel is not None:
                watches.request(None, one(fields(cancel), 1, 0), piece.time)
            return
        events = []
        for event in message[11]:
            kv = fields(one(fields(event), 2))
            events.append((one(kv, 1), one(kv, 3, 0)))
        watches.response(piece.time, one(message, 2, 0), one(message, 3, 0), one(message, 4, 0), events, stream)


def kv_steps(session, method, request, response, asked, answered):
    if method == "Txn":
        done = bool(one(response, 2, 0))
        paths, writes, transaction = [], [], "txn"
        for comparison in map(fields, request[1]):
            paths.append(name(one(comparison, 3)))
            if one(comparison, 1, 0) == 0 and one(comparison, 2, 0) == 1 and one(comparison, 5, None) == 0:
                transaction = "create"  # if the key's revision of creation is 0, the key is not there
        for op in request[2 if done else 3]:
            op = fields(op)
            for number, kind in ((1, "read"), (2, "set"), (3, "delete")):
                if op[number]:
                    writes.append((kind, name(one(fields(op[number][0]), 1))))
        path = paths[0] if paths else writes[0][1] if writes else ""
        yield Step(session, transaction, path, done, asked, answered)
        for kind, path in writes:
            yield Step(session, kind, path, True, asked, answered)
    else:
        done = method != "DeleteRange" or bool(one(response, 2, 0))
        yield Step(session, OPS[method], name(one(request, 1)), done, asked, answered)


class Gateway:
    """One connection with HTTP/1.1: requests and answers by turns, and the watch whose answer has no end."""

    def __init__(self, traffic, session, stream):
        self.traffic, self.session, self.stream = traffic, session, stream
        self.rest = {True: b"", False: b""}
        self.asked, self.watches, self.chunked, self.lines = collections.deque(), None, False, b""

    def read(self, piece):
        data = self.rest[piece.client] + piece.data
        while data:
            left = self.request(piece, data) if piece.client else self.answer(piece, data)
            if left is None:
                break
            data = left
        self.rest[piece.client] = data

    @staticmethod
    def head(data):
        """Returns the first line, the fields in lower case, and the body; None before all is there."""
        head, found, body = data.partition(b"\r\n\r\n")
        if not found:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        return first, {l.partition(":")[0].lower(): l.partition(":")[2].strip() for l in lines}, body

    def request(self, piece, data):
        head = self.head(data)
        if head is None or len(head[2]) < int(head[1].get("content-length", 0)):
            return None
        length = int(head[1].get("content-length", 0))
        method, path, _ = head[0].split(" ")
        body = json.loads(head[2][:length] or b"{}") if path.startswith("/v3") else {}
        self.asked.append((path, body, piece.time))
        if path.endswith("/watch"):
            self.watches = Watches(self.traffic, self.session)
            create = body["create_request"]
            self.watches.request((decode(create.get("key")), decode(create.get("range_end"))), None, piece.time)
        return head[2][length:]

    def answer(self, piece, data):
        if not self.chunked:
            head = self.head(data)
            if head is None:
                return None
            if head[1].get("transfer-encoding") == "chunked":
                self.chunked, self.lines = True, b""
                return head[2]
            length = int(head[1].get("content-length", 0))
            if len(head[2]) < length:
                return None
            self.answered(piece, head[2][:length])
            return head[2][length:]
        size, found, rest = data.partition(b"\r\n")
        length = int(size, 16) if found else 0
        if not found or len(rest) < length + 2:
            return None
        self.lines += rest[:length]
        if self.watches:
            *lines, self.lines = self.lines.split(b"\n")
            for line in lines:
                self.told(piece, json.loads(line))
        if length == 0:
            self.chunked = False
            if not self.watches:
                self.answered(piece, self.lines)
        return rest[length + 2 :]

    def told(self, piece, message):
        result = message.get("result", {})
        events = [(decode(e["kv"]["key"]), int(e["kv"]["mod_revision"])) for e in result.get("events", [])]
        number, created = int(result.get("watch_id", 0)), result.get("created", False)
        self.watches.response(piece.time, number, created, result.get("canceled", False), events, self.stream)

    def answered(self, piece, body):
        path, request, asked = self.asked.popleft()
        method = path.rpartition("/kv/")[2]
        step = {"range": "read", "put": "set", "deleterange": "delete", "txn": "txn"}.get(method)
        if not step:
            if "/lease/" not in path and path.startswith("/v3") and "/maintenance/" not in path:
                if "/cluster/" not in path:
                    self.traffic.undecoded[path] += 1
            return
        response = json.loads(body)
        key, done = decode(request.get("key")), "error" not in response
        if method == "txn":
            done = response.get("succeeded", False)
            comparison = request["compare"][0]
            key = decode(comparison["key"])
            if comparison.get("target") == "CREATE" and int(comparison.get("create_revision", -1)) == 0:
                step = "create"
        if method == "deleterange":
            done = int(response.get("deleted", 0)) > 0
        self.traffic.steps.append(Step(self.session, step, name(key), done, asked, piece.time))


def decode(text):
    return base64.b64decode(text or "")


class Decoder:
    def __init__(self):
        self.traffic, self.connections = Traffic(), {}

    def read(self, file, port):
        waiting = collections.defaultdict(bytes)
        for piece in pieces(file, port, self.traffic.undecoded):
            if piece.connection not in self.connections:
                if not piece.client:
                    waiting[piece.connection] += piece.data  # a server's settings may come first
                    continue
                self.connections[piece.connection] = self.connection(piece)
                if waiting[piece.connection]:
                    early = piece._replace(client=False, data=waiting.pop(piece.connection))
                    self.connections[piece.connection].read(early)
            self.connections[piece.connection].read(piece)
        return self.traffic

    def connection(self, piece):
        address = ".".join(map(str, piece.connection.address))
        session = "%s:%d/%d" % (address, *piece.connection[1:])
        if piece.data.startswith(b"PRI"):
            return Grpc(self.traffic, session)
        return Gateway(self.traffic, session, piece.connection)
