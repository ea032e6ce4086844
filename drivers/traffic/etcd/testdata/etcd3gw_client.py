"""Uses etcd through its JSON gateway with the library etcd3gw: keys, transactions, a lease, a lock and a watch.

Usage: etcd3gw_client.py HOST:PORT ROOT VALUE
"""

import sys

from etcd3gw import Etcd3Client

host, port = sys.argv[1].split(":")
root, value = sys.argv[2], sys.argv[3]
client = Etcd3Client(host=host, port=int(port), api_path="/v3/")

client.put(root + "/config", value)
assert client.get(root + "/config") == [value.encode()]
lease = client.lease(ttl=60)
assert client.create(root + "/once", value, lease=lease)
assert not client.create(root + "/once", value)
assert client.replace(root + "/config", value, "next")
assert not client.replace(root + "/config", value, "other")
assert len(client.get_prefix(root + "/")) == 2
lease.refresh()

events, cancel = client.watch(root + "/config")
client.put(root + "/config", "watched")
client.delete(root + "/config")
assert [next(events).get("type", "PUT") for _ in range(2)] == ["PUT", "DELETE"]
cancel()

with client.lock(root, ttl=60):
    pass
client.members()
lease.revoke()
