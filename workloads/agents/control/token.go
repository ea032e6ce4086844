package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
)

// A Token lets an agent join a run. It has the password of the run's etcd member, and the fingerprint
// of the member's certificate, by which the agent recognizes it. It exists only for the run.
type Token struct {
	password    [16]byte
	fingerprint [sha256.Size]byte
}

func newToken(certificate []byte) (t Token) {
	_, _ = rand.Read(t.password[:]) // it never fails
	t.fingerprint = sha256.Sum256(certificate)
	return t
}

// String returns the token's text, which is a secret.
func (t Token) String() string {
	return base64.RawURLEncoding.EncodeToString(append(t.password[:], t.fingerprint[:]...))
}

// ParseToken reads the text of a token.
func ParseToken(text string) (t Token, err error) {
	all, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(all) != len(t.password)+len(t.fingerprint) {
		return Token{}, errors.New("not a token: want the 64 characters that stampede run --agents printed")
	}
	copy(t.fingerprint[:], all[copy(t.password[:], all):])
	return t, nil
}

// Key returns a key for other connections of the run.
func (t Token) Key() [16]byte {
	sum := sha256.Sum256(append([]byte("stampede clock "), t.password[:]...))
	return [16]byte(sum[:16])
}

// secret is the password of the etcd user.
func (t Token) secret() string { return base64.RawURLEncoding.EncodeToString(t.password[:]) }

// tls returns the configuration of a client that accepts only the server with the token's certificate.
func (t Token) tls() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection decides instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if !t.recognizes(s.PeerCertificates) {
				return fmt.Errorf("the control plane is not the one that the token is for")
			}
			return nil
		},
	}
}

func (t Token) recognizes(chain []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	got := sha256.Sum256(chain[0].Raw)
	return subtle.ConstantTimeCompare(got[:], t.fingerprint[:]) == 1
}
