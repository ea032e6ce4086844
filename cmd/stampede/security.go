package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// passwordVariable is the variable that holds the password if no file does.
const passwordVariable = "STAMPEDE_PASSWORD"

// A securityFlags holds the authentication and TLS settings for services that are given by address.
// No flag takes a password: every user on the machine could read it.
type securityFlags struct {
	drivers.Security
	passwordFile string

	flags *pflag.FlagSet
}

func (s *securityFlags) register(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.CA, "tls-ca", "", "PEM `FILE` of the authorities to trust, or system for this machine's; any --tls flag turns TLS on")
	flags.StringVar(&s.Cert, "tls-cert", "", "PEM `FILE` of the client's certificate")
	flags.StringVar(&s.Key, "tls-key", "", "PEM `FILE` of its key")
	flags.StringVar(&s.ServerName, "tls-server-name", "", "`NAME` in the server's certificate, if it is not the host of the URL")
	flags.StringVar(&s.User, "user", "", "`NAME` to connect as: ZooKeeper's digest, or a user of etcd")
	flags.StringVar(&s.passwordFile, "password-file", "", "`FILE` with the password (default: the variable "+passwordVariable+")")
}

// load checks the flags and reads the files, if a service needs them. If none does, flags on the
// command line are an error but variables are not: they may be set for other commands.
func (s *securityFlags) load(needed bool) (drivers.Security, error) {
	if !needed {
		for _, name := range []string{"tls-ca", "tls-cert", "tls-key", "tls-server-name", "user", "password-file"} {
			if s.flags.Changed(name) {
				return drivers.Security{}, usagef("--%s: %w", name, backends.ErrStarted)
			}
		}
		s.Security, s.passwordFile = drivers.Security{}, ""
		return s.Security, nil
	}
	if err := s.readPassword(); err != nil {
		return drivers.Security{}, err
	}
	switch {
	case s.User != "" && s.Password == "":
		return drivers.Security{}, usagef("--user without a password: name a --password-file, or set %s", passwordVariable)
	case s.User == "" && s.Password != "":
		return drivers.Security{}, usagef("a password without a user: name one with --user")
	}
	if err := s.Validate(); err != nil {
		return drivers.Security{}, usage(err)
	}
	if _, err := s.TLSConfig(); err != nil {
		return drivers.Security{}, usage(err)
	}
	return s.Security, nil
}

func (s *securityFlags) readPassword() error {
	if s.passwordFile == "" {
		s.Password = drivers.Secret(os.Getenv(passwordVariable))
		return nil
	}
	text, err := os.ReadFile(s.passwordFile)
	if err != nil {
		return usagef("--password-file %s: %w", s.passwordFile, bare(err))
	}
	s.Password = drivers.Secret(strings.TrimRight(string(text), "\r\n"))
	if s.Password == "" {
		return usagef("--password-file %s: it is empty", s.passwordFile)
	}
	return nil
}

// arguments returns the flags as given, without the credentials.
func (s *securityFlags) arguments() (line []string) {
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
	if s.passwordFile != "" {
		line = append(line, "--password-file", s.passwordFile)
	}
	return line
}

// summary describes the authentication and the transport without naming the user.
func (s *securityFlags) summary() string {
	who, how := "nobody in particular", "in the clear"
	if s.User != "" {
		who = "a user"
	}
	if s.TLS() {
		how = "over TLS"
	} else if s.User != "" {
		how = "in the clear, the password too"
	}
	return fmt.Sprintf("%s, %s", who, how)
}
