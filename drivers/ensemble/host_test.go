package ensemble

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"testing"
)

// TestACertificateIsCheckedByTheServersName connects to an address that stands for a name. The certificate has the name.
func TestACertificateIsCheckedByTheServersName(t *testing.T) {
	s := httptest.NewTLSServer(nil) // its certificate is for example.com and 127.0.0.1
	defer s.Close()
	trusted := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	trusted.RootCAs.AddCert(s.Certificate())
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
	}
	const address = "10.0.0.1:2181"
	for host, valid := range map[string]bool{"example.com:2181": true, "zks:2181": false, address: false} {
		c, err := secured(dial, trusted, func(a string) string {
			if a != address {
				t.Errorf("asked for the name of %s", a)
			}
			return host
		})(t.Context(), address)
		if (err == nil) != valid {
			t.Errorf("%s: %v; want that the certificate is valid: %v", host, err, valid)
		}
		if err == nil {
			c.Close()
		}
	}
}
