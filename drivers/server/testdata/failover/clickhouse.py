"""Three ClickHouse servers replicate a table while leaders are killed: clickhouse.py ADDRESSES FOLDER LOST

A row is inserted at each replica in turn, and again if the answer is an error: ClickHouse knows the block of an
insert that has taken effect. At the end each replica has each row once. It claims to have inserted LOST rows more than it has, which
it must find missing.
"""

import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from talk import free_ports, listen, say, wait

ADDRESSES, FOLDER = sys.argv[1].split(","), sys.argv[2]
LOST = int(sys.argv[3])
REPLICAS = 3
PORTS = free_ports(3 * REPLICAS)
CONFIG = """<yandex>
 <logger><level>warning</level><log>%(folder)s/log</log><errorlog>%(folder)s/errors</errorlog></logger>
 <listen_host>127.0.0.1</listen_host><http_port>%(http)d</http_port><tcp_port>%(tcp)d</tcp_port>
 <interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>%(interserver)d</interserver_http_port>
 <path>%(folder)s/data/</path><tmp_path>%(folder)s/tmp/</tmp_path>
 <mark_cache_size>5000000</mark_cache_size>
 <users_config>%(folder)s/users.xml</users_config>
 <default_profile>default</default_profile><default_database>default</default_database>
 <zookeeper>%(nodes)s</zookeeper>
 <merge_tree><zookeeper_session_expiration_check_period>1</zookeeper_session_expiration_check_period></merge_tree>
 <macros><replica>%(i)d</replica></macros>
</yandex>
"""
USERS = """<yandex>
 <profiles><default/></profiles><quotas><default/></quotas>
 <users><default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>
"""


def start(i):
    folder = "%s/%d" % (FOLDER, i)
    os.makedirs(folder + "/data")
    os.makedirs(folder + "/tmp")
    nodes = "".join("<node><host>%s</host><port>%s</port></node>" % tuple(a.split(":")) for a in ADDRESSES)
    with open(folder + "/config.xml", "w") as f:
        f.write(CONFIG % {"folder": folder, "http": PORTS[i], "interserver": PORTS[REPLICAS + i],
                          "tcp": PORTS[2 * REPLICAS + i], "nodes": nodes, "i": i})
    with open(folder + "/users.xml", "w") as f:
        f.write(USERS)
    log = open(folder + "/out", "w")
    return subprocess.Popen(["clickhouse-server", "--config-file=" + folder + "/config.xml"], stdout=log, stderr=log, cwd=folder)


def query(i, text):
    url = "http://127.0.0.1:%d/?%s" % (PORTS[i], urllib.parse.urlencode({"query": text}))
    return urllib.request.urlopen(urllib.request.Request(url, b""), timeout=60).read().decode().strip()


rows = repeats = 0
ends = threading.Event()


def insert():
    """Inserts rows 0, 1, 2, …, and merges what there is after each tenth one."""
    global rows, repeats
    while not ends.is_set():
        try:
            query(rows % REPLICAS, "INSERT INTO hits VALUES ('2020-01-01', %d)" % rows)
            rows += 1
            if rows % 10 == 0:
                query(rows % REPLICAS, "OPTIMIZE TABLE hits")
        except urllib.error.HTTPError:
            repeats += 1
            time.sleep(0.1)


def more_rows():
    """Waits until each replica has accepted another row since the call."""
    before = rows
    wait("each replica accepts a row", lambda: rows > before + REPLICAS)


def state():
    """Returns what all replicas have once they are equal and at rest: rows, different rows, and the sum of all."""
    states = [query(i, "SELECT (SELECT count() FROM hits), (SELECT uniqExact(n) FROM hits), (SELECT sum(n) FROM hits), "
                       "is_readonly, queue_size, active_replicas FROM system.replicas") for i in range(REPLICAS)]
    *found, readonly, waiting, active = (int(word) for word in states[0].split())
    if len(set(states)) > 1 or (readonly, waiting, active) != (0, 0, REPLICAS):
        raise OSError("the replicas have %s" % states)
    return found


servers = []
try:
    for i in range(REPLICAS):
        servers.append(start(i))
    for i in range(REPLICAS):
        wait("server %d serves" % i, lambda: query(i, "SELECT 1"))
        query(i, "CREATE TABLE hits (day Date, n UInt32) ENGINE = "
                 "ReplicatedMergeTree('/clickhouse/%s', '{replica}', day, (n), 8192)" % os.path.basename(FOLDER))
    inserts = threading.Thread(target=insert)
    inserts.start()
    try:
        more_rows()
        listen(more_rows)
    finally:
        ends.set()
        inserts.join()
    rows += LOST
    found = wait("all replicas are equal and at rest", state)
    say("rows missing", rows - found[1], "doubled", found[0] - found[1], "sum", found[2] == rows * (rows - 1) // 2, "of", rows,
        "repeated", repeats)
finally:
    for server in servers:
        server.terminate()
    for server in servers:
        server.wait(60)
