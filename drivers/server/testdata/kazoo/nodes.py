"""Nodes: made, read, written, protected, changed together."""

from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError, NotEmptyError
from kazoo.security import make_digest_acl

from sessions import connect

one, two = connect(), connect()


def refused(call, *args, **options):
    try:
        call(*args, **options)
    except (BadVersionError, NoAuthError, NodeExistsError, NotEmptyError) as error:
        print(call.__name__, type(error).__name__)


print("created", one.create("/k", b"data"))
print("sequence", one.create("/k/n-", sequence=True, ephemeral=True))
print("deep", one.create("/k/a/b/c", b"c", makepath=True))
path, stat = one.create("/k/told", b"four", include_data=True)
print("told", path, stat.dataLength, stat.version, stat.czxid == stat.mzxid == stat.pzxid)
refused(one.create, "/k")
refused(one.set, "/k", b"", version=9)
refused(one.delete, "/k/a")

print("set", one.set("/k", b"more").version)
data, stat = two.get("/k")
print("read", data, stat.version, stat.numChildren, stat.cversion, stat.ephemeralOwner)
print("children", sorted(two.get_children("/k")), two.exists("/none"), two.sync("/k"))
print("owned", two.exists("/k/n-0000000000").ephemeralOwner == one.client_id[0])
one.delete("/k/a", recursive=True)
print("deleted", two.exists("/k/a/b/c"), two.exists("/k/a"))

transaction = one.transaction()
transaction.check("/k", 1)
transaction.create("/k/t", b"t")
transaction.set_data("/k/t", b"u")
transaction.delete("/k/told")
print("transaction", [type(result).__name__ for result in transaction.commit()])
transaction = one.transaction()
transaction.create("/k/never")
transaction.check("/k", 7)
transaction.create("/k/nor this")
print("transaction", [type(result).__name__ for result in transaction.commit()])
print("undone", two.exists("/k/never"))

one.add_auth("digest", "user:password")
one.create("/k/secret", b"", acl=[make_digest_acl("user", "password", all=True)])
refused(two.get, "/k/secret")
acls, _ = one.get_acls("/k/secret")
print("acl", [(acl.perms, acl.id.scheme, acl.id.id) for acl in acls])
print("acl", one.set_acls("/k/secret", [make_digest_acl("user", "password", read=True)]).aversion)
refused(one.set, "/k/secret", b"")

print("left", two.exists("/k/n-0000000000") is not None)
one.stop()
print("left", two.exists("/k/n-0000000000") is not None)
two.stop()
