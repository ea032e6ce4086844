package drivers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
