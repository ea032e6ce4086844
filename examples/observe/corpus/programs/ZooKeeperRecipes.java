import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.apache.zookeeper.*;
import org.apache.zookeeper.recipes.lock.*;
import org.apache.zookeeper.recipes.queue.DistributedQueue;

/**
 * Programs on the recipes that Apache ZooKeeper ships: ZooKeeperRecipes PROGRAM, at the server ADDRESS.
 * Each client is a session of its own. The last line printed has the turns that the program counted.
 */
class ZooKeeperRecipes {
    static final List<ZooKeeper> clients = new ArrayList<>();
    static final AtomicInteger turns = new AtomicInteger();

    static void open(int number) throws Exception {
        for (int i = 0; i < number; i++) {
            var connected = new CountDownLatch(1);
            clients.add(new ZooKeeper(System.getenv("ADDRESS"), 20000, e -> connected.countDown()));
            connected.await();
        }
        clients.get(0).create("/app", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** Consumers take from one DistributedQueue, which watches the list; each item is offered when all wait. */
    static void queue() throws Exception {
        open(8);
        clients.get(0).create("/app/queue", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        var threads = new ArrayList<Thread>();
        for (var client : clients.subList(1, clients.size())) {
            var t = new Thread(() -> {
                try {
                    var q = new DistributedQueue(client, "/app/queue", ZooDefs.Ids.OPEN_ACL_UNSAFE);
                    while (!new String(q.take()).equals("end")) turns.incrementAndGet();
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            t.start();
            threads.add(t);
        }
        var q = new DistributedQueue(clients.get(0), "/app/queue", ZooDefs.Ids.OPEN_ACL_UNSAFE);
        for (int i = 0; i < 20 + threads.size(); i++) {
            Thread.sleep(200);
            q.offer((i < 20 ? "item " + i : "end").getBytes());
        }
        for (var t : threads) t.join();
    }

    /** Clients lock by WriteLock, which calls a listener when it has the lock. */
    static void lock() throws Exception {
        open(6);
        var pool = Executors.newCachedThreadPool();
        clients.get(0).create("/app/lock", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        var done = new ArrayList<Future<?>>();
        for (var client : clients) {
            done.add(pool.submit(() -> {
                for (int i = 0; i < 4; i++) {
                    var held = new Semaphore(0);
                    var listener = new LockListener() {
                        public void lockAcquired() { held.release(); }
                        public void lockReleased() { }
                    };
                    var lock = new WriteLock(client, "/app/lock", ZooDefs.Ids.OPEN_ACL_UNSAFE, listener);
                    lock.lock();
                    held.acquire();
                    turns.incrementAndGet();
                    Thread.sleep(20);
                    lock.unlock();
                }
                return null;
            }));
        }
        for (var d : done) d.get();
    }

    public static void main(String[] args) throws Exception {
        ZooKeeperRecipes.class.getDeclaredMethod(args[0]).invoke(null);
        for (var c : clients) c.close();
        System.out.println("{\"program_turns\": " + turns + "}");
        System.exit(0);
    }
}
