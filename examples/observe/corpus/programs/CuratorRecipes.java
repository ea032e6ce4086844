import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.barriers.*;
import org.apache.curator.framework.recipes.cache.*;
import org.apache.curator.framework.recipes.leader.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.framework.recipes.nodes.*;
import org.apache.curator.framework.recipes.queue.*;
import org.apache.curator.framework.recipes.shared.*;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZKPaths;
import org.apache.curator.x.discovery.*;

/**
 * Programs on Curator's recipes: CuratorRecipes PROGRAM, at the server ADDRESS. Each client is a session.
 * The last line printed has the turns that the program counted.
 */
class CuratorRecipes {
    interface Work {
        void run(int i, CuratorFramework client) throws Exception;
    }

    static final List<CuratorFramework> clients = new ArrayList<>();
    static final AtomicInteger turns = new AtomicInteger();

    static void open(int number) throws Exception {
        for (int i = 0; i < number; i++) {
            var retry = new RetryOneTime(100);
            var c = CuratorFrameworkFactory.newClient(System.getenv("ADDRESS"), 20000, 20000, retry);
            c.start();
            c.blockUntilConnected();
            clients.add(c);
        }
    }

    /** Runs work for all clients from the given one on at once, and waits for all. */
    static void together(int from, Work work) throws Exception {
        var done = new ArrayList<Future<?>>();
        var pool = Executors.newCachedThreadPool();
        for (int i = from; i < clients.size(); i++) {
            int n = i;
            done.add(pool.submit(() -> {
                work.run(n, clients.get(n));
                return null;
            }));
        }
        pool.shutdown();
        for (var d : done) d.get();
    }

    static void until(Callable<Boolean> condition) throws Exception {
        while (!condition.call()) Thread.sleep(10);
    }

    static void mutex() throws Exception {
        open(6);
        together(0, (n, c) -> {
            var lock = new InterProcessMutex(c, "/app/mutex");
            for (int i = 0; i < 5; i++) {
                lock.acquire();
                turns.incrementAndGet();
                Thread.sleep(20);
                lock.release();
            }
        });
    }

    /** Three writers and five readers: each reader waits for the first writer of the line. */
    static void readWriteLock() throws Exception {
        open(8);
        together(0, (n, c) -> {
            var both = new InterProcessReadWriteLock(c, "/app/rw");
            InterProcessMutex lock = n < 3 ? both.writeLock() : both.readLock();
            for (int i = 0; i < 5; i++) {
                lock.acquire();
                turns.incrementAndGet();
                Thread.sleep(20);
                lock.release();
            }
        });
    }

    static void semaphore() throws Exception {
        open(7);
        together(0, (n, c) -> {
            var semaphore = new InterProcessSemaphoreV2(c, "/app/semaphore", 2);
            for (int i = 0; i < 4; i++) {
                var lease = semaphore.acquire();
                turns.incrementAndGet();
                Thread.sleep(20);
                semaphore.returnLease(lease);
            }
        });
    }

    /** Each leader leads for a while, closes its latch and stands again with a new one. */
    static void leaderLatch() throws Exception {
        open(6);
        together(0, (n, c) -> {
            for (int i = 0; i < 4; i++) {
                var latch = new LeaderLatch(c, "/app/latch");
                latch.start();
                latch.await();
                turns.incrementAndGet();
                Thread.sleep(30);
                latch.close();
            }
        });
    }

    static void leaderSelector() throws Exception {
        open(6);
        var selectors = new ArrayList<LeaderSelector>();
        for (var c : clients) {
            var selector = new LeaderSelector(c, "/app/selector", new LeaderSelectorListenerAdapter() {
                public void takeLeadership(CuratorFramework client) throws Exception {
                    turns.incrementAndGet();
                    Thread.sleep(30);
                }
            });
            selector.autoRequeue();
            selectors.add(selector);
            selector.start();
        }
        until(() -> turns.get() >= 30);
        for (var s : selectors) s.close();
        Thread.sleep(300);
    }

