"""An election: one leads until it is done or gone, then the next."""

import queue
import threading

from kazoo.exceptions import ConnectionClosedError

from sessions import PATIENCE, connect, crowd, start

clients = {name: connect() for name in ("one", "two", "three")}
elections = {name: client.Election("/election", name) for name, client in clients.items()}
led = queue.Queue()
done = {name: threading.Event() for name in clients}


def lead(name):
    led.put(name)
    done[name].wait(PATIENCE)


def stand(name):
    try:
        elections[name].run(lead, name)
    except ConnectionClosedError:
        print("gone", name)


observer = clients["three"]
observer.ensure_path("/election")
threads = []
for name in clients:
    threads.append(start(stand, name))
    crowd(observer, "/election", len(threads))
print("leads", led.get(timeout=PATIENCE), observer.Election("/election").contenders())
done["one"].set()
print("leads", led.get(timeout=PATIENCE), observer.Election("/election").contenders())
clients["two"].stop()
print("leads", led.get(timeout=PATIENCE), observer.Election("/election").contenders())
for name in ("two", "three"):
    done[name].set()
for thread in threads:
    thread.join()
print("left", clients["one"].get_children("/election"))
for client in clients.values():
    client.stop()
