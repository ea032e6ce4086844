"""Five members of tooz on ZooKeeper join a group, ask who joins and leaves, take a lock and elect a leader.

Each member is a session of its own. The last line printed has the locks taken and the calls of watchers.
"""

import json
import os
import threading
import time

from tooz import coordination

members, counts = [], {"turns": 0, "calls": 0}
guard = threading.Lock()


def called(event):
    with guard:
        counts["calls"] += 1


for i in range(5):
    member = coordination.get_coordinator("kazoo://" + os.environ["ADDRESS"], b"member-%d" % i)
    member.start(start_heart=True)
    members.append(member)
members[0].create_group(b"workers").get()
for member in members:
    member.join_group(b"workers").get()
    member.watch_join_group(b"workers", called)
    member.watch_leave_group(b"workers", called)
    member.watch_elected_as_leader(b"workers", called)


def work(member):
    for _ in range(4):
        lock = member.get_lock(b"job")
        lock.acquire()
        counts["turns"] += 1  # the holder alone counts
        time.sleep(0.03)
        lock.release()
        member.run_watchers()


threads = [threading.Thread(target=work, args=(m,)) for m in members]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for member in members[:3]:
    member.leave_group(b"workers").get()
    for other in members:
        other.run_watchers()
    time.sleep(0.1)
for member in members:
    member.stop()
print(json.dumps({"program_turns": counts["turns"], "program_calls": counts["calls"]}))
