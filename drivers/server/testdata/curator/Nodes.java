import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;

/** Nodes: made, read, written, protected, changed together. */
class Nodes {
    static void run(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        making(one, two, root);
        writing(one, two, root);
        together(one, two, root);
        protection(one, two, root);
    }

    static void making(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        Programs.say("created", one.create().creatingParentsIfNeeded().forPath(root + "/a/b", "data".getBytes()));
        for (var mode : CreateMode.values()) {
            if (mode.isTTL()) {
                Programs.say(mode, one.create().withTtl(3_600_000).withMode(mode).forPath(root + "/" + mode + "-"));
            } else {
                Programs.say(mode, one.create().withMode(mode).forPath(root + "/" + mode + "-"));
            }
        }
        var safe = one.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(root + "/safe-");
        Programs.say("protected", safe.replaceAll("_c_[0-9a-f-]*-safe", "GUID-safe"));
        Programs.say("owned", two.checkExists().forPath(safe).getEphemeralOwner()
            == one.getZookeeperClient().getZooKeeper().getSessionId());
        var stat = new Stat();
        one.create().storingStatIn(stat).forPath(root + "/told", "four".getBytes());
        Programs.say("told", stat.getDataLength(), stat.getVersion(), stat.getCzxid() == stat.getPzxid());
        Programs.say("again", Programs.refused(() -> one.create().forPath(root + "/told")));
        Programs.say("or set", one.create().orSetData().forPath(root + "/told", "x".getBytes()));
    }

    static void writing(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        var stat = one.setData().forPath(root, "more".getBytes());
        Programs.say("set", stat.getVersion(), stat.getDataLength(), stat.getNumChildren());
        Programs.say("set", Programs.refused(() -> one.setData().withVersion(9).forPath(root)));
        two.sync().forPath(root);
        Programs.say("read", two.getData().forPath(root), two.getData().storingStatIn(stat).forPath(root + "/a/b"),
            stat.getVersion(), two.checkExists().forPath("/none"));
        Programs.say("delete", Programs.refused(() -> one.delete().forPath(root + "/a")));
        one.delete().guaranteed().deletingChildrenIfNeeded().forPath(root + "/a");
        Programs.say("children", two.getChildren().forPath(root).stream().filter(name -> !name.startsWith("_c_"))
            .sorted().collect(Collectors.toList()));
        var reads = two.getZookeeperClient().getZooKeeper().multi(
            List.of(Op.getData(root), Op.getData("/none"), Op.getChildren(root + "/told")));
        Programs.say("read", ((OpResult.GetDataResult) reads.get(0)).getData(), ((OpResult.ErrorResult) reads.get(1)).getErr(),
            ((OpResult.GetChildrenResult) reads.get(2)).getChildren());
        var told = new LinkedBlockingQueue<String>();
        two.getData().inBackground((client, event) -> told.add(
            event.getType() + " " + event.getResultCode() + " " + Programs.text(event.getData()))).forPath(root);
        two.getData().inBackground((client, event) -> told.add(
            event.getType() + " " + event.getResultCode())).forPath("/none");
        Programs.say("background", Programs.heard(told, 2));
    }

    static void together(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        var results = one.transaction().forOperations(
            one.transactionOp().check().withVersion(1).forPath(root),
            one.transactionOp().create().withMode(CreateMode.PERSISTENT_SEQUENTIAL).forPath(root + "/t", "t".getBytes()),
            one.transactionOp().setData().forPath(root + "/told", "u".getBytes()),
            one.transactionOp().delete().forPath(root + "/told"));
        for (CuratorTransactionResult r : results) {
            Programs.say("transaction", r.getType(), r.getForPath(), r.getResultPath(), r.getError());
        }
        try {
            one.transaction().forOperations(
                one.transactionOp().create().forPath(root + "/never"),
                one.transactionOp().check().withVersion(7).forPath(root),
                one.transactionOp().create().forPath(root + "/nor this"));
        } catch (KeeperException e) {
            for (var r : e.getResults()) {
                Programs.say("transaction", e.code(), ((OpResult.ErrorResult) r).getErr());
            }
        }
        Programs.say("undone", two.checkExists().forPath(root + "/never"));
    }

    static void protection(CuratorFramework one, CuratorFramework two, String root) throws Exception {
        one.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "user:password".getBytes());
        one.create().withACL(ZooDefs.Ids.CREATOR_ALL_ACL).forPath(root + "/secret");
        Programs.say("acl", one.getACL().forPath(root + "/secret"));
        Programs.say("read", Programs.refused(() -> two.getData().forPath(root + "/secret")));
        one.setACL().withACL(List.of(new ACL(ZooDefs.Perms.READ, new Id("world", "anyone")))).forPath(root + "/secret");
        Programs.say("read", two.getData().forPath(root + "/secret").length > 0,
            Programs.refused(() -> one.setData().forPath(root + "/secret")));
        Programs.say("acl", Programs.refused(() -> one.create().withACL(List.of()).forPath(root + "/open")));
        Programs.say("who", one.getZookeeperClient().getZooKeeper().whoAmI().stream()
            .map(who -> who.getAuthScheme() + ":" + who.getUser()).sorted().collect(Collectors.toList()));
    }
}
