package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestEndOfCertificateIsAnnounced checks on which days a member warns that its certificate ends, and that a new certificate ends the
// warnings.
func TestEndOfCertificateIsAnnounced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		began := time.Now()
		file := filepath.Join(t.TempDir(), "member.pem")
		lasts := func(life time.Duration) {
			t.Helper()
			if err := os.WriteFile(file, selfSigned(t, time.Now().Add(life)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lasts(30 * day)
		ctx, cancel := context.WithCancel(t.Context())
		var said bytes.Buffer
		e := serveEnsemble{files: certificates.Files{Cert: file, Key: file}}
		go e.warnOfEnd(ctx, &said)
		var days []int // on which it has warned
		for today := range 50 {
			synctest.Wait()
			if n := strings.Count(said.String(), "\n"); n > len(days) {
				days = append(days, today)
			}
			if today == 34 {
				lasts(365 * day)
			}
			time.Sleep(time.Until(began.Add(time.Duration(today+1) * day)))
		}
		cancel()
		synctest.Wait()
		want := "stampede: warning: " + file + ": the certificate ends at " + began.Add(30*day).UTC().Format(time.RFC3339) +
			": without a new one no member will accept this one then\n"
		if got := said.String(); got != strings.Repeat(want, len(days)) {
			t.Errorf("said:\n%s\nwant %d times:\n%s", got, len(days), want)
		}
		if want := []int{23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34}; !slices.Equal(days, want) {
			t.Errorf("warned on days %d, want %d", days, want)
		}
	})
}

// selfSigned returns a certificate and its key.
func selfSigned(t *testing.T, ends time.Time) []byte {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: ends.AddDate(-2, 0, 0), NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, c, c, public, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
}
