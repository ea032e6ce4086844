package proxy

import (
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// certified returns the two ends of TLS with certificates made for the test.
func certified(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	client, err := backendtest.Authority(t, dir).TLSConfig()
	must(t, err)
	client.ServerName = "127.0.0.1"
	both := filepath.Join(dir, "server.pem")
	pair, err := tls.LoadX509KeyPair(both, both)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}, client
}

// TestAPeerThatNeverShakesHands connects a client, or has a server, that is silent where the proxy waits for its
// TLS handshake. The proxy closes both connections.
func TestAPeerThatNeverShakesHands(t *testing.T) {
	before, behind := certified(t)
	for name, c := range map[string]struct{ before, behind *tls.Config }{"client": {before: before}, "server": {behind: behind}} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			server := serving(t, func(c *net.TCPConn) {
				_, err := io.Copy(io.Discard, c) // it answers nothing
				ended <- err
			})
			p, err := listen([]string{"127.0.0.1:0"}, []Server{{Address: server, TLS: c.behind}},
				Options{TLS: c.before, Protocol: traffic.ZooKeeper(), Observer: quiet{}}, 50*time.Millisecond)
			must(t, err)
			t.Cleanup(func() { p.Close() })
			client, err := net.Dial("tcp", p.Addresses()[0])
			must(t, err)
			defer client.Close()
			if n, err := client.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("the client got %d bytes, %v, want the end of its connection", n, err)
			}
			<-ended
		})
	}
}
