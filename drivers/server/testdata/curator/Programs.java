import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.retry.RetryOneTime;

/** What programs do with Curator, told line by line: java Programs ADDRESS. */
class Programs {
    /** Enough seconds for a machine that is busy with other tests. */
    static final int PATIENCE = 30;

    /** A program has two sessions and the nodes below root. */
    interface Program {
        void run(CuratorFramework one, CuratorFramework two, String root) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        var programs = new LinkedHashMap<String, Program>();
        programs.put("nodes", Nodes::run);
        programs.put("watches", Watches::run);
        programs.put("caches", Caches::run);
        programs.put("locks", Locks::run);
        programs.put("leaders", Leaders::run);
        programs.put("barriers", Barriers::run);
        programs.put("values", Values::run);
        programs.put("sessions", Sessions::run);
        try (var one = connect(args[0]); var two = connect(args[0])) {
            for (var program : programs.entrySet()) {
                say("==", program.getKey());
                program.getValue().run(one, two, "/" + program.getKey());
            }
        }
    }

    static CuratorFramework connect(String address) throws InterruptedException {
        var client = CuratorFrameworkFactory.newClient(address, 10_000, PATIENCE * 1000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected(PATIENCE, TimeUnit.SECONDS);
        return client;
    }

    static void say(Object... words) {
        var line = new ArrayList<String>();
        for (var word : words) {
            line.add(word instanceof byte[] data ? text(data) : String.valueOf(word));
        }
        System.out.println(String.join(" ", line));
    }

    static String text(byte[] data) {
        return data == null ? "null" : "'" + new String(data) + "'";
    }

    /** So many things that were told, in order of their names: some come in any other. */
    static List<String> heard(BlockingQueue<String> told, int count) throws InterruptedException {
        var all = new ArrayList<String>();
        while (all.size() < count) {
            all.add(String.valueOf(told.poll(PATIENCE, TimeUnit.SECONDS)));
        }
        Collections.sort(all);
        return all;
    }

    /** Waits until the node has so many children. */
    static void crowd(CuratorFramework client, String path, int count) throws Exception {
        for (;;) {
            var changed = new CountDownLatch(1);
            var names = client.getChildren().usingWatcher((CuratorWatcher) event -> changed.countDown()).forPath(path);
            if (names.size() >= count) {
                return;
            }
            changed.await(PATIENCE, TimeUnit.SECONDS);
        }
    }

    /** The name of the exception that a call ends with. */
    static String refused(Callable<?> call) {
        try {
            return "done: " + call.call();
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }
}
