"""Four members of a Patroni cluster elect a leader; the leader is killed, and then a switchover is asked for.

  patroni_cluster.py etcd3|zookeeper

Runs as root, and the members as the user postgres. They speak to etcd by its JSON gateway.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

MEMBERS, REST, POSTGRES = 4, 23700, 23710
CONFIG = """
scope: demo
name: n%(i)d
restapi: {listen: "127.0.0.1:%(rest)d", connect_address: "127.0.0.1:%(rest)d"}
%(store)s
bootstrap:
  dcs: {ttl: 20, loop_wait: 3, retry_timeout: 5, postgresql: {use_pg_rewind: false}}
  initdb: [{encoding: UTF8}, no-sync]
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%(postgres)d"
  connect_address: "127.0.0.1:%(postgres)d"
  data_dir: %(folder)s/data
  pgpass: %(folder)s/pgpass
  bin_dir: %(bin)s
  authentication:
    replication: {username: replicator, password: replicator}
    superuser: {username: postgres, password: postgres}
  parameters: {unix_socket_directories: %(folder)s, shared_buffers: 16MB, fsync: "off"}
"""

store = "etcd3: {host: \"%s\"}" if sys.argv[1] == "etcd3" else "zookeeper: {hosts: [\"%s\"]}"
base = "/usr/lib/postgresql"
binaries = "%s/%s/bin" % (base, sorted(os.listdir(base))[-1])
os.chmod(os.environ["SCRATCH"], 0o755)
processes = {}


def start(i):
    folder = "%s/n%d" % (os.environ["SCRATCH"], i)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/patroni.yml", "w") as f:
        f.write(CONFIG % {"i": i, "rest": REST + i, "postgres": POSTGRES + i, "folder": folder, "bin": binaries,
                          "store": store % os.environ["ADDRESS"]})
    shutil.chown(folder, "postgres", "postgres")
    command = ["runuser", "-u", "postgres", "--", "patroni", folder + "/patroni.yml"]
    log = open(folder + "/log", "w")
    processes[i] = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, start_new_session=True)


def ask(i, path, body=None):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (REST + i, path), data)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def members():
    """Returns names and roles by name, as one member has them."""
    for i in processes:
        try:
            return {m["name"]: m for m in json.loads(ask(i, "/cluster"))["members"]}
        except OSError:
            pass
    return {}


def leader():
    return next((n for n, m in members().items() if m["role"] == "leader" and m["state"] == "running"), None)


def wait(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.2)
    for i in processes:
        with open("%s/n%d/log" % (os.environ["SCRATCH"], i)) as f:
            print(f.read()[-3000:], file=sys.stderr)
    sys.exit("no " + what)


def running(number):
    """Returns a condition: so many members run, and one of them leads."""
    states = ("running", "streaming")
    return lambda: sum(m["state"] in states for m in members().values()) == number and leader()


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True).stdout
    return [int(word) for word in found.split()]


def descendants(pid):
    return [p for child in children(pid) for p in [child] + descendants(child)]


def kill(i, by):
    """Ends a member with its PostgreSQL, which is a child that has left its session."""
    process = processes.pop(i)
    everything = descendants(process.pid)
    if by == signal.SIGTERM:
        for pid in everything[:1]:
            os.kill(pid, by)
    else:
        for pid in everything:
            try:
                os.kill(pid, by)
            except ProcessLookupError:
                pass
        pidfile = "%s/n%d/data/postmaster.pid" % (os.environ["SCRATCH"], i)
        if os.path.exists(pidfile):
            with open(pidfile) as f:
                try:
                    os.kill(int(f.readline()), signal.SIGQUIT)
                except ProcessLookupError:
                    pass
    process.wait()


try:
    start(0)
    wait("leader", lambda: leader() == "n0")
    for i in range(1, MEMBERS):
        start(i)
    wait("cluster", running(MEMBERS))
    time.sleep(8)
    first = leader()
    kill(int(first[1:]), signal.SIGKILL)
    wait("failover", lambda: leader() not in (None, first))
    wait("followers", running(MEMBERS - 1))
    time.sleep(8)
    second = leader()
    candidate = next(n for n, m in members().items() if n not in (first, second) and m["role"] != "leader")
    ask(int(second[1:]), "/switchover", {"leader": second, "candidate": candidate})
    wait("switchover", lambda: leader() == candidate)
    time.sleep(8)
finally:
    for i in list(processes):
        kill(i, signal.SIGTERM)
print(json.dumps({"program_turns": 3}))
