package drivers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Security is what a given service asks of those who connect: how connections
// are encrypted, and who we are. The zero Security is neither encrypted nor
// anybody. A server that is not who it says is never taken.
type Security struct {
	// CA is a PEM file of the authorities whose servers are trusted, or
	// SystemCA for those that this machine trusts. "" means SystemCA where
	// another field asks for TLS.
	CA string
	// Cert and Key are PEM files: the client's certificate, for servers that
	// want one.
	Cert, Key string
	// ServerName is the name in the server's certificate, where it is not the
	// host that is connected to.
	ServerName string
	// User and Password are ZooKeeper's digest or a user of etcd.
	User     string
	Password Secret
}

// SystemCA is the CA of a Security that trusts whom this machine trusts.
const SystemCA = "system"

// IsZero tells whether nothing is asked.
func (s Security) IsZero() bool { return s == Security{} }

// TLS tells whether connections are encrypted.
func (s Security) TLS() bool { return s.CA != "" || s.Cert != "" || s.Key != "" || s.ServerName != "" }

// Validate names the field that is wrong. It reads no file.
func (s Security) Validate() error {
	switch {
	case s.Cert != "" && s.Key == "":
		return errors.New("certificate without a key: name both files")
	case s.Key != "" && s.Cert == "":
		return errors.New("key without a certificate: name both files")
	case s.User == "" && s.Password != "":
		return errors.New("password without a user")
	case s.User != "" && s.Password == "":
		return errors.New("user without a password")
	case strings.Contains(s.User, ":"):
		return errors.New("user: must have no colon in it")
	}
	return nil
}

// TLSConfig reads the files and returns how to connect to a host that a client
// names itself, or nil where connections are not encrypted.
func (s Security) TLSConfig() (*tls.Config, error) {
	if !s.TLS() {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: s.ServerName, MinVersion: tls.VersionTLS12}
	if s.CA != "" && s.CA != SystemCA {
		pem, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority: %s: no PEM certificate in it", s.CA)
		}
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s, key %s: %w", s.Cert, s.Key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// A Secret is a text that does not print: whatever formats or encodes it gets
// Redacted, or nothing of one that is empty. Its content is string(secret).
type Secret string

// Redacted stands where a secret would.
const Redacted = "redacted"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format prints no secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText encodes no secret, be it as JSON or as anything else.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
