package spec

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/argument"
)

// PasswordVariable is the variable that holds the password if no file does.
const PasswordVariable = "STAMPEDE_PASSWORD"

// A Security holds the authentication and TLS settings for services that are given by address.
// No flag takes a password: every user on the machine could read it.
type Security struct {
	drivers.Security
	PasswordFile string

	Flags *pflag.FlagSet
}

// Register adds the flags to a command.
func (s *Security) Register(flags *pflag.FlagSet) {
	s.Flags = flags
	RegisterTLS(flags, &s.Security)
	flags.StringVar(&s.User, "user", "", "`NAME` to connect as: ZooKeeper's digest, or a user of etcd")
	flags.StringVar(&s.PasswordFile, "password-file", "", "`FILE` with the password (default: the variable "+PasswordVariable+")")
}

// RegisterTLS adds the flags that say how to connect with TLS.
func RegisterTLS(flags *pflag.FlagSet, s *drivers.Security) {
	flags.StringVar(&s.CA, "tls-ca", "", "PEM `FILE` of the certificate authorities to trust, or system for this machine's; any --tls flag turns TLS on")
	flags.StringVar(&s.Cert, "tls-cert", "", "PEM `FILE` of the client's certificate")
	flags.StringVar(&s.Key, "tls-key", "", "PEM `FILE` of its key")
	flags.StringVar(&s.ServerName, "tls-server-name", "", "`NAME` in the server's certificate, if different from the host of the URL")
}

// TLSFlags lists the flags of RegisterTLS.
func TLSFlags() []string { return []string{"tls-ca", "tls-cert", "tls-key", "tls-server-name"} }

// load checks the flags and reads the files, if a service needs them. If none does, flags on the
// command line are an error, but variables and a project's defaults are not: they may be set for other
// commands.
func (s *Security) load(needed bool) (drivers.Security, error) {
	if !needed {
		for _, name := range append(TLSFlags(), "user", "password-file") {
			if s.Flags.Changed(name) {
				return drivers.Security{}, cli.Usagef("--%s: %w", name, backends.ErrStarted)
			}
		}
		s.Security, s.PasswordFile = drivers.Security{}, ""
		return s.Security, nil
	}
	return s.Load()
}

// Load checks the flags and reads the files.
func (s *Security) Load() (drivers.Security, error) {
	if err := s.readPassword(); err != nil {
		return drivers.Security{}, err
	}
	switch {
	case s.User != "" && s.Password == "":
		return drivers.Security{}, cli.Flagf("user", "without a password: name a --password-file, or set %s", PasswordVariable)
	case s.User == "" && s.Password != "":
		return drivers.Security{}, cli.Usagef("a password without a user: name one with --user")
	}
	if err := s.Validate(); err != nil {
		return drivers.Security{}, cli.Usage(err)
	}
	if _, err := s.TLSConfig(); err != nil {
		return drivers.Security{}, cli.Usage(err)
	}
	return s.Security, nil
}

func (s *Security) readPassword() error {
	if s.PasswordFile == "" {
		s.Password = drivers.Secret(os.Getenv(PasswordVariable))
		return nil
	}
	text, err := argument.ReadFile(s.PasswordFile)
	if err != nil {
		return cli.Flagf("password-file", "%s: %w", s.PasswordFile, cli.WithoutPath(err))
	}
	s.Password = drivers.Secret(strings.TrimRight(string(text), "\r\n"))
	if s.Password == "" {
		return cli.Flagf("password-file", "%s: it is empty", s.PasswordFile)
	}
	return nil
}

// Arguments returns the flags as given, without the credentials.
func (s *Security) Arguments() (line []string) {
	for _, f := range []struct{ name, value string }{
		{"tls-ca", s.CA}, {"tls-cert", s.Cert}, {"tls-key", s.Key}, {"tls-server-name", s.ServerName},
	} {
		if f.value != "" {
			line = append(line, "--"+f.name, f.value)
		}
	}
	if s.User != "" {
		line = append(line, "--user", drivers.Redacted)
	}
	if s.PasswordFile != "" {
		line = append(line, "--password-file", s.PasswordFile)
	}
	return line
}

// Given reports whether a flag says how to connect. The variable with the password alone does not.
func (s *Security) Given() bool {
	return s.TLS() || s.User != "" || s.PasswordFile != ""
}

// summary describes the authentication and the transport without naming the user.
func (s *Security) summary() string {
	who, how := "no user", "in the clear"
	if s.User != "" {
		who = "a user"
	}
	if s.TLS() {
		how = "over TLS"
	} else if s.User != "" {
		how = "in the clear, including the password"
	}
	return fmt.Sprintf("%s, %s", who, how)
}
