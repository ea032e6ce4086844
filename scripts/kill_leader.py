"""A pytest plugin for kazoo's test suite that kills the leader of the suite's ensemble by SIGKILL.

With KILL_LEADER=between it does so before each test: it kills the leader, waits until another
member leads, starts the killed one again, and waits until it serves. With KILL_LEADER=during it
does the same once in each test that lasts long enough, from another thread. It writes the number
of leaders that it has killed to the file KILLS.
"""

import contextlib
import os
import re
import socket
import threading
import time

import pytest
from kazoo.testing import common, harness

MODE = os.environ["KILL_LEADER"]
PATIENCE = 60  # seconds
# How long after the start of a test the leader is killed, in seconds, each for every fifth test.
DELAYS = (0, 0.01, 0.03, 0.1, 0.3)

tests = 0
kills = 0
# A test that starts or stops a member itself waits until the plugin has started the killed one.
changing = threading.RLock()


def locked(method):
    def call(self):
        with changing:
            return method(self)

    return call


common.ManagedZooKeeper.run = locked(common.ManagedZooKeeper.run)
common.ManagedZooKeeper.stop = locked(common.ManagedZooKeeper.stop)


def role(member):
    """Returns the member's role, or "" if it serves no clients."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", member.client_port), timeout=5) as s:
        s.sendall(b"srvr")
        answer = b"".join(iter(lambda: s.recv(4096), b""))
        found = re.search(rb"^Mode: (\w+)", answer, re.MULTILINE)
        return found.group(1).decode() if found else ""
    return ""


def wait_for(what, probe):
    """Returns the first result of the probe that is true."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        result = probe()
        if result:
            return result
        time.sleep(0.02)
    raise RuntimeError("%s: not after %d s" % (what, PATIENCE))


def leader_of(members):
    return next((member for member in members if role(member) == "leader"), None)


def kill_leader():
    """Kills the leader and starts it again, unless no ensemble runs or a test has stopped a member."""
    global kills
    with changing:
        members = list(harness.CLUSTER or ())
        if not members or not all(member.running for member in members):
            return
        killed = wait_for("a leader", lambda: leader_of(members))
        killed.process.kill()
        killed.process.wait()
        killed._running = False
        kills += 1
        others = [member for member in members if member is not killed]
        try:
            wait_for("another leader", lambda: leader_of(others))
        finally:
            killed.run()
        wait_for("the killed member", lambda: role(killed))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if MODE == "between":
        kill_leader()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if MODE != "during":
        yield
        return
    global tests
    tests += 1
    errors = []

    def cycle():
        try:
            kill_leader()
        except Exception as error:  # is raised below, in the thread that runs the tests
            errors.append(error)

    timer = threading.Timer(DELAYS[tests % len(DELAYS)], cycle)
    timer.start()
    yield
    timer.cancel()
    timer.join()
    if errors:
        raise errors[0]


def pytest_sessionfinish(session):
    with open(os.environ["KILLS"], "w") as file:
        print(kills, file=file)
