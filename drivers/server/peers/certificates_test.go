package peers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// An authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{certificate: &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour)}}
	signed := a.sign(t, a.certificate)
	a.key = signed.PrivateKey.(*ecdsa.PrivateKey)
	a.certificate = signed.Leaf
	return a
}

func (a *authority) sign(t *testing.T, c *x509.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := a.key
	if signer == nil { // itself
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// use lets a member use a certificate for both directions.
func (a *authority) use(own tls.Certificate, c *Config) {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	c.Server = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	c.Client = func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: pool} }
}

// TestCertificates lets a member call another without a certificate, with those that the same authority has signed
// for a client and for another host, and with its own.
func TestCertificates(t *testing.T) {
	ca := newAuthority(t)
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	own := &x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: both,
		NotAfter: time.Now().Add(time.Hour)}
	client := &x509.Certificate{SerialNumber: big.NewInt(3), DNSNames: []string{"alice"}, ExtKeyUsage: both[1:], NotAfter: own.NotAfter}
	other := &x509.Certificate{SerialNumber: big.NewInt(4), IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1)}, ExtKeyUsage: both, NotAfter: own.NotAfter}
	for name, c := range map[string]struct {
		certificate *x509.Certificate
		want        string
	}{
		"none":         {nil, "certificate"},
		"a client's":   {client, "the certificate is not member 1's"},
		"another host": {other, "the certificate is not member 1's"},
		"its own":      {own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, func(i int, cfg *Config) {
				ca.use(ca.sign(t, own), cfg)
				if i == 0 {
					of := tls.Certificate{}
					if c.certificate != nil {
						of = ca.sign(t, c.certificate)
					}
					accepts := cfg.Server // the other member calls, too
					ca.use(of, cfg)
					cfg.Server = accepts
				}
			})
			if c.want == "" {
				p.heartbeat(t)
				return
			}
			p.refuses(t, c.want, 1)
		})
	}
}
