import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;

/**
 * Registers a member and follows a configuration with Curator's recipes, which keep both up by themselves.
 *
 *   stampede observe --env ZK_CONNECT={address} -- java CuratorMember.java 15    # seconds
 */
class CuratorMember {
    public static void main(String[] args) throws Exception {
        var retry = new ExponentialBackoffRetry(100, 29);
        try (CuratorFramework client = CuratorFrameworkFactory.newClient(System.getenv("ZK_CONNECT"), 4000, 4000, retry)) {
            client.start();
            client.createContainers("/app/config");
            try (var node = new PersistentNode(client, CreateMode.EPHEMERAL, false, "/app/members/curator", new byte[0]);
                    var config = CuratorCache.build(client, "/app/config", CuratorCache.Options.SINGLE_NODE_CACHE)) {
                node.start();
                config.listenable().addListener(CuratorCacheListener.builder()
                        .forNodeCache(() -> { }) // the program would use the data here
                        .build());
                config.start();
                Thread.sleep(1000 * Long.parseLong(args[0]));
            }
        }
    }
}
