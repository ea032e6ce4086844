"""Locks: of one holder, of readers and writers, of so many, and for a time."""

import datetime

from kazoo.exceptions import CancelledError, LockTimeout

from sessions import PATIENCE, connect, crowd, each, start

one, two = connect(), connect()
count = 0


def increment(client):
    global count
    for _ in range(20):
        with client.Lock("/locks/one", "me"):
            before = count
            count = before + 1


each(increment, one, two)
print("locked", count)


def fails(lock):
    """Why a lock that another holds is not had."""
    try:
        return lock.acquire(timeout=0.01)
    except LockTimeout:
        return "LockTimeout"


first, second = one.Lock("/locks/try", "first"), two.Lock("/locks/try", "second")
print("held", first.acquire(), second.acquire(blocking=False), fails(second), first.contenders())
first.release()
print("free", second.acquire(timeout=PATIENCE), second.contenders())
third = one.Lock("/locks/try", "third")


def cancelled():
    try:
        third.acquire()
    except CancelledError:
        print("cancelled", second.contenders())


waiting = start(cancelled)
crowd(two, "/locks/try", 2)
third.cancel()
waiting.join()

reads = [client.ReadLock("/locks/rw", "reader") for client in (one, two)]
write = one.WriteLock("/locks/rw", "writer")
print("read", *[lock.acquire(timeout=PATIENCE) for lock in reads])
print("write", write.acquire(blocking=False), fails(write))
for lock in reads:
    lock.release()
print("write", write.acquire(timeout=PATIENCE), reads[1].acquire(blocking=False))
write.release()
print("read", reads[1].acquire(timeout=PATIENCE))

turns = [client.Semaphore("/locks/semaphore", str(i), max_leases=2) for i, client in enumerate((one, two, two))]
print("semaphore", *[turn.acquire(blocking=False) for turn in turns])
print("holders", sorted(turns[2].lease_holders()))
turns[0].release()
print("semaphore", turns[2].acquire(timeout=PATIENCE), sorted(turns[0].lease_holders()))

hour = datetime.timedelta(hours=1)
for client, name in ((one, "one"), (two, "two"), (one, "one")):
    print("lease", bool(client.NonBlockingLease("/locks/lease", hour, identifier=name)))
for name in ("one", "two", "three"):
    print("leases", bool(one.MultiNonBlockingLease(2, "/locks/leases", hour, identifier=name)))

one.stop()
print("left", len(two.get_children("/locks/semaphore")), len(two.get_children("/locks/rw")))
two.stop()
