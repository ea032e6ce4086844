import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;

/** A connection that breaks: the session goes on, and its watches tell what it missed. */
class Sessions {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        one.create().forPath(root);
        one.create().forPath(root + "/tree");
        try (var relay = new Relay(two.getZookeeperClient().getCurrentConnectionString());
                var client = Programs.connect(relay.address())) {
            broken(one, client, relay, root);
        }
        Programs.say("left", one.getChildren().forPath(root).size());
    }

    static void broken(CuratorFramework one, CuratorFramework client, Relay relay, String root) throws Exception {
        var states = new LinkedBlockingQueue<String>();
        var told = new LinkedBlockingQueue<String>();
        Watcher tell = event -> {
            if (event.getPath() != null) {
                told.add(event.getType() + " " + event.getPath());
            }
        };
        client.create().withMode(CreateMode.EPHEMERAL).forPath(root + "/e");
        long id = client.getZookeeperClient().getZooKeeper().getSessionId();
        client.getData().usingWatcher(tell).forPath(root + "/e");
        client.checkExists().usingWatcher(tell).forPath(root + "/none");
        client.getChildren().usingWatcher(tell).forPath(root);
        client.watchers().add().withMode(AddWatchMode.PERSISTENT_RECURSIVE).usingWatcher(tell).forPath(root + "/tree");
        client.getConnectionStateListenable().addListener((same, state) -> states.add(state.toString()));

        relay.cut();
        Programs.say(Programs.heard(states, 1));
        one.setData().forPath(root + "/e");
        Programs.say(Programs.heard(states, 1));
        Programs.say("missed", Programs.heard(told, 1));
        one.create().forPath(root + "/tree/leaf");
        one.create().forPath(root + "/none");
        Programs.say("told", Programs.heard(told, 3));
        Programs.say("same", client.getZookeeperClient().getZooKeeper().getSessionId() == id,
            one.checkExists().forPath(root + "/e").getEphemeralOwner() == id);
    }
}
