"""Programs on kazoo: kazoo_recipes.py PROGRAM, at the server ADDRESS. Each client is a session of its own.

The last line printed has the program's own counts: the turns taken, or the calls of watchers.
"""

import faulthandler
import json
import os
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError
from kazoo.recipe.cache import TreeCache

clients = []
counts = {"turns": 0, "calls": 0}
guard = threading.Lock()


def add(name, number=1):
    with guard:
        counts[name] += number


def open_clients(number):
    for _ in range(number):
        client = KazooClient(os.environ["ADDRESS"], timeout=20)
        client.start()
        clients.append(client)


def together(work, some=None):
    """Runs work(client) for all clients at once."""
    threads = [threading.Thread(target=work, args=(c,)) for c in some or clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def turns(enter, leave, number=4):
    def work(client):
        for _ in range(number):
            enter(client)
            add("turns")
            time.sleep(0.02)
            leave(client)

    together(work)


def lock():
    open_clients(7)
    locks = {c: c.Lock("/app/lock", "client") for c in clients}
    turns(lambda c: locks[c].acquire(), lambda c: locks[c].release())


def semaphore():
    open_clients(8)
    places = {c: c.Semaphore("/app/semaphore", "client", max_leases=3) for c in clients}
    turns(lambda c: places[c].acquire(), lambda c: places[c].release(), 3)


def election():
    open_clients(6)
    elections = {c: c.Election("/app/election", "client") for c in clients}

    def lead():
        add("turns")
        time.sleep(0.03)

    def work(client):
        for _ in range(4):
            elections[client].run(lead)

    together(work)


def locking_queue():
    """Consumers of a LockingQueue wait for entries; each entry is put when all of them wait."""
    open_clients(7)
    producer, consumers = clients[0], clients[1:]
    queues = {c: c.LockingQueue("/app/queue") for c in clients}
    idle = set()

    def consume(client):
        while True:
            idle.add(client)
            entry = queues[client].get()
            idle.discard(client)
            queues[client].consume()
            if entry == b"end":
                return
            add("turns")

    def produce():
        for i in range(24):
            while len(idle) < len(consumers) or counts["turns"] < i:
                time.sleep(0.01)
            time.sleep(0.1)
            queues[producer].put(b"%d" % i)
        for left in range(len(consumers), 0, -1):
            while len(idle) < left or counts["turns"] < 24:
                time.sleep(0.01)
            time.sleep(0.1)
            queues[producer].put(b"end")
            while len(idle) == left:
                time.sleep(0.01)

    maker = threading.Thread(target=produce)
    maker.start()
    together(consume, consumers)
    maker.join()


def double_barrier():
    open_clients(6)
    barriers = {c: c.DoubleBarrier("/app/barrier", 6) for c in clients}
    for _ in range(6):
        together(lambda c: barriers[c].enter())
        together(lambda c: barriers[c].leave())
        add("turns")


def barrier():
    open_clients(8)
    barriers = {c: c.Barrier("/app/gate") for c in clients}
    for _ in range(20):
        barriers[clients[0]].create()
        waiting = [threading.Thread(target=barriers[c].wait) for c in clients[1:]]
        for thread in waiting:
            thread.start()
        time.sleep(0.05)
        barriers[clients[0]].remove()
        for thread in waiting:
            thread.join()
            add("turns")


def configuration():
    """All clients watch a value and a list of members; the value is set, and members come and go."""
    open_clients(7)
    clients[0].create("/app/config", b"0", makepath=True)
    clients[0].create("/app/members")
    for client in clients:
        client.DataWatch("/app/config", lambda data, stat, event: event and add("calls"))
        client.ChildrenWatch("/app/members", lambda children, event: event and add("calls"), send_event=True)
    for i in range(20):
        clients[0].set("/app/config", b"%d" % i)
        time.sleep(0.05)
    for i in range(5):
        for client in clients[:2]:
            client.create("/app/members/m-", b"", ephemeral=True, sequence=True)
            time.sleep(0.05)
    for name in clients[0].get_children("/app/members"):
        clients[0].delete("/app/members/" + name)
        time.sleep(0.05)


def tree_cache():
    open_clients(6)
    clients[0].ensure_path("/app/tree")
    caches = [TreeCache(c, "/app/tree") for c in clients]
    for cache in caches:
        cache.start()
    time.sleep(0.3)
    for i in range(5):
        clients[0].create("/app/tree/n%d" % i, b"")
        time.sleep(0.1)
        for k in range(3):
            clients[k].set("/app/tree/n%d" % i, b"%d" % k)
            time.sleep(0.1)
    for i in range(5):
        clients[0].delete("/app/tree/n%d" % i)
        time.sleep(0.1)


def set_partitioner():
    """Members share a set anew at each change of the membership."""
    open_clients(5)
    stopped = threading.Event()

    def work(client, until):
        me = str(id(client))
        partitioner = client.SetPartitioner("/app/set", set=range(10), time_boundary=0.3, identifier=me)
        while not until.is_set():
            if partitioner.release:
                partitioner.release_set()
            elif partitioner.allocating:
                partitioner.wait_for_acquire(2)
            elif partitioner.failed:
                return
            else:
                time.sleep(0.02)
        partitioner.finish()

    ends = [threading.Event() for _ in clients]
    threads = [threading.Thread(target=work, args=(c, e)) for c, e in zip(clients, ends)]
    for thread in threads:
        thread.start()
        time.sleep(1)
    for end, thread in zip(ends, threads):
        end.set()
        thread.join()
        time.sleep(1)


# Programs below use no recipe of kazoo's.


def line_lock(client, folder, prefix, held):
    """A lock whose clients watch their predecessors' nodes."""
    mine = client.create(folder + "/" + prefix, ephemeral=True, sequence=True).rpartition("/")[2]
    while True:
        line = sorted(client.get_children(folder))
        at = line.index(mine)
        if at == 0:
            break
        gone = threading.Event()
        if client.exists(folder + "/" + line[at - 1], lambda event: gone.set()):
            gone.wait()
    held()
    client.delete(folder + "/" + mine)


def read_named_lock():
    """A lock for reports: its nodes are named read-…, but each holder is alone."""
    open_clients(6)
    clients[0].ensure_path("/app/read-report")

    def held():
        add("turns")
        time.sleep(0.02)

    def work(client):
        for _ in range(5):
            line_lock(client, "/app/read-report", "read-", held)

    together(work)


def mixture():
    """Each session takes a lock, watches a configuration and the members, and is a member, all at once."""
    open_clients(6)
    clients[0].create("/app/config", b"0", makepath=True)
    clients[0].ensure_path("/app/members")
    clients[0].ensure_path("/app/lock")
    for client in clients:
        client.DataWatch("/app/config", lambda data, stat, event: event and add("calls"))
        client.ChildrenWatch("/app/members", lambda children, event: event and add("calls"), send_event=True)

    def work(client):
        for i in range(4):
            me = client.create("/app/members/m-", b"", ephemeral=True, sequence=True)
            with client.Lock("/app/lock"):
                add("turns")
                client.set("/app/members/" + me.rpartition("/")[2], b"busy")
                time.sleep(0.03)
            if client is clients[i % 3]:
                client.set("/app/config", b"%d" % i)
            client.delete(me)

    together(work)
    time.sleep(0.5)


def many_writers():
    """Every session watches one value, and each sets it in turn: a configuration without a chief."""
    open_clients(7)
    clients[0].create("/app/settings", b"0", makepath=True)
    for client in clients:
        client.DataWatch("/app/settings", lambda data, stat, event: event and add("calls"))
    for i in range(35):
        writer = clients[i % 7]
        _, stat = writer.get("/app/settings")
        writer.set("/app/settings", b"%d" % i, version=stat.version)
        time.sleep(0.05)


def registry():
    """Consumers, which own no node, watch the list of a service's instances, the nodes of other sessions."""
    open_clients(8)
    consumers, instances = clients[:5], clients[5:]
    clients[0].ensure_path("/services/search/instances")
    for consumer in consumers:
        consumer.ChildrenWatch("/services/search/instances",
                               lambda children, event: event and add("calls"), send_event=True)
    for i in range(12):
        owner = instances[i % 3]
        path = "/services/search/instances/10.0.0.%d:%d" % (i % 3, 8000 + i)
        node = owner.create(path, b"{}", ephemeral=True)
        time.sleep(0.05)
        owner.delete(node)
        time.sleep(0.05)


def parent_election():
    """Candidates watch the children of a parent and race for its node leader."""
    open_clients(6)
    clients[0].ensure_path("/app/election")
    stopped = threading.Event()

    def work(client):
        mine = "/app/election/leader"
        while not stopped.is_set():
            changed = threading.Event()
            if "leader" in client.get_children("/app/election", watch=lambda event: changed.set()):
                changed.wait()
                continue
            try:
                client.create(mine, b"", ephemeral=True)
            except NodeExistsError:
                continue
            add("turns")
            if counts["turns"] >= 20:
                stopped.set()
            time.sleep(0.05)
            client.delete(mine)

    together(work)


def heartbeat_election():
    """Candidates wait for one node to go and race for it; each that wakes writes its own state elsewhere first."""
    open_clients(6)
    clients[0].ensure_path("/app/states")
    mine = {c: c.create("/app/states/s-", b"", ephemeral=True, sequence=True) for c in clients}

    def work(client):
        for _ in range(4):
            while True:
                client.set(mine[client], b"candidate")
                try:
                    client.create("/app/master", b"", ephemeral=True)
                    break
                except NodeExistsError:
                    pass
                gone = threading.Event()
                if client.exists("/app/master", lambda event: gone.set()):
                    gone.wait()
            add("turns")
            time.sleep(0.05)
            client.delete("/app/master")

    together(work)


def racing_queue():
    """Consumers watch the children of a queue and each tries to delete the first."""
    open_clients(7)
    producer, consumers = clients[0], clients[1:]
    producer.ensure_path("/app/jobs")
    stopped = threading.Event()

    def consume(client):
        while not stopped.is_set():
            changed = threading.Event()
            jobs = sorted(client.get_children("/app/jobs", watch=lambda event: changed.set()))
            if not jobs:
                changed.wait()
                continue
            try:
                client.delete("/app/jobs/" + jobs[0])
                add("turns")
            except NoNodeError:
                pass

    threads = [threading.Thread(target=consume, args=(c,)) for c in consumers]
    for thread in threads:
        thread.start()
    for i in range(20):
        time.sleep(0.1)
        producer.create("/app/jobs/job-", b"", sequence=True)
    while counts["turns"] < 20:
        time.sleep(0.01)
    stopped.set()
    producer.create("/app/jobs/job-", b"", sequence=True)  # ends the wait of those that wait
    for thread in threads:
        thread.join()


def predecessor_and_config():
    """A hot spare's program: a lock by predecessor, whose holder publishes a state that all watch."""
    open_clients(6)
    clients[0].create("/app/state", b"", makepath=True)
    clients[0].ensure_path("/app/spare")
    for client in clients:
        client.DataWatch("/app/state", lambda data, stat, event: event and add("calls"))

    def work(client):
        def held():
            add("turns")
            client.set("/app/state", b"%x" % client.client_id[0])
            time.sleep(0.05)

        for _ in range(4):
            line_lock(client, "/app/spare", "candidate-", held)

    together(work)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(25, exit=True)  # a program that hangs says where
    globals()[sys.argv[1].replace("-", "_")]()
    for c in clients:
        c.stop()
    print(json.dumps({"program_turns": counts["turns"], "program_calls": counts["calls"]}))
