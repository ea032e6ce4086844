package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRenewedCertificates replaces the file of a certificate. From then on both directions of connections use the new one.
func TestRenewedCertificates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "member.pem")
	renew := func(serial int64) {
		t.Helper()
		if err := os.WriteFile(path+".new", selfSigned(t, serial), 0o600); err != nil {
			t.Fatal(err)
		}
		// The time of a file can be that of the last tick of the system's clock.
		at := time.Unix(1_000_000_000+serial, 0)
		if err := os.Chtimes(path+".new", at, at); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	renew(1)
	accept, dial, err := Files{Cert: path, Key: path, ClientCA: path, MinVersion: tls.VersionTLS13}.Configs()
	if err != nil {
		t.Fatal(err)
	}
	for serial := int64(1); serial <= 3; serial++ {
		renew(serial)
		out := dial()
		in, err := accept.GetConfigForClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]*tls.Config{"to": out, "from": in} {
			if got := c.Certificates[0].Leaf.SerialNumber.Int64(); got != serial {
				t.Errorf("a connection %s another server has certificate %d, want %d", name, got, serial)
			}
		}
		if left := out.RootCAs.Equal(in.ClientCAs); !left {
			t.Error("the two directions trust different authorities")
		}
	}
}

// selfSigned returns a certificate and its key in PEM.
func selfSigned(t *testing.T, serial int64) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
}
