package scenario

import (
	"embed"
	"path"
	"strings"
)

//go:embed template.yaml
var template []byte

// Template is a file that shows in comments what can be in one.
func Template() []byte { return template }

//go:embed shipped/*.yaml
var shipped embed.FS

const suffix = ".yaml"

// Names are those of the files that come with stampede.
func Names() (names []string) {
	entries, err := shipped.ReadDir("shipped")
	if err != nil {
		panic(err) // it was embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// Shipped is the text of the file that comes with stampede under the name.
func Shipped(name string) (text []byte, ok bool) {
	text, err := shipped.ReadFile(path.Join("shipped", name+suffix))
	return text, err == nil
}
