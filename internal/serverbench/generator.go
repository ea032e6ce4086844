package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// generator compares the gets per second of stampede run mix with those of a loop that only
// gets, on the same server with the same number of connections and requests in flight. The loop
// uses the lean client, or on etcd etcd's own client.
func generator(ctx context.Context, b *bench) (rows []row, err error) {
	servers, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	for i, s := range servers {
		if err := createNodes(ctx, s.service); err != nil {
			return nil, err
		}
		url := fmt.Sprintf("%s://%s?client=lean", kinds()[i].name, s.addr)
		r, err := b.against(ctx, kinds()[i].name, url, func() ([]float64, error) { return b.rate(ctx, s.service, get) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	r, err := b.againstEtcd(ctx)
	return append(rows, r), err
}

// against compares a mix on a server with a loop, interleaved.
func (b *bench) against(ctx context.Context, server, url string, loop func() ([]float64, error)) (row, error) {
	figures, err := interleave(b.rounds, 2, func(side int) ([]float64, error) {
		if side == 0 {
			return b.mix(ctx, url)
		}
		return loop()
	})
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", server, err)
	}
	return row{"gets of 100 B on " + server, figures[0].against(1), perSecond, ratioAtLeast(0.9), ofGenerator}, nil
}

// mix returns the operations per second of stampede run mix.
func (b *bench) mix(ctx context.Context, url string) ([]float64, error) {
	c := exec.CommandContext(ctx, b.stampede, "run", "mix", "--backend", url, "--reads", "1", "--size", "100",
		"--clients", strconv.Itoa(b.connections), "--in-flight", strconv.Itoa(b.outstanding),
		"--warmup", "0s", "--duration", b.window.String(), "--quiet", "--no-save", "--output", "json")
	c.Dir = b.dir
	var output bytes.Buffer
	c.Stderr = &output
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(output.Bytes()))
	}
	var file struct {
		Runs []struct {
			Throughput float64 `json:"throughput_per_s"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return nil, fmt.Errorf("stampede run mix: %w", err)
	}
	return []float64{file.Runs[0].Throughput}, nil
}

// againstEtcd compares a mix with a loop on an etcd server started for this purpose.
func (b *bench) againstEtcd(ctx context.Context) (row, error) {
	target, err := backends.Parse("etcd:")
	if err != nil {
		return row{}, err
	}
	s, err := target.Open(ctx)
	if err != nil {
		return row{}, err
	}
	defer s.Close()
	addr := s.(drivers.Ensemble).Members()[0].Address()
	conns, err := dialEtcd(addr, b.connections)
	defer closeAll(conns)
	if err != nil {
		return row{}, err
	}
	if _, err := conns[0].(bareEtcd).client.Put(ctx, small, string(hundredBytes)); err != nil {
		return row{}, err
	}
	return b.against(ctx, "etcd", "etcd://"+addr, func() ([]float64, error) {
		calls, took, err := repeat(ctx, conns, b.outstanding, b.window, get)
		return []float64{float64(calls) / took.Seconds()}, err
	})
}

// A bareEtcd is etcd's own client without stampede's code, as far as get needs one.
type bareEtcd struct {
	drivers.Conn
	client *clientv3.Client
}

func (e bareEtcd) Get(ctx context.Context, path string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	r, err := e.client.Get(ctx, path)
	if err != nil {
		return nil, drivers.Stat{}, err
	}
	return r.Kvs[0].Value, drivers.Stat{}, nil
}

func (e bareEtcd) Close() error { return e.client.Close() }

func dialEtcd(addr string, n int) (conns []drivers.Conn, err error) {
	for range n {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 10 * time.Second})
		if err != nil {
			return conns, err
		}
		conns = append(conns, bareEtcd{client: c})
	}
	return conns, nil
}
