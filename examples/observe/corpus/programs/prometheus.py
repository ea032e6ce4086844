"""Five Prometheus servers discover targets by serverset_sd_config from ZooKeeper, while members come and go.

Each server is a process with a session of its own; the members are registered by a session of kazoo.
"""

import json
import os
import subprocess
import time
import urllib.request

from kazoo.client import KazooClient

CONFIG = """
scrape_configs:
- job_name: search
  scrape_interval: 1h
  serverset_sd_configs:
  - servers: ["%s"]
    paths: ["/services/search"]
    timeout: 20s
"""

scratch, servers = os.environ["SCRATCH"], []
client = KazooClient(os.environ["ADDRESS"], timeout=20)
client.start()
client.ensure_path("/services/search")


def member(i):
    endpoint = {"host": "127.0.0.1", "port": 9 + i}
    fields = {"serviceEndpoint": endpoint, "additionalEndpoints": {}, "status": "ALIVE", "shard": i}
    return json.dumps(fields).encode()


try:
    for i in range(5):
        folder = "%s/prometheus-%d" % (scratch, i)
        os.mkdir(folder)
        with open(folder + "/config.yml", "w") as f:
            f.write(CONFIG % os.environ["ADDRESS"])
        servers.append(subprocess.Popen(
            ["prometheus", "--config.file=" + folder + "/config.yml", "--storage.tsdb.path=" + folder + "/data",
             "--web.listen-address=127.0.0.1:%d" % (23990 + i), "--log.level=error"]))
    for i in range(5):
        while True:
            try:
                urllib.request.urlopen("http://127.0.0.1:%d/-/ready" % (23990 + i)).read()
                break
            except OSError:
                time.sleep(0.1)
    time.sleep(8)  # the first discovery takes some seconds
    for i in range(10):
        client.create("/services/search/member_%04d" % i, member(i), ephemeral=True)
        time.sleep(0.3)
        if i % 2:
            client.delete("/services/search/member_%04d" % (i - 1))
            time.sleep(0.3)
            client.set("/services/search/member_%04d" % i, member(i + 20))
            time.sleep(0.3)
finally:
    for server in servers:
        server.terminate()
    for server in servers:
        server.wait()
client.stop()
