package child

import (
	"os"
	"slices"
	"strings"
)

// environment is what a child inherits in a role: what this process has, but for
// secrets. A child connects to no service that a password of this process is for.
func environment(role string) []string {
	return append(slices.DeleteFunc(os.Environ(), isSecret), Variable+"="+role)
}

// isSecret reports whether a variable probably holds a secret, by its name.
// Headers of telemetry are where its credentials are.
func isSecret(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

var secretWords = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "_HEADERS"}
