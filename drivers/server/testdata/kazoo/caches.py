"""A cache of a tree, which follows what another session does to it."""

import queue

from kazoo.recipe.cache import TreeCache, TreeEvent

from sessions import PATIENCE, connect

KINDS = {
    TreeEvent.NODE_ADDED: "added",
    TreeEvent.NODE_UPDATED: "updated",
    TreeEvent.NODE_REMOVED: "removed",
    TreeEvent.INITIALIZED: "initialized",
}
one, two = connect(), connect()
told = queue.Queue()


def tell(event):
    node = event.event_data
    told.put((KINDS[event.event_type], *((node.path, node.data) if node else ())))


def heard(count):
    """So many events; those of a tree being read come in any order."""
    return sorted(told.get(timeout=PATIENCE) for _ in range(count))


for path in ("/tree/a/b", "/tree/c"):
    one.create(path, path.encode(), makepath=True)
cache = TreeCache(two, "/tree")
cache.listen(tell)
cache.start()
print(*heard(5))
print(sorted(cache.get_children("/tree")), cache.get_data("/tree/a/b").data, cache.get_data("/tree/none"))

one.set("/tree/c", b"changed")
print(*heard(1))
one.create("/tree/a/d", b"new")
print(*heard(1))
one.create("/tree/a/d/e", b"below")
print(*heard(1))
one.delete("/tree/a", recursive=True)
print(*heard(4))
one.create("/tree/a", b"again")
print(*heard(1))
print(sorted(cache.get_children("/tree")), cache.get_data("/tree/c").stat.version, cache.get_data("/tree/a").data)

cache.close()
one.stop()
two.stop()
