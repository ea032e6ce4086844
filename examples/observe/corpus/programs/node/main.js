// Programs on etcd3 and on node-zookeeper-client: node main.js PROGRAM, at the server ADDRESS.
// Each client is a session with a connection of its own. The last line printed has the program's own counts.
"use strict";

const address = process.env.ADDRESS;
const counts = { program_turns: 0, program_calls: 0 };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const numbers = (n) => [...Array(n).keys()];

function etcdClients(n) {
  const { Etcd3 } = require("etcd3");
  const own = { "grpc.use_local_subchannel_pool": 1 }; // else all clients of a process share a connection
  return numbers(n).map(() => new Etcd3({ hosts: "http://" + address, grpcOptions: own }));
}

function zookeeperClients(n) {
  const zookeeper = require("node-zookeeper-client");
  return Promise.all(
    numbers(n).map(
      () =>
        new Promise((done) => {
          const client = zookeeper.createClient(address, { sessionTimeout: 20000 });
          client.once("connected", () => done(client));
          client.connect();
        }),
    ),
  );
}

// call makes a promise of a method with a callback.
function call(client, method, ...args) {
  return new Promise((done, fail) => {
    client[method](...args, (err, result) => (err ? fail(err) : done(result)));
  });
}

// electionOfEtcd has 5 candidates, each of which resigns and stands again, and 3 observers.
async function electionOfEtcd() {
  const clients = etcdClients(8);
  const observers = [];
  for (const client of clients.slice(5)) observers.push(await client.election("job", 60).observe());
  const candidate = async (client, i) => {
    for (const round of numbers(4)) {
      const campaign = client.election("job", 60).campaign("host-" + i + "-" + round);
      await campaign.wait();
      counts.program_turns++;
      await pause(60);
      await campaign.resign();
    }
  };
  await Promise.all(clients.slice(0, 5).map(candidate));
  await pause(300);
  for (const observer of observers) observer.cancel().catch(() => {});
  for (const client of clients) client.close();
}

// featuresOfEtcd has 6 clients that watch all flags under a prefix, which a seventh sets and deletes.
async function featuresOfEtcd() {
  const clients = etcdClients(7);
  const watchers = [];
  for (const client of clients.slice(1)) {
    const watcher = await client.watch().prefix("flags/").create();
    watcher.on("put", () => counts.program_calls++);
    watcher.on("delete", () => counts.program_calls++);
    watchers.push(watcher);
  }
  for (const i of numbers(12)) {
    await clients[0].put("flags/flag-" + (i % 4)).value("on " + i);
    await pause(60);
    if (i % 3 === 2) {
      await clients[0].delete().key("flags/flag-" + (i % 4));
      await pause(60);
    }
  }
  for (const watcher of watchers) await watcher.cancel();
  for (const client of clients) client.close();
}

// workersOfZooKeeper has 6 masters-in-waiting that list the workers by a children watch, as a dashboard does.
async function workersOfZooKeeper() {
  const zookeeper = require("node-zookeeper-client");
  const clients = await zookeeperClients(8);
  await call(clients[0], "mkdirp", "/app/workers");
  const list = (client) =>
    call(client, "getChildren", "/app/workers", () => {
      counts.program_calls++;
      list(client).catch(() => {});
    });
  for (const client of clients.slice(2)) await list(client);
  for (const i of numbers(10)) {
    const path = "/app/workers/worker-" + i;
    await call(clients[i % 2], "create", path, Buffer.from("idle"), zookeeper.CreateMode.EPHEMERAL);
    await pause(60);
    await call(clients[i % 2], "remove", path, -1);
    await pause(60);
  }
  await pause(200);
  for (const client of clients) client.close();
}

// lockOfZooKeeper is a lock whose clients all watch the list of candidates, as many tutorials write it.
async function lockOfZooKeeper() {
  const zookeeper = require("node-zookeeper-client");
  const clients = await zookeeperClients(6);
  await call(clients[0], "mkdirp", "/app/candidates");
  const turn = async (client) => {
    const mode = zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL;
    const mine = (await call(client, "create", "/app/candidates/n_", Buffer.from(""), mode)).split("/").pop();
    for (;;) {
      let changed;
      const change = new Promise((done) => (changed = done));
      const names = await call(client, "getChildren", "/app/candidates", () => changed());
      if (names.sort()[0] === mine) break;
      await change;
    }
    counts.program_turns++;
    await pause(40);
    await call(client, "remove", "/app/candidates/" + mine, -1);
  };
  const work = async (client) => {
    for (const _ of numbers(4)) await turn(client);
  };
  await Promise.all(clients.map(work));
  for (const client of clients) client.close();
}

const programs = { electionOfEtcd, featuresOfEtcd, workersOfZooKeeper, lockOfZooKeeper };
programs[process.argv[2]]().then(
  () => {
    console.log(JSON.stringify(counts));
    setTimeout(() => process.exit(0), 500);
  },
  (err) => {
    console.error(err);
    process.exit(1);
  },
);
