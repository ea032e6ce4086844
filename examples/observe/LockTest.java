import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;

/**
 * Workers of a Java program take a lock in turn. The program succeeds with either lock; under
 * stampede observe, with a threshold, it fails with the lock on one node:
 *
 * <pre>stampede observe --env ZK_CONNECT={address} --threshold 'fanout.max <= 2' -- java examples/observe/LockTest.java</pre>
 *
 * With LOCK=predecessor the workers use Curator's InterProcessMutex, and it passes. CLASSPATH has
 * the jars of Curator and ZooKeeper.
 */
class LockTest {
    static final int WORKERS = 8;
    static final int TURNS = 3;

    interface Lock {
        void acquire() throws Exception;

        void release() throws Exception;
    }

    /** Is held by the session that has created the node. All others watch the node, and race to create it when it is gone. */
    record OneNodeLock(CuratorFramework client, String path) implements Lock {
        public void acquire() throws Exception {
            while (true) {
                try {
                    client.create().withMode(CreateMode.EPHEMERAL).forPath(path);
                    return;
                } catch (KeeperException.NodeExistsException e) {
                    var gone = new CountDownLatch(1);
                    if (client.checkExists().usingWatcher((Watcher) event -> gone.countDown()).forPath(path) != null) {
                        gone.await();
                    }
                }
            }
        }

        public void release() throws Exception {
            client.delete().forPath(path);
        }
    }

    record PredecessorLock(InterProcessMutex mutex) implements Lock {
        public void acquire() throws Exception {
            mutex.acquire();
        }

        public void release() throws Exception {
            mutex.release();
        }
    }

    static final AtomicInteger holders = new AtomicInteger();

    static Void work() {
        try (var client = CuratorFrameworkFactory.newClient(System.getenv("ZK_CONNECT"), new RetryOneTime(100))) {
            client.start();
            Lock lock = "predecessor".equals(System.getenv("LOCK"))
                ? new PredecessorLock(new InterProcessMutex(client, "/jobs")) : new OneNodeLock(client, "/job");
            for (int i = 0; i < TURNS; i++) {
                lock.acquire();
                if (holders.incrementAndGet() > 1) {
                    throw new IllegalStateException("two workers hold the lock");
                }
                Thread.sleep(20); // the work
                holders.decrementAndGet();
                lock.release();
            }
            return null;
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        var executor = Executors.newFixedThreadPool(WORKERS);
        var all = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < WORKERS; i++) {
            all.add(CompletableFuture.supplyAsync(LockTest::work, executor));
        }
        executor.shutdown();
        for (var worker : all) {
            worker.get();
        }
    }
}
