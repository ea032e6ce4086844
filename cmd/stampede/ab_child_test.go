package main

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
)

// TestOtherStampedeGetsNoPasswordThatItDoesNotNeed checks that another stampede gets the password
// only if it connects as a user whose password is not in a file.
func TestOtherStampedeGetsNoPasswordThatItDoesNotNeed(t *testing.T) {
	t.Setenv(spec.PasswordVariable, "hunter2")
	for _, c := range []struct {
		user, file string
		want       bool
	}{{"", "", false}, {"ann", "", true}, {"ann", "password", false}} {
		var f spec.Flags
		f.Security.User, f.Security.PasswordFile = c.user, c.file
		env := childEnvironment(f)
		if got := slices.Contains(env, spec.PasswordVariable+"=hunter2"); got != c.want {
			t.Errorf("user %q, password file %q: password passed on: %v, want %v", c.user, c.file, got, c.want)
		}
	}
}

// Another stampede reads the project's defaults that this process has read. Other variables of flags are in its
// arguments, where one would count twice.
func TestOtherStampedeReadsTheSameDefaults(t *testing.T) {
	t.Setenv(defaults.Variable, defaults.Off)
	t.Setenv("STAMPEDE_CLIENTS", "2,4")
	env := childEnvironment(spec.Flags{})
	if !slices.Contains(env, defaults.Variable+"="+defaults.Off) || slices.Contains(env, "STAMPEDE_CLIENTS=2,4") {
		t.Errorf("the environment of another stampede is %q", env)
	}
}
