"""Decodes the headers of HTTP/2 requests (RFC 7541), with the tables of its appendices A and B."""

STATIC = [tuple((line + "=").split("=")[:2]) for line in """:authority :method=GET :method=POST :path=/
:path=/index.html :scheme=http :scheme=https :status=200 :status=204 :status=206 :status=304 :status=400
:status=404 :status=500 accept-charset accept-encoding=gzip,~deflate accept-language accept-ranges accept
access-control-allow-origin age allow authorization cache-control content-disposition content-encoding
content-language content-length content-location content-range content-type cookie date etag expect expires
from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location
max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie
strict-transport-security transfer-encoding user-agent vary via www-authenticate""".split()]

LENGTHS = [int(n) for n in """13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28
28 28 28 6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 13 6 7 7 7 7 7 7 7 7 7 7 7
7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6 15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 22 21 20 22 22
23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23 26 26 20 19 22 23 22 25 26 26
26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27 20 24 20 21 22 21 21 23 22 22 25 25 24 24 26
23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26 30""".split()]


def huffman_codes():
    """The code is canonical: its words of one length are in the order of their symbols."""
    codes, code, before = {}, 0, 0
    for length, symbol in sorted((n, s) for s, n in enumerate(LENGTHS)):
        code <<= length - before
        codes[length, code], code, before = symbol, code + 1, length
    return codes


CODES = huffman_codes()


def huffman(data):
    found, code, length = bytearray(), 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code, length = code << 1 | byte >> bit & 1, length + 1
            if (length, code) in CODES:
                found.append(CODES[length, code])
                code = length = 0
    return bytes(found)


class Headers:
    """Decodes the header blocks of one direction of a connection."""

    def __init__(self):
        self.entries, self.size, self.most = [], 0, 4096

    def entry(self, index):
        return STATIC[index - 1] if index <= len(STATIC) else self.entries[index - len(STATIC) - 1]

    def keep(self, name, value):
        self.entries.insert(0, (name, value))
        self.size += len(name) + len(value) + 32
        self.evict()

    def evict(self):
        while self.size > self.most:
            self.size -= sum(map(len, self.entries.pop())) + 32

    def decode(self, data):
        found, at = [], 0

        def integer(bits):
            nonlocal at
            value, at = data[at] & (1 << bits) - 1, at + 1
            if value < (1 << bits) - 1:
                return value
            shift = 0
            while True:
                byte, at = data[at], at + 1
                value += (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        def string():
            nonlocal at
            coded = data[at] & 128
            length = integer(7)
            value, at = data[at : at + length], at + length
            return (huffman(value) if coded else value).decode("latin-1")

        while at < len(data):
            first = data[at]
            if first & 128:
                found.append(self.entry(integer(7)))
            elif first & 0xE0 == 0x20:
                self.most = integer(5)
                self.evict()
            else:
                indexed = first & 0x40
                index = integer(6 if indexed else 4)
                name = self.entry(index)[0] if index else string()
                value = string()
                found.append((name, value))
                if indexed:
                    self.keep(name, value)
        return dict(found)
