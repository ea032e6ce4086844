import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;

/** What sessions share: counts, a queue, a node that is always there, a group. */
class Values {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        counts(one, two, root + "/count");
        queue(one, two, root + "/queue");
        node(one, two, root + "/node");
        group(one, two, root + "/group");
    }

    static void counts(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var told = new LinkedBlockingQueue<String>();
        try (var first = new SharedCount(one, path, 7); var second = new SharedCount(two, path, 9)) {
            first.start();
            second.start();
            second.addListener(new SharedCountListener() {
                public void countHasChanged(SharedCountReader count, int value) {
                    told.add("counts " + value);
                }

                public void stateChanged(CuratorFramework client, ConnectionState state) {}
            });
            Programs.say("count", first.getCount(), second.getCount());
            first.setCount(8);
            Programs.say("count", Programs.heard(told, 1), second.getCount());
            var old = second.getVersionedValue();
            Programs.say("tried", second.trySetCount(old, 10), Programs.heard(told, 1), second.trySetCount(old, 11));
        }
        var number = new DistributedAtomicLong(one, path + "-long", new RetryOneTime(1));
        Programs.say("number", number.initialize(5L), number.increment().postValue(), number.add(10L).postValue(),
            number.compareAndSet(1L, 2L).succeeded(), number.get().postValue());
    }

    static void queue(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var queue = new SimpleDistributedQueue(one, path);
        for (var item : new String[] {"a", "b", "c"}) {
            queue.offer(item.getBytes());
        }
        var other = new SimpleDistributedQueue(two, path);
        Programs.say("queue", other.peek(), other.take(), queue.poll(), other.remove(), queue.poll(10, TimeUnit.MILLISECONDS));
    }

    /** Somebody takes the node away, and it is there again. */
    static void node(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var told = new LinkedBlockingQueue<String>();
        try (var node = new PersistentNode(one, CreateMode.EPHEMERAL, false, path, "mine".getBytes())) {
            node.getListenable().addListener(created -> told.add("created " + created));
            node.start();
            Programs.say("node", node.waitForInitialCreate(Programs.PATIENCE, TimeUnit.SECONDS), Programs.heard(told, 1));
            two.delete().forPath(path);
            Programs.say("node", Programs.heard(told, 1), two.getData().forPath(path));
        }
        Programs.say("node", two.checkExists().forPath(path));
    }

    static void group(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        one.create().forPath(path);
        try (var first = new GroupMember(one, path, "first", "1".getBytes());
                var second = new GroupMember(two, path, "second", "2".getBytes())) {
            first.start();
            second.start();
            Programs.crowd(one, path, 2);
            Programs.say("group", two.getData().forPath(path + "/first"), one.getData().forPath(path + "/second"));
        }
    }
}
