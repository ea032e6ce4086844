package capture

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestSameTrafficOfTheGateway is TestSameTraffic with clients of etcd's JSON gateway.
func TestSameTrafficOfTheGateway(t *testing.T) {
	testenv.SkipIfShort(t)
	wantSameTraffic(t, backendtest.SharedEtcd(t), etcd.Protocol(), useGateway)
}

// useGateway lets one client change what another one watches.
func useGateway(t *testing.T, address string) {
	t.Helper()
	prefix := fmt.Sprint("/capture-", time.Now().UnixNano(), "/")
	post := func(c *http.Client, path, body string, values ...any) io.ReadCloser {
		t.Helper()
		r, err := c.Post("http://"+address+"/v3/"+path, "", strings.NewReader(fmt.Sprintf(body, values...)))
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, r, err)
		}
		return r.Body
	}
	base64 := base64.StdEncoding.EncodeToString
	watcher := &http.Client{Transport: new(http.Transport)}
	writer := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer writer.CloseIdleConnections()
	events := post(watcher, "watch", `{"create_request":{"key":%q,"range_end":%q}}`, base64([]byte(prefix)),
		base64([]byte(prefix+"\xff")))
	defer events.Close()
	lines := bufio.NewReader(events)
	next := func() {
		t.Helper()
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	next() // confirmed
	for n := range 20 {
		done := post(writer, "kv/put", `{"key":%q,"value":%q}`, base64([]byte(prefix+strconv.Itoa(n))),
			base64(make([]byte, 500*n)))
		if _, err := io.Copy(io.Discard, done); err != nil {
			t.Fatal(err)
		}
		done.Close()
		next()
	}
}

// TestJoinedGateway begins a capture at each packet of a connection of HTTP/1.1: decoding begins with the
// next request.
func TestJoinedGateway(t *testing.T) {
	const calls = 5
	request := "POST /v3/kv/range HTTP/1.1\r\nContent-Length: 14\r\n\r\n{\"key\":\"L2E=\"}"
	reply := "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{\"header\":{\"revision\":7}}"
	c := &conversation{tb: t, client: 40000, next: map[bool]uint32{true: 1 << 31, false: 1<<32 - 50}}
	for range calls {
		c.segment(true, layers.TCP{ACK: true}, []byte(request[:60]))
		c.segment(true, layers.TCP{ACK: true}, []byte(request[60:]))
		c.segment(false, layers.TCP{ACK: true}, []byte(reply[:30]))
		c.segment(false, layers.TCP{ACK: true}, []byte(reply[30:]))
	}
	c.end()
	for from := range 4 * calls {
		r := new(record)
		o := Options{Ports: []uint16{port}, Protocol: etcd.Protocol(), Observer: r}
		s, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, c.packets[from:])}, o)
		if err != nil || len(r.connections) != 1 {
			t.Fatalf("from packet %d: %d connections, %v", from, len(r.connections), err)
		}
		var all int64 // bytes of the packets
		for i := from; i < 4*calls; i++ {
			all += int64(len([]string{request[:60], request[60:], reply[:30], reply[30:]}[i%4]))
		}
		whole := calls - (from+3)/4
		got, gap := r.connections[0], all-int64(whole*(len(request)+len(reply)))
		if !got.Joined || !got.closed || len(got.messages) != 2*whole || got.gap != gap || s.Lost > gap {
			t.Errorf("from packet %d: %d messages and a gap of %d bytes, %d of them lost; want %d and %d",
				from, len(got.messages), got.gap, s.Lost, 2*whole, gap)
		}
	}
}
