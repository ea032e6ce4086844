package etcd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// tellLimit is how long an endpoint may take to tell of which cluster it is. One that tells nothing may be down.
const tellLimit = 2 * time.Second

// together returns an error if two endpoints are of different clusters, which would tell of each other's nodes that they
// do not exist. It asks once, when the first session is open.
func (s *Service) together(ctx context.Context, c *Conn) error {
	if len(s.config.Endpoints) < 2 || !s.asked.CompareAndSwap(false, true) {
		return nil
	}
	known := clientv3.LeaseID(c.lease.id)
	if !c.leased() { // a full store grants none: then only the names of the clusters tell
		if granted, err := c.library.Grant(ctx, int64(tellLimit.Seconds())*leaseTries); err == nil {
			known = granted.ID
			defer c.library.Revoke(context.WithoutCancel(ctx), known) // it ends soon in any case
		}
	}
	told := make([]string, len(s.config.Endpoints)) // the cluster, "" if it is not known
	keeps := make([]leaseState, len(s.config.Endpoints))
	var all sync.WaitGroup
	for i, address := range s.config.Endpoints {
		all.Go(func() { told[i], keeps[i] = s.clusterOf(ctx, address, known) })
	}
	all.Wait()
	return apart(s.config.Endpoints, told, keeps)
}

// A leaseState says whether an endpoint knows a lease.
type leaseState int

const (
	untold leaseState = iota
	kept
	notKept
)

// clusterOf returns the id of the endpoint's cluster, and whether that keeps the lease: clusters of one member with default
// settings all have the same id.
func (s *Service) clusterOf(ctx context.Context, address string, lease clientv3.LeaseID) (cluster string, state leaseState) {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	c, err := s.direct(ctx, address)
	if err != nil {
		return "", untold
	}
	defer c.Close()
	status, err := c.Status(ctx, address)
	if err != nil {
		return "", untold
	}
	cluster = fmt.Sprintf("%x", status.Header.ClusterId)
	for range leaseTries {
		found, err := c.TimeToLive(ctx, lease)
		switch {
		case err != nil: // to see what it has may not be allowed
			return cluster, untold
		case found.TTL > 0:
			return cluster, kept
		case drivers.Pause(ctx, firstPause) != nil:
			return cluster, untold
		}
	}
	return cluster, notKept
}

// leaseTries is how often an endpoint is asked for a lease: its leader may apply it later than the member that has granted it.
const leaseTries = 50

// apart returns an error if endpoints have told that they are of different clusters, or one that another does not know a
// lease which the first of them keeps.
func apart(endpoints, clusters []string, leases []leaseState) error {
	first, keeper := -1, -1
	for i, cluster := range clusters {
		switch {
		case cluster == "":
		case first < 0:
			first = i
		case cluster != clusters[first]:
			return fmt.Errorf("etcd %s: %w: %s is of cluster %s, and %s of cluster %s: give the members of one cluster",
				strings.Join(endpoints, ","), drivers.ErrNotOneService, endpoints[first], clusters[first], endpoints[i], cluster)
		}
		if leases[i] == kept && keeper < 0 {
			keeper = i
		}
	}
	for i, state := range leases {
		if keeper >= 0 && state == notKept {
			return fmt.Errorf("etcd %s: %w: %s does not know a lease that %s has granted: give the members of one cluster",
				strings.Join(endpoints, ","), drivers.ErrNotOneService, endpoints[i], endpoints[keeper])
		}
	}
	return nil
}
