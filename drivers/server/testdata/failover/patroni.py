"""Patroni keeps three PostgreSQL servers with one primary while leaders are killed: patroni.py ADDRESSES FOLDER LOST

Rows are inserted at the primary, one after another. Replication is synchronous, so that a new primary has each row
that was acknowledged. After each third kill Patroni is asked to make another server the primary. At the end
all servers have all rows. It claims that LOST rows more were acknowledged, which it must find lost.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

from talk import free_ports, listen, say, wait

ADDRESSES, FOLDER, LOST = sys.argv[1], sys.argv[2], int(sys.argv[3])
MEMBERS = 3
PORTS = free_ports(2 * MEMBERS)
BINARIES = max((os.path.join("/usr/lib/postgresql", name, "bin") for name in os.listdir("/usr/lib/postgresql")))
CONFIG = """
scope: %(scope)s
name: "%(i)d"
restapi: {listen: "127.0.0.1:%(rest)d", connect_address: "127.0.0.1:%(rest)d"}
zookeeper: {hosts: "%(addresses)s"}
bootstrap:
  dcs: {ttl: 30, loop_wait: 2, retry_timeout: 10, synchronous_mode: true, postgresql: {use_pg_rewind: true}}
  initdb: [{encoding: UTF8}, no-sync, data-checksums]
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%(postgres)d"
  connect_address: "127.0.0.1:%(postgres)d"
  data_dir: %(folder)s/data
  pgpass: %(folder)s/pgpass
  bin_dir: %(binaries)s
  authentication:
    replication: {username: replicator, password: replicator}
    superuser: {username: postgres, password: postgres}
  parameters: {unix_socket_directories: %(folder)s, shared_buffers: 16MB, fsync: "off"}
"""


def start(i):
    folder = "%s/%d" % (FOLDER, i)
    os.makedirs(folder)
    with open(folder + "/patroni.yml", "w") as f:
        f.write(CONFIG % {"i": i, "rest": PORTS[i], "postgres": PORTS[MEMBERS + i], "folder": folder,
                          "binaries": BINARIES, "addresses": ADDRESSES, "scope": os.path.basename(FOLDER)})
    shutil.chown(folder, "postgres", "postgres")
    log = open(folder + "/log", "w")
    # PostgreSQL refuses to run as root. setpriv replaces itself, so that a signal reaches Patroni.
    command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "patroni", folder + "/patroni.yml"]
    return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


def ask(i, path, body=None):
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:%d%s" % (PORTS[i], path), data), timeout=60) as answer:
        return answer.read().decode()


def is_primary(i):
    try:
        return bool(ask(i, "/primary"))
    except OSError:  # 503 is the answer of a replica
        return False


def primary():
    """Returns the primary and a replica that replicates synchronously, once each member sees all of them run."""
    seen = set()
    for i in range(MEMBERS):
        members = json.loads(ask(i, "/cluster"))["members"]
        if sum(m["state"] in ("running", "streaming") for m in members) != MEMBERS:
            return None
        seen.add(tuple(m["name"] for role in ("leader", "sync_standby") for m in members if m["role"] == role))
    one = seen.pop()
    return None if seen or len(one) != 2 or not is_primary(int(one[0])) else one


def sql(i, statement):
    done = subprocess.run([BINARIES + "/psql", "-h", "127.0.0.1", "-p", str(PORTS[MEMBERS + i]), "-U", "postgres", "-qAtc", statement],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


acknowledged, rivals, switched, kills = [-n for n in range(LOST)], 0, 0, 0
ends = threading.Event()


def insert():
    n = 0
    while not ends.is_set():
        leads = [i for i in range(MEMBERS) if is_primary(i)]
        for i in leads:
            n += 1
            if sql(i, "INSERT INTO hits VALUES (%d)" % n) is not None:
                acknowledged.append(n)


def watch():
    """Asks PostgreSQL itself, in one go and a second time, which servers accept writes."""
    global rivals
    while not ends.is_set():
        writable = [i for i in range(MEMBERS) if sql(i, "SELECT pg_is_in_recovery()") == "f"]
        if len(writable) > 1 and all(sql(i, "SELECT pg_is_in_recovery()") == "f" for i in writable):
            rivals += 1
        time.sleep(0.05)


def more_rows():
    """Waits for rows at a primary that all members see."""
    before = len(acknowledged)
    wait("rows at a primary that all members see", lambda: len(acknowledged) > before + 1 and primary())


def switch(before):
    """Asks for another primary than before, unless there is one: an answer may be lost."""
    leader, candidate = primary() or (before, None)
    if candidate and leader == before:
        ask(int(leader), "/switchover", {"leader": leader, "candidate": candidate})
    return leader != before


def recovered():
    global kills, switched
    kills += 1
    if kills % 3 == 0:
        before, _ = wait("a primary", primary)
        wait("another primary", lambda: switch(before))
        switched += 1
    more_rows()


members, threads = [], []
try:
    os.chmod(FOLDER, 0o755)
    members = [start(i) for i in range(MEMBERS)]
    leader, _ = wait("a primary", primary)
    sql(int(leader), "CREATE TABLE hits (n bigint)")
    threads = [threading.Thread(target=insert), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    try:
        more_rows()
        listen(recovered)
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    leader, _ = wait("a primary", primary)
    rows = sql(int(leader), "SELECT string_agg(n::text, ',' ORDER BY n) FROM hits")
    wait("all servers have the same rows",
         lambda: all(sql(i, "SELECT string_agg(n::text, ',' ORDER BY n) FROM hits") == rows for i in range(MEMBERS)))
    lost = set(acknowledged) - {int(n) for n in rows.split(",")}
    timeline = int(sql(int(leader), "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"), 16)
    say("rivals", rivals, "lost", len(lost), "acknowledged", len(acknowledged), "switchovers", switched, "timeline", timeline)
finally:
    ends.set()
    for member in members:
        member.terminate()
    for member in members:
        member.wait(60)
