package main

import (
	"slices"
	"testing"
)

// TestOtherStampedeGetsNoPasswordThatItDoesNotNeed checks that another stampede gets the password
// only if it connects as a user whose password is not in a file.
func TestOtherStampedeGetsNoPasswordThatItDoesNotNeed(t *testing.T) {
	t.Setenv(passwordVariable, "hunter2")
	for _, c := range []struct {
		user, file string
		want       bool
	}{{"", "", false}, {"ann", "", true}, {"ann", "password", false}} {
		var f runFlags
		f.security.User, f.security.passwordFile = c.user, c.file
		env := childEnvironment(f)
		if got := slices.Contains(env, passwordVariable+"=hunter2"); got != c.want {
			t.Errorf("user %q, password file %q: password passed on: %v, want %v", c.user, c.file, got, c.want)
		}
	}
}
