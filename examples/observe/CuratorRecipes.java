import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;

/**
 * Clients, 8 unless a number is given, use one of Curator's own recipes: mutex, read-write-lock, latch, selector, barrier,
 * double-barrier or queue.
 *
 * <pre>stampede observe --env ZK_CONNECT={address} -- java examples/observe/CuratorRecipes.java mutex 8</pre>
 *
 * A second number says how many turns each client takes, 3 unless it is given, or how often the barrier is opened, once unless it is given.
 * CLASSPATH has the jars of Curator and ZooKeeper.
 */
class CuratorRecipes {
    static int clients = 8, turns = 3, openings = 1;
    static CyclicBarrier together;

    interface Recipe {
        void use(CuratorFramework client, int nth) throws Exception;
    }

    static final Set<CuratorFramework> all = ConcurrentHashMap.newKeySet(), settled = ConcurrentHashMap.newKeySet();

    /** Is done in turns, each until all other clients wait for theirs, so that the counts are the same in each run. */
    static void work(CuratorFramework client) throws Exception {
        settled.add(client);
        arrived.countDown();
        for (var other : all) {
            while (!settled.contains(other) && !watches(other, "/recipe/")) {
                Thread.sleep(1);
            }
        }
        settled.remove(client);
    }

    static final CountDownLatch arrived = new CountDownLatch(1);

    /** Lets the first client create what all share. */
    static void arrive(int nth) throws InterruptedException {
        if (nth > 0) {
            arrived.await();
        }
    }

    static boolean watches(CuratorFramework client, String prefix) throws Exception {
        var watched = ZooKeeper.class.getDeclaredMethod("getDataWatches");
        watched.setAccessible(true);
        return ((List<?>) watched.invoke(client.getZookeeperClient().getZooKeeper())).stream()
            .anyMatch(path -> path.toString().startsWith(prefix));
    }

    static void mutex(CuratorFramework client, int nth) throws Exception {
        var lock = new InterProcessMutex(client, "/recipe");
        arrive(nth);
        for (int i = 0; i < turns; i++) {
            lock.acquire();
            work(client);
            lock.release();
        }
    }

    static void readWriteLock(CuratorFramework client, int nth) throws Exception {
        var lock = new InterProcessReadWriteLock(client, "/recipe");
        for (int i = 0; i < turns; i++) {
            InterProcessMutex mine = (nth + i) % 2 == 0 ? lock.writeLock() : lock.readLock();
            mine.acquire();
            work(client);
            mine.release();
        }
    }

    static void latch(CuratorFramework client, int nth) throws Exception {
        arrive(nth);
        for (int i = 0; i < turns; i++) {
            try (var latch = new LeaderLatch(client, "/recipe")) {
                latch.start();
                latch.await();
                work(client);
            }
        }
    }

    static void selector(CuratorFramework client, int nth) throws Exception {
        for (int i = 0; i < turns; i++) {
            var led = new CountDownLatch(1);
            try (var selector = new LeaderSelector(client, "/recipe", new LeaderSelectorListenerAdapter() {
                public void takeLeadership(CuratorFramework c) throws Exception {
                    work(client);
                    led.countDown();
                }
            })) {
                selector.start();
                led.await();
            }
        }
    }

    /** One client sets the barrier, and removes it when all others watch it. */
    static void barrier(CuratorFramework client, int nth) throws Exception {
        for (int i = 0; i < openings; i++) {
            var barrier = new DistributedBarrier(client, "/recipe");
            if (nth == 0) {
                barrier.setBarrier();
            }
            together.await();
            if (nth == 0) {
                for (var other : all) {
                    while (other != client && !watches(other, "/recipe")) {
                        Thread.sleep(1);
                    }
                }
                barrier.removeBarrier();
            } else {
                barrier.waitOnBarrier();
            }
            together.await();
        }
    }

    static void doubleBarrier(CuratorFramework client, int nth) throws Exception {
        var barrier = new DistributedDoubleBarrier(client, "/recipe", clients);
        barrier.enter();
        barrier.leave();
    }

    static CountDownLatch consumed;

    /** Each client puts items and consumes items, until all are consumed. */
    static void queue(CuratorFramework client, int nth) throws Exception {
        var consumer = new QueueConsumer<byte[]>() {
            public void consumeMessage(byte[] message) {
                consumed.countDown();
            }

            public void stateChanged(CuratorFramework c, ConnectionState state) {
            }
        };
        var serializer = new QueueSerializer<byte[]>() {
            public byte[] serialize(byte[] item) {
                return item;
            }

            public byte[] deserialize(byte[] bytes) {
                return bytes;
            }
        };
        try (var queue = QueueBuilder.builder(client, consumer, serializer, "/recipe").buildQueue()) {
            queue.start();
            together.await();
            for (int i = 0; i < turns; i++) {
                queue.put(new byte[] {1});
            }
            consumed.await();
            together.await();
        }
    }

    static Recipe named(String name) {
        return switch (name) {
            case "mutex" -> CuratorRecipes::mutex;
            case "read-write-lock" -> CuratorRecipes::readWriteLock;
            case "latch" -> CuratorRecipes::latch;
            case "selector" -> CuratorRecipes::selector;
            case "barrier" -> CuratorRecipes::barrier;
            case "double-barrier" -> CuratorRecipes::doubleBarrier;
            case "queue" -> CuratorRecipes::queue;
            default -> throw new IllegalArgumentException("unknown recipe " + name);
        };
    }

    public static void main(String[] args) throws Exception {
        var recipe = named(args[0]);
        if (args.length > 1) {
            clients = Integer.parseInt(args[1]);
        }
        if (args.length > 2) {
            turns = openings = Integer.parseInt(args[2]);
        }
        together = new CyclicBarrier(clients);
        consumed = new CountDownLatch(clients * turns);
        var executor = Executors.newFixedThreadPool(clients);
        List<Future<Void>> uses = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            int nth = i;
            uses.add(executor.submit((Callable<Void>) () -> {
                // Without its tracker a client never reads the ensemble's configuration, so that all counts are the recipe's.
                try (var client = CuratorFrameworkFactory.builder().connectString(System.getenv("ZK_CONNECT"))
                        .retryPolicy(new RetryOneTime(100)).ensembleTracker(false).build()) {
                    client.start();
                    client.blockUntilConnected();
                    all.add(client);
                    together.await();
                    recipe.use(client, nth);
                    settled.add(client);
                }
                return null;
            }));
        }
        executor.shutdown();
        for (var use : uses) {
            use.get();
        }
    }
}
