package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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
	r, err := f.reloader(protocols)
	if err != nil {
		return nil, err
	}
	return r.accepting(), nil
}

// Configs returns the configuration of Config, and a function that returns one for a connection to another server of
// the same authority. That connection shows the same certificate, from the files as they are at the call.
func (f Files) Configs() (accept *tls.Config, dial func() *tls.Config, err error) {
	r, err := f.reloader(nil)
	if err != nil {
		return nil, nil, err
	}
	return r.accepting(), func() *tls.Config {
		now, _ := r.configFor(nil)
		return &tls.Config{MinVersion: f.MinVersion, Certificates: now.Certificates, RootCAs: now.ClientCAs}
	}, nil
}

// Ends returns when the certificate ends.
func (f Files) Ends() (time.Time, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return time.Time{}, err
	}
	return pair.Leaf.NotAfter, nil
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

// reloader returns a reloader that has read the files.
func (f Files) reloader(protocols []string) (r *reloader, err error) {
	r = &reloader{files: f, protocols: protocols, states: f.states()}
	r.current, err = r.load()
	return r, err
}

// accepting returns a configuration that looks at the files at each handshake.
func (r *reloader) accepting() *tls.Config {
	return &tls.Config{MinVersion: r.files.MinVersion, GetConfigForClient: r.configFor}
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

// An attribute is one part of a distinguished name.
type attribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// An attributeSET holds the attributes at one position of a distinguished name.
type attributeSET []attribute // asn1 treats types whose names end in SET as sets

// Subject returns the text of a DER-encoded distinguished name in the form of RFC 2253, as
// Java's X500Principal.getName does. ZooKeeper's ACLs identify certificates by this text.
func Subject(der []byte) (string, error) {
	var sets []attributeSET
	if rest, err := asn1.Unmarshal(der, &sets); err != nil || len(rest) > 0 {
		return "", fmt.Errorf("subject of a certificate: %w, %d bytes too many", err, len(rest))
	}
	var names []string
	for _, set := range slices.Backward(sets) {
		var parts []string
		for _, a := range set {
			parts = append(parts, a.String())
		}
		names = append(names, strings.Join(parts, "+"))
	}
	return strings.Join(names, ","), nil
}

// keywords are the attribute keywords of RFC 2253. Other types are written as OIDs, with their
// values in hexadecimal.
var keywords = map[string]string{
	"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
	"2.5.4.10": "O", "2.5.4.11": "OU",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
}

func (a attribute) String() string {
	id := a.Type.String()
	keyword, known := keywords[id]
	if !known || !isText(a.Value.Tag) {
		if !known {
			keyword = id
		}
		return keyword + "=#" + hex.EncodeToString(a.Value.FullBytes)
	}
	return keyword + "=" + escaped(string(a.Value.Bytes))
}

func isText(tag int) bool {
	switch tag {
	case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagT61String, asn1.TagIA5String,
		asn1.TagGeneralString, asn1.TagBMPString:
		return true
	}
	return false
}

// escaped puts a backslash before characters that are special in a name, and before spaces at
// either end.
func escaped(value string) string {
	inner := strings.Trim(value, " \r\n")
	start := strings.Index(value, inner)
	var b strings.Builder
	for i, r := range value {
		switch {
		case r == 0:
			b.WriteString(`\00`)
			continue
		case strings.ContainsRune(`,=+<>#;"\`, r), i < start, i >= start+len(inner):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
