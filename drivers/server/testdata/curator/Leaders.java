import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** Elections: who leads, until it resigns, then who came next. */
class Leaders {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        latches(List.of(one, two, one), root + "/latch");
        selectors(List.of(one, two), root + "/selector");
    }

    static void latches(List<CuratorFramework> clients, String path) throws Exception {
        var latches = new ArrayList<LeaderLatch>();
        for (var client : clients) {
            var latch = new LeaderLatch(client, path, "latch " + latches.size());
            latch.start();
            client.createContainers(path);
            Programs.crowd(client, path, latches.size() + 1);
            latches.add(latch);
        }
        for (var latch : latches) {
            latch.await();
            Programs.say(latch.getId(), latch.getLeader().getId(), latch.getParticipants().stream()
                .map(p -> p.getId() + (p.isLeader() ? " leads" : "")).sorted().collect(Collectors.toList()));
            latch.close();
        }
        Programs.say("left", clients.get(0).getChildren().forPath(path));
    }

    static void selectors(List<CuratorFramework> clients, String path) throws Exception {
        var led = new LinkedBlockingQueue<String>();
        var done = new CountDownLatch(1);
        var selectors = new ArrayList<LeaderSelector>();
        for (var client : clients) {
            var id = "selector " + selectors.size();
            var selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                public void takeLeadership(CuratorFramework client) throws Exception {
                    led.add(id);
                    done.await();
                }
            });
            selector.setId(id);
            selector.start();
            client.createContainers(path);
            Programs.crowd(client, path, selectors.size() + 1);
            selectors.add(selector);
        }
        Programs.say(Programs.heard(led, 1), selectors.get(1).getLeader().getId(), selectors.get(1).hasLeadership());
        done.countDown();
        Programs.say(Programs.heard(led, 1));
        for (var selector : selectors) {
            selector.close();
        }
    }
}
