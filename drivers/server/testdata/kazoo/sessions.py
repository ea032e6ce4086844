"""Sessions for the programs beside this one: python3 PROGRAM.py ADDRESS [CA CERTIFICATE], with the latter over TLS."""

import sys
import threading

from kazoo.client import KazooClient

# Enough for a machine that is busy with other tests.
PATIENCE = 30


def connect(**options):
    if len(sys.argv) > 2:
        options.update(use_ssl=True, ca=sys.argv[2], certfile=sys.argv[3], keyfile=sys.argv[3])
    client = KazooClient(hosts=sys.argv[1], timeout=10, **options)
    client.start(timeout=PATIENCE)
    return client


def start(function, *args):
    """Runs the function in a thread of its own, and returns the thread."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    return thread


def each(function, *args):
    """Runs the function once for each argument, all at the same time."""
    for thread in [start(function, arg) for arg in args]:
        thread.join()


def crowd(client, path, count):
    """Waits until the node has so many children."""
    there = threading.Event()

    @client.ChildrenWatch(path)
    def look(names):
        if len(names) >= count:
            there.set()
            return False

    there.wait(PATIENCE)
