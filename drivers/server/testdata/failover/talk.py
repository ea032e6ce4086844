"""How a program talks with the test that kills leaders: it says "ready", answers each line "killed" with
"recovered", and ends after the line "end"."""

import contextlib
import socket
import sys
import time

PATIENCE = 180  # seconds


def say(*words):
    print(*words, flush=True)


def free_ports(count):
    """Returns ports of this machine that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [s.getsockname()[1] for s in sockets]


def wait(what, condition):
    """Returns the first result of the condition that is true. A condition without an answer is not."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            result = condition()
        except OSError as error:
            result, answer = None, error
        else:
            answer = result
        if result:
            return result
        time.sleep(0.1)
    raise SystemExit("it does not come to this: %s, but to %r" % (what, answer))


def listen(recovered):
    """Calls recovered after each killed leader."""
    say("ready")
    for line in sys.stdin:
        if line.strip() != "killed":
            return
        recovered()
        say("recovered")
