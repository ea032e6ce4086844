package ensemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

var _ drivers.ServerStats = (*Ensemble)(nil)

// versionTime bounds the requests for a server's version.
const versionTime = 2 * time.Second

// Reset resets the counters of every server.
func (e *Ensemble) Reset(ctx context.Context) error {
	for _, a := range e.Servers {
		if _, err := e.Word(ctx, a, "srst"); err != nil {
			return err
		}
	}
	return nil
}

// Counters reads what each server has counted since Reset. A server began when its uptime says: that of Apache
// ZooKeeper begins anew with each election, though its counters go on.
func (e *Ensemble) Counters(ctx context.Context) (all drivers.Reading, err error) {
	for _, a := range e.Servers {
		asked := time.Now()
		text, err := e.Word(ctx, a, "mntr")
		if err != nil {
			return nil, err
		}
		all = append(all, parseCounters(text, asked, time.Now()))
	}
	return all, nil
}

// clockError is how much two clocks may run apart, as a share of the time.
const clockError = 1e-3

// parseCounters parses the answer to mntr: a name, a tab and a number per line.
func parseCounters(text string, asked, answered time.Time) (c drivers.ServerCounters) {
	c.OurTerms = true
	var fsyncs drivers.Fsyncs
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // not a number
		}
		n := int64(v)
		switch name {
		case "zk_uptime":
			up := time.Duration(v * float64(time.Millisecond))
			c.Began = answered.Add(-up)
			c.Within = answered.Sub(asked) + time.Millisecond + time.Duration(clockError*float64(up))
		case "zk_cnt_readlatency":
			c.Reads = n
		case "zk_cnt_updatelatency":
			c.Writes = n
		case "zk_cnt_fsynctime":
			fsyncs.Count, c.Fsyncs = n, &fsyncs
		case "zk_sum_fsynctime":
			// Apache ZooKeeper adds up whole milliseconds: most fsyncs count as nothing.
			if strings.Contains(value, ".") {
				fsyncs.Took = time.Duration(v * float64(time.Millisecond))
			}
		case "zk_sum_node_created_watch_count", "zk_sum_node_deleted_watch_count",
			"zk_sum_node_changed_watch_count", "zk_sum_node_children_watch_count":
			c.Notifications += n
		case "zk_max_node_created_watch_count", "zk_max_node_deleted_watch_count",
			"zk_max_node_changed_watch_count", "zk_max_node_children_watch_count":
			c.LargestFanout = max(c.LargestFanout, n)
		}
	}
	return c
}

// askVersion asks the servers in turn until one answers.
func (e *Ensemble) askVersion() (string, error) {
	var errs []error
	for _, a := range e.Servers {
		ctx, cancel := context.WithTimeout(context.Background(), versionTime/time.Duration(len(e.Servers)))
		text, err := e.Word(ctx, a, "srvr")
		cancel()
		if err == nil {
			if version := parseVersion(text); version != "" {
				return "ZooKeeper " + version, nil
			}
			err = fmt.Errorf("%s: srvr: no version in the answer", a)
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// parseVersion parses "Zookeeper version: 3.8.0-5a02a05..., built on ...", where the text
// after the hyphen identifies the build.
func parseVersion(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "Zookeeper version: "); ok {
			v, _, _ = strings.Cut(v, ",")
			v, _, _ = strings.Cut(strings.TrimSpace(v), "-")
			return v
		}
	}
	return ""
}

// Word sends a four-letter word and returns the answer.
func (e *Ensemble) Word(ctx context.Context, address, word string) (string, error) {
	conn, err := e.secured(ctx, address)
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", address, word, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("%s: %s: %w", address, word, err)
	}
	answer, err := io.ReadAll(conn)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", address, word, err)
	}
	text := string(answer)
	if strings.Contains(text, "not in the whitelist") {
		return "", fmt.Errorf("%s: %s: %w: allow it in the server's 4lw.commands.whitelist, or with --words of stampede serve", address, word, drivers.ErrUnsupported)
	}
	return text, nil
}
