package resulttest

import (
	"github.com/stampede-bench/stampede/results"
)

// CountRow returns a row whose counts match the model.
func CountRow(form string, clients int, notifications, reads, writes, failed, largest int64) results.Settled {
	exact := func(n int64, formula string) results.Exact {
		return results.Exact{Counted: n, Expected: &n, Formula: formula, Server: &n}
	}
	s := results.Settled{
		Recipe: "lock", Form: form, Clients: clients, Rounds: int64(clients), Backend: results.Backend{Name: "native", URL: "native:", Server: "ZooKeeper 3.8.0"},
		Notifications: exact(notifications, "n"), Reads: exact(reads, "r"), Writes: exact(writes, "w"),
		FailedWrites: exact(failed, "f"), LargestFanout: exact(largest, "p"),
		Safety: results.Safety{Checked: int64(clients)},
	}
	s.FailedWrites.Server = nil
	return s
}

func OneNodeCount(n int64) results.Settled {
	return CountRow("one-node", int(n), n*(n-1)/2, n*(n-1)/2, n*(n+3)/2, n*(n-1)/2, n-1)
}

func PredecessorCount(n int64) results.Settled {
	return CountRow("predecessor", int(n), n-1, 3*n-2, 2*n, 0, 1)
}

func CountOf(rows ...results.Settled) results.CountReport {
	return results.CountReport{Head: results.NewHead(results.KindCount, results.Tool{}, nil, nil, 0), Settled: rows}
}
