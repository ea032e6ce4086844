"""Registers a member and follows a configuration with kazoo, as its documentation has it: a listener registers again
after the session was lost, and DataWatch goes on by itself.

  stampede observe --env ZK_CONNECT={address} -- python3 kazoo_member.py 15    # seconds
"""

import os
import sys
import time

from kazoo.client import KazooClient, KazooState

client = KazooClient(os.environ["ZK_CONNECT"], timeout=4)
lost = False


def register():
    client.create("/app/members/kazoo", ephemeral=True, makepath=True)


def listen(state):
    global lost
    if state == KazooState.LOST:
        lost = True
    elif state == KazooState.CONNECTED and lost:
        lost = False
        client.handler.spawn(register)


client.start()
client.add_listener(listen)
register()
client.ensure_path("/app/config")


@client.DataWatch("/app/config")
def follow(data, stat):
    pass  # the program would use the data here


time.sleep(float(sys.argv[1]))
client.stop()
client.close()
