import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.Watcher;

/** Watches: of one change, of all, of a tree; and those that are taken back. */
class Watches {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        var told = new LinkedBlockingQueue<String>();
        Watcher tell = event -> told.add(event.getType() + " " + event.getPath());
        two.checkExists().usingWatcher(tell).forPath(root);
        one.create().forPath(root);
        Programs.say("exists", Programs.heard(told, 1));
        two.getData().usingWatcher(tell).forPath(root);
        two.getChildren().usingWatcher(tell).forPath(root);
        one.create().forPath(root + "/a");
        Programs.say("children", Programs.heard(told, 1));
        one.setData().forPath(root);
        Programs.say("data", Programs.heard(told, 1));

        two.checkExists().usingWatcher(tell).forPath(root);
        two.watchers().remove(tell).forPath(root);
        Programs.say("removed", Programs.heard(told, 1));
        Programs.say("removed", Programs.refused(() -> two.watchers().remove(tell).forPath(root)));
        one.setData().forPath(root);
        lasting(one, two, root);
        Programs.say("nothing more", told);
    }

    /** Each kind on a path of its own: ZooKeeper 3.8 keeps one of a session's per path. */
    static void lasting(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        for (var mode : AddWatchMode.values()) {
            var path = one.create().forPath(root + "/" + mode);
            var recursive = mode == AddWatchMode.PERSISTENT_RECURSIVE;
            var told = new LinkedBlockingQueue<String>();
            try (var watcher = new PersistentWatcher(two, path, recursive)) {
                watcher.getListenable().addListener(event -> told.add(event.getType() + " " + event.getPath()));
                var armed = new CountDownLatch(1);
                watcher.getResetListenable().addListener(armed::countDown);
                watcher.start();
                armed.await(Programs.PATIENCE, TimeUnit.SECONDS);
                for (int i = 0; i < 2; i++) {
                    one.setData().forPath(path);
                    one.create().forPath(path + "/b");
                    one.create().forPath(path + "/b/c");
                    one.setData().forPath(path + "/b");
                    one.delete().deletingChildrenIfNeeded().forPath(path + "/b");
                }
                Programs.say(mode, Programs.heard(told, recursive ? 12 : 6));
            }
        }
    }
}
