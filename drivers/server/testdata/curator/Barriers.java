import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/** Barriers: one that somebody lifts, and one that all enter and leave together. */
class Barriers {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        single(one, two, root + "/single");
        twice(one, two, root + "/double");
    }

    static void single(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var barrier = new DistributedBarrier(one, path);
        var other = new DistributedBarrier(two, path);
        Programs.say("none", other.waitOnBarrier(Programs.PATIENCE, TimeUnit.SECONDS));
        barrier.setBarrier();
        Programs.say("down", other.waitOnBarrier(10, TimeUnit.MILLISECONDS));
        var passed = new LinkedBlockingQueue<String>();
        inBackground(() -> passed.add("passed " + other.waitOnBarrier(Programs.PATIENCE, TimeUnit.SECONDS)));
        barrier.removeBarrier();
        Programs.say("lifted", Programs.heard(passed, 1));
    }

    static void twice(CuratorFramework one, CuratorFramework two, String path) throws Exception {
        var first = new DistributedDoubleBarrier(one, path, 2);
        var second = new DistributedDoubleBarrier(two, path, 2);
        var passed = new LinkedBlockingQueue<String>();
        inBackground(() -> {
            passed.add("entered " + first.enter(Programs.PATIENCE, TimeUnit.SECONDS));
            passed.add("left " + first.leave(Programs.PATIENCE, TimeUnit.SECONDS));
        });
        Programs.say("entered", second.enter(Programs.PATIENCE, TimeUnit.SECONDS), Programs.heard(passed, 1));
        Programs.say("left", second.leave(Programs.PATIENCE, TimeUnit.SECONDS), Programs.heard(passed, 1));
        Programs.say("nodes", one.getChildren().forPath(path));
    }

    interface Deed {
        void run() throws Exception;
    }

    static void inBackground(Deed deed) {
        new Thread(() -> {
            try {
                deed.run();
            } catch (Exception e) {
                Programs.say(e);
            }
        }).start();
    }
}
