import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Locks: of one holder, of readers and writers, of so many. */
class Locks {
    static final int SHORT = 10; // milliseconds
    static final int LONG = Programs.PATIENCE * 1000;
    static int count;

    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        contended(one, two, root + "/contended");
        exclusive(new InterProcessMutex(one, root + "/mutex"), new InterProcessMutex(two, root + "/mutex"));
        exclusive(new InterProcessSemaphoreMutex(one, root + "/strict"), new InterProcessSemaphoreMutex(two, root + "/strict"));
        shared(one, two, root + "/rw");
        semaphore(one, two, root + "/semaphore");
    }

    static void contended(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var threads = new Thread[] {incrementer(one, path), incrementer(two, path)};
        for (var thread : threads) {
            thread.start();
        }
        for (var thread : threads) {
            thread.join();
        }
        Programs.say("locked", count, one.getChildren().forPath(path));
    }

    static Thread incrementer(CuratorFramework client, String path) {
        return new Thread(() -> {
            try {
                var lock = new InterProcessMutex(client, path);
                for (int i = 0; i < 20; i++) {
                    lock.acquire();
                    int before = count;
                    count = before + 1;
                    lock.release();
                }
            } catch (Exception e) {
                Programs.say(e);
            }
        });
    }

    static boolean had(InterProcessLock lock, int milliseconds) throws Exception {
        return lock.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }

    static void exclusive(InterProcessLock first, InterProcessLock second) throws Exception {
        Programs.say("first", had(first, LONG), "second", had(second, SHORT));
        first.release();
        Programs.say("second", had(second, LONG), "first", had(first, SHORT));
        second.release();
    }

    static void shared(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var first = new InterProcessReadWriteLock(one, path);
        var second = new InterProcessReadWriteLock(two, path);
        Programs.say("read", had(first.readLock(), LONG), had(second.readLock(), LONG));
        Programs.say("write", had(new InterProcessReadWriteLock(one, path).writeLock(), SHORT));
        first.readLock().release();
        second.readLock().release();
        Programs.say("write", had(first.writeLock(), LONG), "read", had(second.readLock(), SHORT));
        Programs.say("down to read", had(first.readLock(), LONG));
        first.writeLock().release();
        Programs.say("read", had(second.readLock(), LONG), "nodes", one.getChildren().forPath(path).size());
        first.readLock().release();
        second.readLock().release();
    }

    static void semaphore(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var first = new InterProcessSemaphoreV2(one, path, 2);
        var second = new InterProcessSemaphoreV2(two, path, 2);
        var lease = first.acquire(LONG, TimeUnit.MILLISECONDS);
        Programs.say("leases", lease != null, second.acquire(LONG, TimeUnit.MILLISECONDS) != null,
            second.acquire(SHORT, TimeUnit.MILLISECONDS));
        first.returnLease(lease);
        Programs.say("leases", second.acquire(LONG, TimeUnit.MILLISECONDS) != null,
            second.getParticipantNodes().size());
    }
}
