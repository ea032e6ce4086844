"""Watches: those of one change, and those that kazoo arms again."""

import queue

from kazoo.recipe.watchers import ChildrenWatch, DataWatch

from sessions import PATIENCE, connect

one, two = connect(), connect()
told = queue.Queue()


def tell(event):
    told.put((event.type, event.path))


def heard():
    return told.get(timeout=PATIENCE)


two.exists("/w", watch=tell)
one.create("/w")
print("exists", *heard())
two.get("/w", watch=tell)
one.set("/w", b"data")
print("get", *heard())
two.get_children("/w", watch=tell)
one.create("/w/a")
print("children", *heard())
two.exists("/w/a", watch=tell)
two.get_children("/w/a", watch=tell)
one.delete("/w/a")
print("deleted", *heard(), *heard())
one.set("/w", b"unwatched")
two.get("/w", watch=tell)
two.get("/w", watch=lambda event: told.put("another"))
one.set("/w", b"watched twice")
print("twice", *sorted(map(str, (heard(), heard()))))

DataWatch(two, "/w/d", lambda data, stat: told.put((data, stat and stat.version)))
print("data", *heard())
one.create("/w/d", b"0")
print("data", *heard())
for i in (1, 2, 3):
    one.set("/w/d", b"%d" % i)
    print("data", *heard())
one.delete("/w/d")
print("data", *heard())

ChildrenWatch(two, "/w", lambda names: told.put(sorted(names)))
print("names", *heard())
for name in ("x", "y"):
    one.create("/w/" + name, ephemeral=True)
    print("names", *heard())
one.delete("/w/x")
print("names", *heard())
one.stop()
print("names", *heard())
two.stop()
