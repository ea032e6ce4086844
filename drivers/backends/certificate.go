package backends

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// certificateLife is longer than any run takes.
const certificateLife = 365 * 24 * time.Hour

// newCertificate makes a certificate for a server on the loopback interface. It returns the PEM
// text of certificate and key, and the TLS configuration of clients that trust only this
// certificate.
func newCertificate() (text []byte, client *tls.Config, err error) {
	text, der, err := signCertificate(time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	trusted, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	client = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	client.RootCAs.AddCert(trusted)
	return text, client, nil
}

// signCertificate makes a self-signed certificate. Its key exists only on this machine.
func signCertificate(now time.Time) (text, der []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stampede native server"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), // clocks may be set back
	}
	if der, err = x509.CreateCertificate(rand.Reader, c, c, key.Public(), key); err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), der, nil
}
