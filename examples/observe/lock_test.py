"""Workers of a Python program take a lock in turn. The test passes with either lock; under
stampede observe, with a threshold, it fails with the lock on one node:

  stampede observe --env ZK_CONNECT={address} --threshold 'fanout.max <= 2' -- python3 examples/observe/lock_test.py

With LOCK=predecessor the workers use the Lock that kazoo ships, and it passes.
"""

import os
import threading
import time
import unittest

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

WORKERS, TURNS = 8, 3


class OneNodeLock:
    """Is held by the session that has created the node. All others watch the node, and race to
    create it when it is gone."""

    def __init__(self, client, path):
        self.client, self.path = client, path

    def acquire(self):
        while True:
            try:
                self.client.create(self.path, ephemeral=True)
                return
            except NodeExistsError:
                gone = threading.Event()
                if self.client.exists(self.path, watch=lambda event: gone.set()):
                    gone.wait()

    def release(self):
        self.client.delete(self.path)


class WorkersTakeTurns(unittest.TestCase):
    def test_no_two_hold_the_lock(self):
        held, together = threading.Lock(), []

        def work():
            client = KazooClient(hosts=os.environ["ZK_CONNECT"])
            client.start()
            lock = OneNodeLock(client, "/job")
            if os.environ.get("LOCK") == "predecessor":
                lock = client.Lock("/jobs")
            for _ in range(TURNS):
                lock.acquire()
                if not held.acquire(blocking=False):
                    together.append(client.client_id)
                else:
                    time.sleep(0.02)  # the work
                    held.release()
                lock.release()
            client.stop()
            client.close()

        workers = [threading.Thread(target=work) for _ in range(WORKERS)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        self.assertEqual(together, [])


if __name__ == "__main__":
    unittest.main()
