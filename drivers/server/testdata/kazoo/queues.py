"""Queues, of which one keeps what is being worked on, and a counter."""

from sessions import PATIENCE, connect, each

one, two = connect(), connect()

queue = one.Queue("/queue")
queue.put(b"later", priority=200)
for item in (b"a", b"b", b"c"):
    queue.put(item)
queue.put(b"first", priority=1)
print("queue", len(queue), *[two.Queue("/queue").get() for _ in range(3)])
print("queue", len(queue), queue.get(), queue.get(), queue.get())

for i in range(20):
    queue.put(b"%d" % i)
taken = []


def take(client):
    mine = client.Queue("/queue")
    while (item := mine.get()) is not None:
        taken.append(int(item))


each(take, one, two)
print("taken", sorted(taken) == list(range(20)), len(queue))

locking, other = one.LockingQueue("/locking"), two.LockingQueue("/locking")
locking.put_all([b"x", b"y"])
locking.put(b"urgent", priority=1)
print("locking", len(locking), locking.get(timeout=PATIENCE), locking.holds_lock(), other.get(timeout=PATIENCE))
print("consumed", locking.consume(), locking.holds_lock(), len(locking))
print("released", other.release(), locking.get(timeout=PATIENCE), locking.consume())
print("held", locking.get(timeout=PATIENCE), other.get(timeout=0.01))
one.stop()
print("freed", other.get(timeout=PATIENCE), other.consume(), other.get(timeout=0.01))

one.start(timeout=PATIENCE)


def count(client):
    counter = client.Counter("/counter")
    for _ in range(10):
        counter += 2
        counter -= 1


each(count, one, two)
print("counter", one.Counter("/counter").value)
print("counter", (two.Counter("/float", default=0.5) + 1.25).value)

one.stop()
two.stop()
