// Registers a member and follows a configuration with node-zookeeper-client, as its README has it: when the client is
// connected it creates the node, and each event of the watcher reads the configuration again.
//
//   stampede observe --env ZK_CONNECT={address} -- node member.js 15    # seconds
"use strict";

const zookeeper = require("node-zookeeper-client");

const client = zookeeper.createClient(process.env.ZK_CONNECT, { sessionTimeout: 4000 });

function check(error) {
  if (error) console.error(error.toString());
}

function follow() {
  client.getData("/app/config", follow, check); // the program would use the data here
}

client.once("connected", () => {
  client.mkdirp("/app/members", (error) => {
    check(error);
    client.create("/app/members/node", zookeeper.CreateMode.EPHEMERAL, check);
  });
  client.mkdirp("/app/config", (error) => {
    check(error);
    follow();
  });
});
client.connect();

setTimeout(() => {
  client.close();
  setTimeout(process.exit, 1000, 0).unref(); // in case that no server is there to close the session
}, process.argv[2] * 1000);
