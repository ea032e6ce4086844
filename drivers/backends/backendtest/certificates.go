package backendtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// Authority makes a certificate authority in dir (ca.pem), a server's
// certificate for 127.0.0.1 (server.pem), a client's (client.pem) and that of a member of an ensemble
// at 127.0.0.1 (member.pem), which is both to the other members. It returns what the client needs.
func Authority(t testing.TB, dir string) drivers.Security {
	t.Helper()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key := issue(t, filepath.Join(dir, "ca"), ca, ca, nil)
	issue(t, filepath.Join(dir, "server"), &x509.Certificate{SerialNumber: big.NewInt(2),
		Subject: pkix.Name{CommonName: "test server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ca, key)
	issue(t, filepath.Join(dir, "client"), &x509.Certificate{SerialNumber: big.NewInt(3),
		Subject: pkix.Name{CommonName: "test client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca, key)
	issue(t, filepath.Join(dir, "member"), &x509.Certificate{SerialNumber: big.NewInt(4),
		Subject: pkix.Name{CommonName: "test member"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, ca, key)
	client := filepath.Join(dir, "client.pem")
	return drivers.Security{CA: filepath.Join(dir, "ca.pem"), Cert: client, Key: client}
}

// issue writes a certificate with its new key to name.pem, because ZooKeeper wants both in one
// file. The signer signs it. Without a signer it is self-signed; then the file is for those that
// trust it and does not have the key.
func issue(t testing.TB, name string, c, issuer *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := signer == nil
	if own {
		signer = key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, issuer, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if !own {
		text = slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), text)
	}
	if err := os.WriteFile(name+".pem", text, 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}
