"""Clients, 8 unless a number is given, use one of kazoo's own recipes: lock, election, party, barrier, double-barrier or queue.

  stampede observe --env ZK_CONNECT={address} -- python3 examples/observe/kazoo_recipes.py lock 8

A second number says how many turns each client takes, 3 unless it is given, or how often the barrier is opened, once unless it is given.
"""

import os
import sys
import threading
import time

from kazoo.client import KazooClient

CLIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
TURNS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
OPENINGS = int(sys.argv[3]) if len(sys.argv) > 3 else 1

clients, settled = [], set()


def watches(client, path="/recipe"):
    return any(p.startswith(path) for p in list(client._data_watchers))


def work(client):
    """Is done in turns, each until all other clients wait for theirs, so that the counts are the same in each run."""
    settled.add(client)
    while not all(c in settled or watches(c, "/recipe/") for c in clients):
        time.sleep(0.001)
    settled.discard(client)


def arrive(client):
    """Lets the first client create what all share."""
    while client is not clients[0] and clients[0] not in settled:
        time.sleep(0.001)


def lock(client, together):
    own = client.Lock("/recipe")
    arrive(client)
    for _ in range(TURNS):
        with own:
            work(client)


def election(client, together):
    own = client.Election("/recipe")
    arrive(client)
    for _ in range(TURNS):
        own.run(work, client)


def party(client, together):
    p = client.Party("/recipe")
    p.join()
    together.wait()
    assert len(p) == CLIENTS
    together.wait()
    p.leave()


def barrier(client, together):
    first = together.wait() == 0
    for _ in range(OPENINGS):
        b = client.Barrier("/recipe")
        if first:
            b.create()
        together.wait()
        if first:  # it removes the barrier when all others watch it
            while not all(c is client or watches(c) for c in clients):
                time.sleep(0.001)
            b.remove()
        else:
            assert b.wait(10)
        together.wait()


def double_barrier(client, together):
    b = client.DoubleBarrier("/recipe", CLIENTS)
    b.enter()
    b.leave()


def queue(client, together):
    q = client.LockingQueue("/recipe")
    for _ in range(TURNS):
        q.put(b"item")
    for _ in range(TURNS):
        assert q.get(10) is not None
        q.consume()


RECIPES = {
    "lock": lock, "election": election, "party": party, "barrier": barrier, "double-barrier": double_barrier, "queue": queue,
}


def main():
    recipe, together, failures = RECIPES[sys.argv[1]], threading.Barrier(CLIENTS), []

    def use():
        client = KazooClient(hosts=os.environ["ZK_CONNECT"])
        client.start()
        clients.append(client)
        try:
            together.wait()
            recipe(client, together)
            settled.add(client)
        except Exception as e:
            failures.append(e)
            together.abort()
        finally:
            client.stop()
            client.close()

    threads = [threading.Thread(target=use) for _ in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for f in failures:
        print(repr(f), file=sys.stderr)
    sys.exit(bool(failures))


main()
