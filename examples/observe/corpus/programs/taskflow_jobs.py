"""Six conductors of taskflow share a jobboard in ZooKeeper: each is told of a job, and each tries to claim it.

Each conductor is a thread with a session of its own. The last line printed has the jobs that were run.
"""

import contextlib
import json
import os
import threading
import time

from kazoo.client import KazooClient
from taskflow import engines, task
from taskflow.conductors import backends as conductors
from taskflow.jobs import backends as boards
from taskflow.patterns import linear_flow
from taskflow.persistence import backends as stores
from taskflow.persistence import models
from oslo_utils import uuidutils

JOBS, CONDUCTORS = 12, 6
done = []


class Work(task.Task):
    def execute(self):
        time.sleep(0.02)
        done.append(1)


def flow():
    return linear_flow.Flow("work").add(Work())


store = stores.fetch({"connection": "memory"})
with contextlib.closing(store.get_connection()) as connection:
    connection.upgrade()
sessions, boards_open, crew, threads = [], [], [], []


def board(name):
    client = KazooClient(os.environ["ADDRESS"], timeout=20)
    client.start()
    sessions.append(client)
    b = boards.fetch(name, {"board": "zookeeper", "path": "/app/jobs"}, client=client, persistence=store)
    b.connect()
    boards_open.append(b)
    return b


poster = board("poster")
for i in range(CONDUCTORS):
    conductor = conductors.fetch("blocking", "conductor-%d" % i, board("board-%d" % i), persistence=store,
                                 engine="serial", wait_timeout=0.1)
    crew.append(conductor)
    threads.append(threading.Thread(target=conductor.run))
    threads[-1].start()
time.sleep(1)
for i in range(JOBS):
    book = models.LogBook("book-%d" % i)
    detail = models.FlowDetail("flow-%d" % i, uuidutils.generate_uuid())
    book.add(detail)
    with contextlib.closing(store.get_connection()) as connection:
        connection.save_logbook(book)
    engines.save_factory_details(detail, flow, [], {}, backend=store)
    poster.post("job-%d" % i, book=book, details={"flow_uuid": detail.uuid})
    while len(done) <= i:
        time.sleep(0.01)
    time.sleep(0.25)
for conductor in crew:
    conductor.stop()
for thread in threads:
    thread.join()
for b in boards_open:
    b.close()
for client in sessions:
    client.stop()
print(json.dumps({"program_turns": len(done)}))
