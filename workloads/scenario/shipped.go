package scenario

import (
	"embed"
	"path"
	"strings"
)

//go:embed template.yaml
var template []byte

// Template returns a file that explains in comments what a scenario file can contain.
func Template() []byte { return template }

//go:embed shipped/*.yaml
var shipped embed.FS

const suffix = ".yaml"

// Names returns the names of the files that come with stampede.
func Names() (names []string) {
	entries, err := shipped.ReadDir("shipped")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// Shipped returns the text of the file with that name that comes with stampede.
func Shipped(name string) (text []byte, ok bool) {
	text, err := shipped.ReadFile(path.Join("shipped", name+suffix))
	return text, err == nil
}
