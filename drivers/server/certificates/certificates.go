package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Files are the PEM files of a server's identity and of the authorities that sign its
// clients' certificates.
type Files struct {
	// Cert is the server's certificate chain and Key its private key. Both may be in one file.
	Cert, Key string
	// ClientCA holds the authorities that sign clients' certificates. Clients without such a
	// certificate are refused. "" means that clients need no certificate.
	ClientCA string
	// MinVersion is the lowest TLS version, such as [tls.VersionTLS12].
	MinVersion uint16
	// Failed, if set, is called with the error when changed files cannot be loaded.
	Failed func(error)
}

// Validate returns an error that names a missing field. It reads no file.
func (f Files) Validate() error {
	switch {
	case f.Cert == "" && f.Key == "":
		return errors.New("TLS needs a certificate and its key: name both files")
	case f.Cert == "":
		return errors.New("key without a certificate: name both files")
	case f.Key == "":
		return errors.New("certificate without a key: name both files")
	}
	return nil
}

// Config reads the files and returns a configuration that reloads them at the first handshake after
// a file has changed. If the reload fails, the previous configuration stays in use. The application
// protocols are those that the server negotiates, if any.
func (f Files) Config(protocols ...string) (*tls.Config, error) {
	r := &reloader{files: f, protocols: protocols, states: f.states()}
	var err error
	if r.current, err = r.load(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: f.MinVersion, GetConfigForClient: r.configFor}, nil
}

// load reads the files. It disables session resumption, which would let a client whose authority is
// no longer trusted return without a check of its certificate.
func (f Files) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s, key %s: %w", f.Cert, f.Key, err)
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: f.MinVersion, SessionTicketsDisabled: true}
	if f.ClientCA == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(f.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("authorities of clients: %w", err)
	}
	cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !cfg.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("authorities of clients: %s: no PEM certificate in it", f.ClientCA)
	}
	return cfg, nil
}

// A fileState changes when the file does.
type fileState struct {
	changed time.Time
	size    int64
}

func (f Files) states() (all [3]fileState) {
	for i, name := range []string{f.Cert, f.Key, f.ClientCA} {
		if info, err := os.Stat(name); err == nil {
			all[i] = fileState{info.ModTime(), info.Size()}
		}
	}
	return all
}

// A reloader holds the configuration that was last loaded from the files.
type reloader struct {
	files     Files
	protocols []string

	mu      sync.Mutex
	states  [3]fileState // when they were last read
	current *tls.Config
}

func (r *reloader) load() (*tls.Config, error) {
	cfg, err := r.files.load()
	if err == nil {
		cfg.NextProtos = r.protocols
	}
	return cfg, err
}

func (r *reloader) configFor(*tls.ClientHelloInfo) (*tls.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := r.files.states()
	if states == r.states {
		return r.current, nil
	}
	r.states = states
	cfg, err := r.load()
	switch {
	case err == nil:
		r.current = cfg
	case r.files.Failed != nil:
		r.files.Failed(err)
	}
	return r.current, nil
}
