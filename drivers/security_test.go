package drivers_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func TestSecurityValidate(t *testing.T) {
	for want, s := range map[string]drivers.Security{
		"certificate without a key": {Cert: "c.pem"},
		"key without a certificate": {Key: "k.pem"},
		"password without a user":   {Password: "hunter2"},
		"user without a password":   {User: "ann"},
		"user: must have no colon":  {User: "ann:b", Password: "hunter2"},
	} {
		err := s.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	for _, s := range []drivers.Security{{}, {CA: "a"}, {Cert: "c", Key: "k"}, {User: "ann", Password: "p"}, {ServerName: "zk"}} {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestTLSConfig(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.pem")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := drivers.Security{User: "ann", Password: "p"}.TLSConfig()
	if cfg != nil || err != nil {
		t.Errorf("without TLS settings: %v, %v, want none", cfg, err)
	}
	cfg, err = drivers.Security{CA: drivers.SystemCA, ServerName: "zk"}.TLSConfig()
	if err != nil || cfg.RootCAs != nil || cfg.ServerName != "zk" || cfg.InsecureSkipVerify {
		t.Errorf("%+v, %v; want the machine's own authorities, and the name", cfg, err)
	}
	if _, err = (drivers.Security{CA: "nowhere.pem"}).TLSConfig(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, s := range []drivers.Security{{CA: junk}, {Cert: junk, Key: junk}} {
		if _, err := s.TLSConfig(); err == nil || !strings.Contains(err.Error(), junk) {
			t.Errorf("%+v: %v, want the file's name", s, err)
		}
	}
}

// Whatever the format, a Security prints without its password.
func TestSecretDoesNotPrint(t *testing.T) {
	s := drivers.Security{User: "ann", Password: "hunter2"}
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("m", "s", s, "p", s.Password)
	texts := []string{string(encoded), logged.String(), s.Password.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, s.Password), fmt.Sprintf(verb, &s))
	}
	for _, text := range texts {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) || !strings.Contains(text, drivers.Redacted) {
			t.Errorf("%q: want the password redacted", text)
		}
	}
	if text := fmt.Sprint(drivers.Secret("")); text != "" {
		t.Errorf("an empty secret prints as %q, want nothing", text)
	}
}

// TestContentsReplaceFiles removes the files of a security whose contents were read, as on another machine.
func TestContentsReplaceFiles(t *testing.T) {
	dir := t.TempDir()
	s := certificates(t, dir)
	s.User, s.Password = "ann", "hunter2"
	loaded, err := s.WithContents()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TLSConfig(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without contents: %v", err)
	}
	cfg, err := loaded.TLSConfig()
	if err != nil || cfg.RootCAs == nil || len(cfg.Certificates) != 1 {
		t.Errorf("with contents: %+v, %v", cfg, err)
	}
	if again, err := loaded.WithContents(); err != nil || again != loaded {
		t.Errorf("a second time: %v", err)
	}
	text, err := json.Marshal(loaded)
	if shown := fmt.Sprintf("%+v %#v %s", loaded, loaded, text); err != nil || strings.Contains(shown, "BEGIN") || strings.Contains(shown, "hunter2") {
		t.Errorf("it shows its secrets: %s, %v", shown, err)
	}
	if _, err := (drivers.Security{CA: filepath.Join(dir, "none.pem")}).WithContents(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
	if system, err := (drivers.Security{CA: drivers.SystemCA}).WithContents(); err != nil || system.Contents != (drivers.Contents{}) {
		t.Errorf("the machine's own authorities: %+v, %v", system, err)
	}
}

// certificates returns a security with a certificate that is its own authority, in one file.
func certificates(t *testing.T, dir string) drivers.Security {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	file := filepath.Join(dir, "both.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return drivers.Security{CA: file, Cert: file, Key: file}
}
