"""Two members of a Patroni cluster, without PostgreSQL: Patroni's own client of ZooKeeper, and the steps of its loop. Each
member registers, reads the cluster, and leads or watches.

  stampede observe --env ZK_CONNECT={address} -- python3 patroni_members.py 15    # seconds
"""

import multiprocessing
import os
import sys
import time

from patroni.dcs import get_dcs
from patroni.exceptions import DCSError

LOOP_WAIT = 3


def member(name, seconds):
    end = time.monotonic() + seconds
    dcs = get_dcs({"scope": "demo", "name": name, "ttl": 20, "loop_wait": LOOP_WAIT, "retry_timeout": 5,
                   "zookeeper": {"hosts": os.environ["ZK_CONNECT"]}})
    while time.monotonic() < end:
        try:
            cluster = dcs.get_cluster()
            dcs.touch_member({"state": "running", "role": "replica", "xlog_location": 1})
            if not cluster.leader:
                if dcs.attempt_to_acquire_leader() and not cluster.config:
                    dcs.set_config_value('{"loop_wait": %d}' % LOOP_WAIT)
            elif cluster.leader.name == name:
                dcs.update_leader(1)
        except DCSError as error:
            print(error, file=sys.stderr)
        dcs.watch(None, min(LOOP_WAIT, max(0, end - time.monotonic())))
    dcs._client.stop()
    dcs._client.close()


if __name__ == "__main__":
    members = [multiprocessing.Process(target=member, args=(name, float(sys.argv[1]))) for name in ("n0", "n1")]
    for process in members:
        process.start()
    for process in members:
        process.join()
    sys.exit(max(process.exitcode for process in members))
