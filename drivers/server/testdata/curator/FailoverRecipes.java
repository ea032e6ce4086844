import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;

/**
 * An election, a node of each client and a counter while leaders are killed: java FailoverRecipes
 * ADDRESS,ADDRESS,ADDRESS. The caller kills a leader, writes the line "killed", and waits for the
 * answer, which comes when one client leads again, each node is there and each client has counted on.
 * After the line "end" the program says what it has found, and ends.
 */
class FailoverRecipes {
    static final int CLIENTS = 3;
    static final int PATIENCE = 120; // seconds

    /** The values that increments have got, of which no two may be equal, and how many were. */
    static final ConcurrentHashMap<Long, Boolean> values = new ConcurrentHashMap<>();
    static final AtomicInteger doubles = new AtomicInteger();
    /** How often several clients took themselves for the leader. */
    static final AtomicInteger rivals = new AtomicInteger();
    static final AtomicBoolean ends = new AtomicBoolean();

    final String name;
    final CuratorFramework client;
    final LeaderLatch latch;
    final PersistentNode node;
    final AtomicInteger counted = new AtomicInteger();
    final Thread counts = new Thread(this::count);

    public static void main(String[] args) throws Exception {
        var all = List.of(new FailoverRecipes(args[0], "0"), new FailoverRecipes(args[0], "1"), new FailoverRecipes(args[0], "2"));
        for (var one : all) {
            one.counts.start();
        }
        var watch = new Thread(() -> watch(all));
        watch.start();
        recovered(all);
        Programs.say("ready");
        for (var lines = new Scanner(System.in); lines.nextLine().equals("killed");) {
            recovered(all);
            Programs.say("recovered");
        }
        ends.set(true);
        watch.join();
        for (var one : all) {
            one.counts.join(TimeUnit.SECONDS.toMillis(PATIENCE));
        }
        var last = new DistributedAtomicLong(all.get(0).client, "/counter", new RetryForever(50)).get().postValue();
        Programs.say("rivals", rivals, "doubles", doubles, "acknowledged", values.size(), "counter", last);
        for (var one : all) {
            one.latch.close();
            one.node.close();
            one.client.close();
        }
    }

    FailoverRecipes(String addresses, String name) throws Exception {
        this.name = name;
        client = CuratorFrameworkFactory.newClient(addresses, 20_000, PATIENCE * 1000, new RetryForever(50));
        client.start();
        client.blockUntilConnected(PATIENCE, TimeUnit.SECONDS);
        latch = new LeaderLatch(client, "/election", name);
        latch.start();
        node = new PersistentNode(client, CreateMode.EPHEMERAL, false, "/nodes/" + name, name.getBytes());
        node.start();
    }

    void count() {
        try {
            var counter = new DistributedAtomicLong(client, "/counter", new RetryForever(50));
            while (!ends.get()) {
                var result = counter.increment();
                if (!result.succeeded()) {
                    continue;
                }
                counted.incrementAndGet();
                if (values.put(result.postValue(), true) != null) {
                    doubles.incrementAndGet();
                }
            }
        } catch (Exception e) {
            Programs.say(e);
        }
    }

    static void watch(List<FailoverRecipes> all) {
        while (!ends.get()) {
            // Asked twice: the second one may lead because the first one has ceased to between the questions.
            var leaders = all.stream().filter(one -> one.latch.hasLeadership()).collect(Collectors.toList());
            if (leaders.size() > 1 && leaders.stream().allMatch(one -> one.latch.hasLeadership())) {
                rivals.incrementAndGet();
            }
            Thread.yield();
        }
    }

    /** Waits until one client leads, each node is there, and each client has counted on. */
    static void recovered(List<FailoverRecipes> all) throws Exception {
        var before = all.stream().mapToInt(one -> one.counted.get()).toArray();
        for (int i = 0; i < PATIENCE * 100; i++) {
            boolean leads = all.stream().filter(one -> one.latch.hasLeadership()).count() == 1;
            boolean there = true;
            for (int j = 0; j < CLIENTS && there; j++) {
                var one = all.get(j);
                there = one.counted.get() > before[j] && one.client.checkExists().forPath("/nodes/" + one.name) != null;
            }
            if (leads && there) {
                return;
            }
            new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
        }
        Programs.say("not recovered");
        System.exit(1);
    }
}