    static void simpleQueue() throws Exception {
        open(9);
        clients.get(0).create().creatingParentsIfNeeded().forPath("/app/queue");
        var taker = new Thread(() -> {
            try {
                together(1, (n, c) -> {
                    var queue = new SimpleDistributedQueue(c, "/app/queue");
                    while (!new String(queue.take()).equals("end")) turns.incrementAndGet();
                });
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        });
        taker.start();
        Thread.sleep(1000);
        var queue = new SimpleDistributedQueue(clients.get(0), "/app/queue");
        for (int i = 0; i < 20; i++) {
            queue.offer(("item " + i).getBytes());
            Thread.sleep(200);
        }
        for (int i = 1; i < clients.size(); i++) {
            queue.offer("end".getBytes());
            Thread.sleep(200);
        }
        taker.join();
    }

    /** Several DistributedQueues on one path: each consumer watches the list and tries to take what is there. */
    static void distributedQueue() throws Exception {
        open(7);
        var queues = new ArrayList<DistributedQueue<String>>();
        var serializer = new QueueSerializer<String>() {
            public byte[] serialize(String s) { return s.getBytes(); }
            public String deserialize(byte[] b) { return new String(b); }
        };
        for (int i = 0; i < clients.size(); i++) {
            var consumer = i == 0 ? null : new QueueConsumer<String>() {
                public void consumeMessage(String s) { turns.incrementAndGet(); }
                public void stateChanged(CuratorFramework c, ConnectionState s) { }
            };
            var queue = QueueBuilder.builder(clients.get(i), consumer, serializer, "/app/dq").buildQueue();
            queue.start();
            queues.add(queue);
        }
        Thread.sleep(500);
        for (int i = 0; i < 20; i++) {
            queues.get(0).put("item " + i);
            int n = i;
            until(() -> turns.get() > n);
            Thread.sleep(150);
        }
        for (var q : queues) q.close();
    }

    /** Members come, change and go; each client holds a cache of their nodes. */
    static void pathCache() throws Exception {
        open(6);
        clients.get(0).create().creatingParentsIfNeeded().forPath("/app/hosts");
        var caches = new ArrayList<PathChildrenCache>();
        for (var c : clients) {
            var cache = new PathChildrenCache(c, "/app/hosts", true);
            cache.start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
            caches.add(cache);
        }
        change("/app/hosts/host-");
        for (var c : caches) c.close();
    }

    static void change(String prefix) throws Exception {
        for (int i = 0; i < 6; i++) {
            clients.get(i % 3).create().forPath(prefix + i);
            Thread.sleep(100);
            for (int k = 0; k < 2; k++) {
                clients.get((i + k) % 3).setData().forPath(prefix + i, ("" + k).getBytes());
                Thread.sleep(100);
            }
            if (i > 1) clients.get(0).delete().forPath(prefix + (i - 2));
            Thread.sleep(100);
        }
    }

    /** CuratorCache stands on one persistent recursive watch for each client. */
    static void curatorCache() throws Exception {
        open(6);
        clients.get(0).create().creatingParentsIfNeeded().forPath("/app/catalog");
        var caches = new ArrayList<CuratorCache>();
        for (var c : clients) {
            var ready = new CountDownLatch(1);
            var cache = CuratorCache.build(c, "/app/catalog");
            var listener = CuratorCacheListener.builder().forInitialized(ready::countDown).build();
            cache.listenable().addListener(listener);
            cache.start();
            ready.await();
            caches.add(cache);
        }
        change("/app/catalog/item-");
        for (var c : caches) c.close();
    }

    static void treeCache() throws Exception {
        open(5);
        clients.get(0).create().creatingParentsIfNeeded().forPath("/app/tree");
        var caches = new ArrayList<TreeCache>();
        for (var c : clients) {
            var cache = TreeCache.newBuilder(c, "/app/tree").build();
            cache.start();
            caches.add(cache);
        }
        Thread.sleep(500);
        change("/app/tree/leaf-");
        for (var c : caches) c.close();
    }

    /** A counter that all show and all raise: a change is set by version and repeated when another was first. */
    static void sharedCount() throws Exception {
        open(6);
        var shown = new ArrayList<SharedCount>();
        for (var c : clients) {
            var count = new SharedCount(c, "/app/count", 0);
            count.start();
            shown.add(count);
        }
        for (int i = 0; i < 5; i++) {
            together(0, (n, c) -> {
                var count = shown.get(n);
                Thread.sleep(n * 60);
                while (!count.trySetCount(count.getVersionedValue(), count.getCount() + 1)) Thread.sleep(10);
                turns.incrementAndGet();
            });
        }
        Thread.sleep(200);
        for (var c : shown) c.close();
    }

    static void barrier() throws Exception {
        open(7);
        var control = new DistributedBarrier(clients.get(0), "/app/barrier");
        for (int i = 0; i < 20; i++) {
            control.setBarrier();
            var opener = new Thread(() -> {
                try {
                    Thread.sleep(100);
                    control.removeBarrier();
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            opener.start();
            together(1, (n, c) -> {
                new DistributedBarrier(c, "/app/barrier").waitOnBarrier();
                turns.incrementAndGet();
            });
            opener.join();
        }
    }

    static void doubleBarrier() throws Exception {
        open(6);
        for (int i = 0; i < 8; i++) {
            String path = "/app/double/" + i;
            together(0, (n, c) -> {
                var barrier = new DistributedDoubleBarrier(c, path, 6);
                barrier.enter();
                turns.incrementAndGet();
                barrier.leave();
            });
        }
    }

    static void groupMember() throws Exception {
        open(6);
        for (int i = 0; i < 2; i++) {
            var members = new ArrayList<GroupMember>();
            for (int n = 0; n < clients.size(); n++) {
                var m = new GroupMember(clients.get(n), "/app/group", "member-" + n, ("host " + n).getBytes());
                m.start();
                members.add(m);
                Thread.sleep(150);
            }
            for (var m : members) {
                m.setThisData("busy".getBytes());
                Thread.sleep(100);
            }
            for (var m : members) {
                m.close();
                Thread.sleep(150);
            }
        }
    }

    static ServiceDiscovery<Void> discovery(CuratorFramework client) throws Exception {
        var d = ServiceDiscoveryBuilder.builder(Void.class).client(client).basePath("/app/sd").build();
        d.start();
        return d;
    }

    /** Consumers hold a ServiceCache; the instances are registered by other sessions. */
    static void serviceDiscovery() throws Exception {
        open(7);
        var caches = new ArrayList<ServiceCache<Void>>();
        for (int i = 2; i < 7; i++) {
            var discovery = discovery(clients.get(i));
            var cache = discovery.serviceCacheBuilder().name("search").build();
            cache.start();
            caches.add(cache);
        }
        var registries = new ArrayList<ServiceDiscovery<Void>>();
        for (int i = 0; i < 2; i++) {
            registries.add(discovery(clients.get(i)));
        }
        for (int i = 0; i < 12; i++) {
            ServiceInstance<Void> instance = ServiceInstance.<Void>builder().name("search").id("instance-" + i)
                .address("10.0.0." + i).port(8000 + i).build();
            registries.get(i % 2).registerService(instance);
            Thread.sleep(150);
            registries.get(i % 2).unregisterService(instance);
            Thread.sleep(150);
        }
        for (var c : caches) c.close();
    }

    public static void main(String[] args) throws Exception {
        CuratorRecipes.class.getDeclaredMethod(args[0]).invoke(null);
        for (var c : clients) c.close();
        System.out.println("{\"program_turns\": " + turns + "}");
        System.exit(0);
    }
}
