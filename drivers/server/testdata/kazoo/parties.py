"""Parties: who is there, until they leave or are gone."""

from sessions import connect

one, two = connect(), connect()

for kind in ("Party", "ShallowParty"):
    path = "/parties/" + kind
    first, second = (getattr(client, kind)(path, name) for client, name in ((one, "first"), (two, "second")))
    print(kind, len(first), sorted(first))
    first.join()
    second.join()
    second.join()
    print(kind, len(first), sorted(first), sorted(second))
    first.leave()
    print(kind, len(second), sorted(second), first.leave())
    first.join()

one.stop()
for kind in ("Party", "ShallowParty"):
    print("left", sorted(getattr(two, kind)("/parties/" + kind)))
two.stop()
