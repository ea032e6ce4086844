import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;

/** Caches of a tree and of children, which follow what another session does. */
class Caches {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        tree(one, two, root + "/new");
        oldTree(one, two, root + "/old");
        children(one, two, root + "/children");
    }

    static String word(Object kind, ChildData node) {
        return kind + (node == null ? "" : " " + node.getPath() + " " + Programs.text(node.getData()));
    }

    static void plant(CuratorFramework one, String root) throws Exception {
        one.create().creatingParentsIfNeeded().forPath(root + "/a/b", "b".getBytes());
        one.create().forPath(root + "/c", "c".getBytes());
        one.setData().forPath(root, "root".getBytes());
        one.setData().forPath(root + "/a", "a".getBytes());
    }

    /** One change at a time, so that no cache takes two for one. */
    static void change(CuratorFramework one, BlockingQueue<String> told, String root, boolean deep) throws Exception {
        one.setData().forPath(root + "/c", "changed".getBytes());
        Programs.say("set", Programs.heard(told, 1));
        one.create().forPath(root + "/d", "d".getBytes());
        Programs.say("create", Programs.heard(told, 1));
        if (deep) {
            one.create().forPath(root + "/d/e", "e".getBytes());
            Programs.say("create", Programs.heard(told, 1));
        }
        one.delete().deletingChildrenIfNeeded().forPath(root + "/d");
        Programs.say("delete", Programs.heard(told, deep ? 2 : 1));
    }

    static void tree(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        plant(one, root);
        var told = new LinkedBlockingQueue<String>();
        try (var cache = CuratorCache.build(two, root)) {
            cache.listenable().addListener(CuratorCacheListener.builder()
                .forAll((type, before, after) -> told.add(word(type, after == null ? before : after)))
                .forInitialized(() -> told.add("INITIALIZED")).build());
            cache.start();
            Programs.say("start", Programs.heard(told, 5));
            change(one, told, root, true);
            Programs.say("holds", cache.size(), cache.get(root + "/c").get().getData());
        }
    }

    static void oldTree(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        plant(one, root);
        var told = new LinkedBlockingQueue<String>();
        try (var cache = new TreeCache(two, root)) {
            cache.getListenable().addListener((client, event) -> told.add(word(event.getType(), event.getData())));
            cache.start();
            Programs.say("start", Programs.heard(told, 5));
            change(one, told, root, true);
            Programs.say("holds", cache.getCurrentChildren(root).keySet(), cache.getCurrentData(root + "/c").getData());
        }
    }

    static void children(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        plant(one, root);
        var told = new LinkedBlockingQueue<String>();
        try (var cache = new PathChildrenCache(two, root, true)) {
            cache.getListenable().addListener((client, event) -> told.add(word(event.getType(), event.getData())));
            cache.start(PathChildrenCache.StartMode.POST_INITIALIZED_EVENT);
            Programs.say("start", Programs.heard(told, 3));
            change(one, told, root, false);
            Programs.say("holds", cache.getCurrentData().size(), cache.getCurrentData(root + "/c").getData());
        }
    }
}
