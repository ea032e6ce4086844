"""A connection that breaks: the session goes on, and hears what it missed."""

import queue
import socket
import threading

from kazoo.handlers.threading import SequentialThreadingHandler

from sessions import PATIENCE, connect


class Breakable(SequentialThreadingHandler):
    """Keeps hold of the connection, and may forbid another."""

    def __init__(self):
        super().__init__()
        self.allowed = threading.Event()
        self.allowed.set()

    def create_connection(self, *args, **options):
        self.allowed.wait(PATIENCE)
        self.connection = super().create_connection(*args, **options)
        return self.connection

    def cut(self):
        self.allowed.clear()
        self.connection.shutdown(socket.SHUT_RDWR)


handler = Breakable()
one, two = connect(), connect(handler=handler)
states, told = queue.Queue(), queue.Queue()
two.add_listener(states.put)
session = two.client_id

two.create("/r/e", b"mine", ephemeral=True, makepath=True)
two.DataWatch("/r", lambda data, stat: told.put((data, stat.version)))
two.ChildrenWatch("/r", lambda names: told.put(sorted(names)))
print("before", told.get(timeout=PATIENCE), told.get(timeout=PATIENCE))

handler.cut()
print(states.get(timeout=PATIENCE))
one.set("/r", b"missed")
one.create("/r/n")
print("kept", one.exists("/r/e").ephemeralOwner == session[0])
handler.allowed.set()
print(states.get(timeout=PATIENCE))
print("after", *sorted(map(str, (told.get(timeout=PATIENCE), told.get(timeout=PATIENCE)))))
print("same", two.client_id == session, two.exists("/r/e").ephemeralOwner == session[0])
one.set("/r", b"again")
print("again", told.get(timeout=PATIENCE))

two.stop()
print("left", one.get_children("/r"))
one.stop()
