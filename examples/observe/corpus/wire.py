"""Reads captured packets: the bytes of each TCP connection to a port, in the order of their capture."""

import collections
import gzip
import struct

Piece = collections.namedtuple("Piece", "time connection client data")
Connection = collections.namedtuple("Connection", "address port number")


def packets(file):
    """Yields the time and the IP packet of each frame."""
    with (gzip.open if file.endswith(".gz") else open)(file, "rb") as f:
        data = f.read()
    magic, link = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    parts = {0xA1B2C3D4: 1e6, 0xA1B23C4D: 1e9}[magic]
    skipped = {1: 14, 101: 0, 113: 16}[link]
    at = 24
    while at + 16 <= len(data):
        seconds, part, kept, length = struct.unpack_from("<IIII", data, at)
        if kept != length:
            raise ValueError("the capture has cut packets")
        yield seconds + part / parts, data[at + 16 + skipped : at + 16 + kept]
        at += 16 + kept


def segments(file, port):
    """Yields time, client's address and port, whether the client sent it, sequence number, flags, payload."""
    for time, ip in packets(file):
        if ip[0] >> 4 == 4 and ip[9] == 6:
            head, end = (ip[0] & 15) * 4, struct.unpack_from(">H", ip, 2)[0]
            source, target = ip[12:16], ip[16:20]
        elif ip[0] >> 4 == 6 and ip[6] == 6:
            head, end = 40, 40 + struct.unpack_from(">H", ip, 4)[0]
            source, target = ip[8:24], ip[24:40]
        else:
            continue
        tcp = ip[head:end]
        sender, receiver, sequence = struct.unpack_from(">HHI", tcp)
        payload = tcp[(tcp[12] >> 4) * 4 :]
        if receiver == port:
            yield time, source, sender, True, sequence, tcp[13], payload
        elif sender == port:
            yield time, target, receiver, False, sequence, tcp[13], payload


def pieces(file, port, undecoded):
    """Yields what was sent for the first time, per direction in the order of the stream. A gap is an error.

    A connection that is older than the capture is counted in undecoded and left out: etcd's JSON gateway has
    one to its own server, which repeats what its clients ask.
    """
    older = set()
    number, expected, early = {}, {}, collections.defaultdict(dict)
    for time, address, peer, client, sequence, flags, payload in segments(file, port):
        name = (address, peer)
        if flags & 2 and client:
            number[name] = number.get(name, 0) + 1
        if name not in number:
            if payload and name not in older:
                older.add(name)
                undecoded["connection older than the capture"] += 1
            continue
        way = (Connection(address, peer, number[name]), client)
        if flags & 2:
            expected[way] = (sequence + 1) & 0xFFFFFFFF
            continue
        if not payload or way not in expected:
            continue
        early[way].setdefault(sequence, payload)
        while early[way]:
            ready = [s for s in early[way] if (expected[way] - s) & 0xFFFFFFFF < 1 << 31]
            if not ready:
                break
            first = min(ready, key=lambda s: -((expected[way] - s) & 0xFFFFFFFF))
            data = early[way].pop(first)[(expected[way] - first) & 0xFFFFFFFF :]
            if data:
                expected[way] = (expected[way] + len(data)) & 0xFFFFFFFF
                yield Piece(time, way[0], client, data)
    lost = [way[0].port for way, waiting in early.items() if waiting]
    if lost:
        raise ValueError("packets are missing in connections from ports %s" % sorted(set(lost)))
