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

// Security says how to connect to a given service: with which encryption and which
// credentials. The zero Security has neither. A client never accepts a server whose
// certificate it cannot verify.
type Security struct {
	// CA is a PEM file of the certificate authorities to trust, or SystemCA for those
	// that this machine trusts. "" means SystemCA if another field asks for TLS.
	CA string
	// Cert and Key are PEM files: the client's certificate and its key, for servers that
	// require one.
	Cert, Key string
	// ServerName is the name in the server's certificate, if it is not the host that the
	// client connects to.
	ServerName string
	// User and Password are the credentials of ZooKeeper's digest scheme or of an etcd
	// user.
	User     string
	Password Secret
	// Contents, where it has any, is used in place of the files.
	Contents Contents
}

// Contents are what the files of a Security contain.
type Contents struct{ CA, Cert, Key Secret }

// WithContents returns the security with the contents of its files, for a process on a machine that has
// none of them.
func (s Security) WithContents() (Security, error) {
	for _, f := range []struct {
		name    string
		content *Secret
	}{{s.CA, &s.Contents.CA}, {s.Cert, &s.Contents.Cert}, {s.Key, &s.Contents.Key}} {
		if f.name == "" || f.name == SystemCA {
			continue
		}
		text, err := contentOr(*f.content, f.name)
		if err != nil {
			return Security{}, err
		}
		*f.content = Secret(text)
	}
	return s, nil
}

// SystemCA is the CA of a Security that trusts the authorities that this machine trusts.
const SystemCA = "system"

// IsZero reports whether s asks for neither TLS nor credentials.
func (s Security) IsZero() bool { return s == Security{} }

// TLS reports whether connections are encrypted.
func (s Security) TLS() bool { return s.CA != "" || s.Cert != "" || s.Key != "" || s.ServerName != "" }

// Validate returns an error that names the invalid field. It reads no file.
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

// TLSConfig reads the files and returns the configuration for a client that sets the
// host's name itself, or nil if connections are not encrypted.
func (s Security) TLSConfig() (*tls.Config, error) {
	if !s.TLS() {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: s.ServerName, MinVersion: tls.VersionTLS12}
	if s.CA != "" && s.CA != SystemCA {
		pem, err := contentOr(s.Contents.CA, s.CA)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority: %s: no PEM certificate in it", s.CA)
		}
	}
	if s.Cert != "" {
		pair, err := s.pair()
		if err != nil {
			return nil, fmt.Errorf("client certificate %s, key %s: %w", s.Cert, s.Key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// pair returns the client's certificate and its key.
func (s Security) pair() (tls.Certificate, error) {
	cert, err := contentOr(s.Contents.Cert, s.Cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := contentOr(s.Contents.Key, s.Key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// contentOr returns the content, or that of the file if there is none.
func contentOr(content Secret, file string) ([]byte, error) {
	if content != "" {
		return []byte(content), nil
	}
	return os.ReadFile(file)
}

// A Secret is a string that does not print: all formatting and encoding yields Redacted,
// or nothing for an empty Secret. Its content is string(secret).
type Secret string

// Redacted is printed instead of a secret.
const Redacted = "redacted"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format prints no secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText encodes no secret, in JSON or any other encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
