package reexec

import (
	"os"
	"slices"
	"strings"
)

// environment returns the environment of a child in a role: that of this process without secrets.
// Children connect to no service that needs a password of this process.
func environment(role string) []string {
	return append(slices.DeleteFunc(os.Environ(), isSecret), Variable+"="+role)
}

// isSecret reports whether a variable's name suggests that it holds a secret. The headers of
// telemetry exporters contain credentials.
func isSecret(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

var secretWords = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "_HEADERS"}
