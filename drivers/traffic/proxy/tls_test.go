package proxy

import (
	"crypto/tls"
	"path/filepath"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
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
