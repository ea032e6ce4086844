"""Sessions for the programs beside this one: python3 PROGRAM.py ADDRESS."""

import sys
import threading

from kazoo.client import KazooClient

# Enough for a machine that is busy with other tests.
PATIENCE = 30


def connect(**options):
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
