"""What a program does with kazoo, told line by line: python3 program.py ADDRESS."""

import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError
from kazoo.recipe.watchers import ChildrenWatch
from kazoo.security import make_digest_acl


def connect():
    client = KazooClient(hosts=sys.argv[1], timeout=10)
    client.start(timeout=30)
    return client


one, two = connect(), connect()

print("created", one.create("/k", b"data"))
print("sequence", one.create("/k/n-", sequence=True, ephemeral=True))
try:
    one.create("/k")
except NodeExistsError:
    print("exists already")
try:
    one.set("/k", b"", version=9)
except BadVersionError:
    print("another version")

changed = threading.Event()
data, stat = two.get("/k", watch=lambda event: (print("told", event.type, event.path), changed.set()))
print("read", data, stat.version, stat.numChildren)
one.set("/k", b"more")
changed.wait(30)

grown = threading.Event()


def children(names):
    if len(names) == 3:
        print("children", sorted(names))
        grown.set()
        return False


ChildrenWatch(two, "/k", children)
one.create("/k/a")
one.create("/k/b")
grown.wait(30)

transaction = one.transaction()
transaction.check("/k", 1)
transaction.create("/k/t", b"t")
transaction.set_data("/k/t", b"u")
transaction.delete("/k/a")
print("transaction", [type(result).__name__ for result in transaction.commit()])
transaction = one.transaction()
transaction.create("/k/never")
transaction.check("/k", 7)
transaction.create("/k/nor this")
print("transaction", [type(result).__name__ for result in transaction.commit()])

one.add_auth("digest", "user:password")
one.create("/k/secret", b"", acl=[make_digest_acl("user", "password", all=True)])
try:
    two.get("/k/secret")
except NoAuthError:
    print("no access")
acls, _ = one.get_acls("/k/secret")
print("acl", [(acl.perms, acl.id.scheme, acl.id.id) for acl in acls])

count = 0


def increment(client):
    global count
    for _ in range(20):
        with client.Lock("/lock", "me"):
            before = count
            count = before + 1


threads = [threading.Thread(target=increment, args=(client,)) for client in (one, two)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("locked", count)

queue = one.LockingQueue("/queue")
queue.put_all([b"x", b"y"])
print("queue", queue.get(timeout=30), queue.consume(), queue.get(timeout=30), queue.consume())

counter = two.Counter("/counter")
counter += 5
counter -= 2
print("counter", counter.value)

print("left", two.exists("/k/n-0000000000") is not None)
one.stop()
print("left", two.exists("/k/n-0000000000") is not None)
two.stop()
