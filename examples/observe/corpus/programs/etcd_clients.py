"""Programs on python-etcd3, etcd3gw and with etcdctl: etcd_clients.py PROGRAM, at the server ADDRESS.

Each client of python-etcd3 has a connection of its own; each etcdctl is a process; etcd3gw speaks to the JSON
gateway, on a connection for each watch and others for requests. The last line printed has
the turns that the program counted.
"""

import json
import os
import subprocess
import sys
import threading
import time

HOST, PORT = os.environ["ADDRESS"].split(":")
turns = 0


def python_lock():
    """Six clients of python-etcd3 take a lock four times each: all that wait watch its one key, for puts too.

    The library's own Lock is made so, but fails with the tenacity that Debian has.
    """
    import etcd3

    # without this all clients of a process share a connection
    options = [("grpc.use_local_subchannel_pool", 1)]
    clients = [etcd3.client(host=HOST, port=int(PORT), grpc_options=options) for _ in range(6)]
    key = "/locks/report"

    def acquire(client):
        free = client.transactions.create(key) == 0
        take = client.transactions.put(key, "held")
        while not client.transaction(compare=[free], success=[take], failure=[])[0]:
            try:
                client.watch_once(key, timeout=1)
            except etcd3.exceptions.WatchTimedOut:
                pass

    def work(client):
        global turns
        for _ in range(4):
            acquire(client)
            turns += 1  # the holder alone counts
            time.sleep(0.05)
            client.delete(key)

    threads = [threading.Thread(target=work, args=(c,)) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()


def gateway_settings():
    """Five clients of etcd3gw watch a prefix by the JSON gateway, which a sixth sets and deletes."""
    from etcd3gw.client import Etcd3Client

    clients = [Etcd3Client(host=HOST, port=int(PORT), api_path="/v3/") for _ in range(6)]

    def follow(events):
        for _ in events:
            pass

    cancels = []
    for client in clients[1:]:
        events, cancel = client.watch_prefix("settings/")
        cancels.append(cancel)
        threading.Thread(target=follow, args=(events,), daemon=True).start()
    time.sleep(1)
    for i in range(16):
        clients[0].put("settings/%d" % (i % 4), str(i))
        time.sleep(0.05)
        if i % 4 == 3:
            clients[0].delete("settings/%d" % (i % 4))
            time.sleep(0.05)
    time.sleep(0.5)
    for cancel in cancels:
        cancel()


def etcdctl(*words):
    environment = dict(os.environ, ETCDCTL_API="3")
    command = ["etcdctl", "--endpoints=" + os.environ["ADDRESS"], *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def etcdctl_lock():
    """Eight times three processes of etcdctl hold one lock, each for a moment."""
    global turns
    running = []
    for _ in range(3):
        running += [etcdctl("lock", "backup", "sleep", "0.1") for _ in range(8)]
        time.sleep(0.3)
    for process in running:
        process.communicate()
        turns += process.returncode == 0


def etcdctl_watch():
    """Six processes of etcdctl watch a prefix, which others set and delete."""
    watchers = [etcdctl("watch", "--prefix", "settings/") for _ in range(6)]
    time.sleep(2)
    for i in range(16):
        etcdctl("put", "settings/%d" % (i % 4), str(i)).communicate()
        if i % 4 == 3:
            etcdctl("del", "settings/%d" % (i % 4)).communicate()
    time.sleep(0.5)
    for process in watchers:
        process.terminate()
        process.communicate()


PROGRAMS = {"python-lock": python_lock, "gateway-settings": gateway_settings, "etcdctl-lock": etcdctl_lock,
            "etcdctl-watch": etcdctl_watch}
PROGRAMS[sys.argv[1]]()
print(json.dumps({"program_turns": turns}))
