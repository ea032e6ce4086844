"""Three ClickHouse servers replicate one table: ten inserts, a merge, a new column, and a new leader.

Runs as root. Each server is a process with a session of its own.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

REPLICAS, HTTP, TCP, INTERSERVER = 3, 23750, 23760, 23770
CONFIG = """<yandex>
 <logger><level>warning</level><log>%(folder)s/log</log><errorlog>%(folder)s/errors</errorlog></logger>
 <http_port>%(http)d</http_port><tcp_port>%(tcp)d</tcp_port>
 <interserver_http_port>%(interserver)d</interserver_http_port>
 <interserver_http_host>127.0.0.1</interserver_http_host>
 <listen_host>127.0.0.1</listen_host>
 <path>%(folder)s/data/</path><tmp_path>%(folder)s/tmp/</tmp_path>
 <mark_cache_size>5368709</mark_cache_size>
 <users_config>%(folder)s/users.xml</users_config>
 <default_profile>default</default_profile><default_database>default</default_database>
 <zookeeper><node><host>127.0.0.1</host><port>%(port)s</port></node></zookeeper>
 <macros><replica>r%(i)d</replica></macros>
</yandex>
"""
USERS = """<yandex>
 <profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
 <users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile>
 <quota>default</quota></default></users><quotas><default></default></quotas>
</yandex>
"""


def query(i, text):
    url = "http://127.0.0.1:%d/?%s" % (HTTP + i, urllib.parse.urlencode({"query": text}))
    return urllib.request.urlopen(urllib.request.Request(url, b""), timeout=60).read().decode()


def start(i):
    folder = "%s/r%d" % (os.environ["SCRATCH"], i)
    os.makedirs(folder + "/data")
    os.makedirs(folder + "/tmp")
    with open(folder + "/config.xml", "w") as f:
        f.write(CONFIG % {"folder": folder, "http": HTTP + i, "tcp": TCP + i, "interserver": INTERSERVER + i,
                          "port": os.environ["ADDRESS"].partition(":")[2], "i": i})
    with open(folder + "/users.xml", "w") as f:
        f.write(USERS)
    log = open(folder + "/out", "w")
    command = ["clickhouse-server", "--config-file=" + folder + "/config.xml"]
    return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


servers = [start(i) for i in range(REPLICAS)]
try:
    for i, server in enumerate(servers):
        while True:
            try:
                query(i, "SELECT 1")
                break
            except OSError:
                if server.poll() is not None:
                    for name in ("out", "errors"):
                        path = "%s/r%d/%s" % (os.environ["SCRATCH"], i, name)
                        print(open(path).read()[-2000:] if os.path.exists(path) else "", file=sys.stderr)
                    sys.exit("server %d ended with %d" % (i, server.returncode))
                time.sleep(0.2)
    for i in range(REPLICAS):
        query(i, "CREATE TABLE hits (day Date, n UInt32) ENGINE = ReplicatedMergeTree("
                 "'/clickhouse/tables/hits', '{replica}', day, (n), 8192)")
    time.sleep(2)
    for n in range(10):
        query(n % REPLICAS, "INSERT INTO hits VALUES ('2020-01-01', %d)" % n)
        time.sleep(0.3)
    query(0, "OPTIMIZE TABLE hits FINAL")
    time.sleep(1)
    query(1, "ALTER TABLE hits ADD COLUMN m UInt8")
    time.sleep(2)
    counts = [query(i, "SELECT count() FROM hits").strip() for i in range(REPLICAS)]
finally:
    for server in servers:
        server.send_signal(signal.SIGTERM)
        time.sleep(2)
    for server in servers:
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
if counts != ["10"] * REPLICAS:
    sys.exit("the replicas have %s rows" % counts)
print(json.dumps({"program_turns": 10}))
