"""Barriers: one that somebody lifts, and one that all enter and leave together."""

import queue

from sessions import PATIENCE, connect, each, start

one, two = connect(), connect()

print("none", two.Barrier("/barrier").wait(timeout=PATIENCE))
barrier = one.Barrier("/barrier")
barrier.create()
print("down", two.Barrier("/barrier").wait(timeout=0.01))
passed = queue.Queue()
waiting = start(lambda: passed.put(two.Barrier("/barrier").wait(timeout=PATIENCE)))
print("lifted", barrier.remove(), passed.get(timeout=PATIENCE), barrier.remove())
waiting.join()

rooms = [client.DoubleBarrier("/room", 3, str(i)) for i, client in enumerate((one, two, one))]
each(lambda room: room.enter(), *rooms)
print("entered", len(one.get_children("/room")), one.exists("/room/ready") is not None)
each(lambda room: room.leave(), *rooms)
print("left", one.get_children("/room"))

one.stop()
two.stop()
