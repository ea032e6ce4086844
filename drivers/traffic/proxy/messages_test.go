package proxy

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
)

// A probe writes down what a client's own probe gets.
type probe struct {
	mu       sync.Mutex
	messages []string
}

func (p *probe) Message(m drivers.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Kind != drivers.Cut {
		p.messages = append(p.messages, text(m))
	}
}

// connect opens a session of the lean client; its probe may be nil.
func connect(t testing.TB, address string, p drivers.Probe) drivers.Conn {
	t.Helper()
	service, err := lean.New(lean.Config{Servers: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(t.Context(), drivers.Options{Probe: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestMessagesAreWhatTheClientSees compares what an observer gets of each connection with what the
// client's own probe gets.
func TestMessagesAreWhatTheClientSees(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{
		"native":    func(t testing.TB) string { return backendtest.Native(t, server.Options{}) },
		"zookeeper": backendtest.SharedZooKeeper,
	} {
		t.Run(name, func(t *testing.T) {
			r := new(record)
			p := in(t, address(t), Options{Observer: r})
			probes := []*probe{new(probe), new(probe)}
			writer, watcher := connect(t, p.Addresses()[0], probes[0]), connect(t, p.Addresses()[0], probes[1])
			exchange(t, writer, watcher)
			writer.Close()
			watcher.Close()
			p.Close()
			for i, want := range probes {
				got := slices.DeleteFunc(slices.Clone(r.all[i].messages), ping)
				if i == 0 && r.all[0].session.Timeout <= 0 {
					t.Errorf("session %+v, want one with a timeout", r.all[0].session)
				}
				if diff := difference(got, slices.DeleteFunc(want.messages, ping)); diff != "" {
					t.Errorf("connection %d: %s", i+1, diff)
				}
			}
		})
	}
}

func ping(line string) bool { return strings.Contains(line, " ping ") }

// difference compares two lists of messages. Their order may differ where a request and a
// notification cross each other.
func difference(got, want []string) string {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if len(got) != len(want) {
		return "got\n" + strings.Join(got, "\n") + "\nwant\n" + strings.Join(want, "\n")
	}
	for i := range got {
		if got[i] != want[i] {
			return "got " + got[i] + ", want " + want[i]
		}
	}
	return ""
}

// exchange makes calls of every kind that two sessions can make, with a notification.
func exchange(t *testing.T, writer, watcher drivers.Conn) {
	t.Helper()
	ctx := t.Context()
	made, err := writer.Create(ctx, "/proxied-", []byte(secret), drivers.Sequential)
	must(t, err)
	node := "/" + made.Name
	var changed drivers.Wait
	_, _, err = watcher.Get(ctx, node, changed.Fire)
	must(t, err)
	_, err = writer.Set(ctx, node, bytes.Repeat([]byte(secret), 1000), drivers.AnyVersion)
	must(t, err)
	_, err = changed.Await(ctx)
	must(t, err)
	var listed drivers.Wait
	_, err = watcher.Children(ctx, node, listed.Fire)
	must(t, err)
	_, err = writer.Create(ctx, node+"/child", nil, drivers.Ephemeral)
	must(t, err)
	_, err = listed.Await(ctx)
	must(t, err)
	must(t, writer.Delete(ctx, node+"/child", drivers.AnyVersion))
	must(t, writer.Delete(ctx, node, drivers.AnyVersion))
	if err := writer.Delete(ctx, node, drivers.AnyVersion); err == nil {
		t.Error("a node was deleted twice")
	}
	must(t, watcher.Sync(ctx, "/"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secret stands for node data, which must not reach an observer.
const secret = "planted-secret"

// TestSecretsStayBehind searches everything that an observer got for node data.
func TestSecretsStayBehind(t *testing.T) {
	r := new(record)
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: r})
	writer, watcher := connect(t, p.Addresses()[0], nil), connect(t, p.Addresses()[0], nil)
	exchange(t, writer, watcher)
	writer.Close()
	watcher.Close()
	p.Close()
	for _, c := range r.all {
		if all := strings.Join(c.messages, "\n"); strings.Contains(all, secret) {
			t.Errorf("an observer got node data:\n%s", all)
		}
		if len(c.messages) < 5 {
			t.Errorf("an observer got only %v: the search found nothing in nothing", c.messages)
		}
	}
}
