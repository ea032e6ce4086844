// Package roles has the roles in which a run starts its own binary again: a server of each kind, etcd's among them,
// and what they need beside them. Programs import it, and no other package: the servers are large.
package roles

import (
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/etcd/member"
	"github.com/stampede-bench/stampede/drivers/server/canned"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// All returns all roles, for reexec.Dispatch.
func All() map[string]reexec.Role {
	return map[string]reexec.Role{
		"native":           cluster.InPlace(backends.RunNative),
		"zookeeper":        cluster.InPlace(zookeeper.RunMember),
		"etcd":             cluster.InPlace(member.Run),
		etcd.ControlRole:   cluster.InPlace(member.RunUncompacted),
		cluster.KeeperRole: cluster.Keep,
		disk.Role:          disk.Freeze,
		canned.Role:        canned.Run,
	}
}
