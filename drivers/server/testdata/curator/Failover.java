import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

/**
 * Locks while leaders are killed: java Failover ADDRESS,ADDRESS,ADDRESS LOCK LOCK, with the contended
 * lock of each client, which is the same. The caller kills a leader, writes the line "killed", and
 * waits for the answer: the clients that have ever lost their connection, and how often the contended
 * lock had several holders. After the line "end" the program checks the locks and ends.
 */
class Failover {
    static final int CLIENTS = 2;
    static final int PATIENCE = 60; // seconds

    /** The holders of the contended lock, how often it was held, and how often by several at a time. */
    static final AtomicInteger holders = new AtomicInteger();
    static final AtomicInteger acquired = new AtomicInteger();
    static final AtomicInteger overlaps = new AtomicInteger();
    static final AtomicBoolean ends = new AtomicBoolean();

    final CuratorFramework client;
    final String contended;
    final AtomicBoolean suspended = new AtomicBoolean();
    final AtomicBoolean lost = new AtomicBoolean();
    final long session;
    final Thread contender = new Thread(this::contend);

    public static void main(String[] args) throws Exception {
        var all = new Failover[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            all[i] = new Failover(args[0], args[i + 1]);
        }
        var held = new InterProcessMutex(all[0].client, "/held");
        held.acquire();
        var second = new AtomicBoolean();
        var waits = waiter(all[1].client, second);
        for (var one : all) {
            one.contender.start();
        }
        Programs.say("ready");
        for (var lines = new Scanner(System.in); lines.nextLine().equals("killed");) {
            // Each client's requests are answered, so it is connected.
            for (var one : all) {
                one.client.sync().forPath("/");
                one.client.checkExists().forPath("/");
            }
            progress();
            Programs.say("suspended", all[0].suspended, all[1].suspended, "overlaps", overlaps);
        }
        Programs.say("held", held.isAcquiredInThisProcess(), all[1].client.getChildren().forPath("/held").size(), "by another", second);
        held.release();
        waits.join(TimeUnit.SECONDS.toMillis(PATIENCE));
        Programs.say("then by another", second);
        end(all);
    }

    Failover(String addresses, String contended) throws Exception {
        this.contended = contended;
        client = CuratorFrameworkFactory.newClient(addresses, 20_000, PATIENCE * 1000, new RetryForever(50));
        client.getConnectionStateListenable().addListener((same, state) -> {
            suspended.compareAndSet(false, state == ConnectionState.SUSPENDED);
            lost.compareAndSet(false, state == ConnectionState.LOST);
        });
        client.start();
        client.blockUntilConnected(PATIENCE, TimeUnit.SECONDS);
        session = client.getZookeeperClient().getZooKeeper().getSessionId();
    }

    /** Starts a thread that waits for the lock that another client holds, and has a node in its queue. */
    static Thread waiter(CuratorFramework client, AtomicBoolean has) throws Exception {
        var thread = new Thread(() -> {
            try {
                var lock = new InterProcessMutex(client, "/held");
                lock.acquire();
                has.set(true);
                lock.release();
            } catch (Exception e) {
                Programs.say(e);
            }
        });
        thread.start();
        Programs.crowd(client, "/held", 2);
        return thread;
    }

    void contend() {
        try {
            var lock = new InterProcessMutex(client, contended);
            while (!ends.get()) {
                lock.acquire();
                if (holders.incrementAndGet() != 1) {
                    overlaps.incrementAndGet();
                }
                client.checkExists().forPath(contended);
                acquired.incrementAndGet();
                holders.decrementAndGet();
                lock.release();
            }
        } catch (Exception e) {
            Programs.say(e);
        }
    }

    /** Waits until the contended lock was acquired again. */
    static void progress() throws InterruptedException {
        int before = acquired.get();
        for (int i = 0; acquired.get() == before && i < PATIENCE * 100; i++) {
            new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
        }
        if (acquired.get() == before) {
            Programs.say("the contended lock is not acquired any more");
        }
    }

    static void end(Failover[] all) throws Exception {
        ends.set(true);
        for (var one : all) {
            one.contender.join(TimeUnit.SECONDS.toMillis(PATIENCE));
            Programs.say("lost", one.lost, "same session", one.client.getZookeeperClient().getZooKeeper().getSessionId() == one.session);
        }
        Programs.say("overlaps", overlaps, "left", all[0].client.getChildren().forPath(all[0].contended), all[0].client.getChildren().forPath("/held"));
        for (var one : all) {
            one.client.close();
        }
    }
}
