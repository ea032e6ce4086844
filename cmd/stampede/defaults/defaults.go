// Package defaults reads stampede.yaml, a project's defaults for the flags that name the service and the folder of
// results.
//
// The file is that of the working folder, where results are saved too, and not one of the user: a command that is typed
// in another folder must not meet a production service that nobody has named there.
package defaults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/argument"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

const (
	// Name is the name of the file.
	Name = "stampede.yaml"
	// Variable is the variable that names another file, or is [Off].
	Variable = "STAMPEDE_CONFIG"
	// Off is the value of the variable with which no file is read.
	Off = "off"
)

// Keys returns the flags that a file can set.
func Keys() []string {
	return slices.Concat([]string{"backend", "user", "password-file"}, spec.TLSFlags(), []string{"save"})
}

// isPath reports whether the key's value is a path, which is relative to the file.
func isPath(key, value string) bool {
	return slices.Contains([]string{"password-file", "tls-ca", "tls-cert", "tls-key", "save"}, key) && value != "system"
}

// A File holds the defaults of a file. The nil *File has none.
type File struct {
	Name   string
	values map[string][]string
}

// Read returns the file of the working folder, or the one that the variable names. It returns nil if there is none.
func Read() (*File, error) {
	name, named := os.Getenv(Variable), true
	switch name {
	case Off:
		return nil, nil
	case "":
		name, named = Name, false
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fmt.Errorf("file of defaults %s: not a regular file: %s=%s reads none", name, Variable, Off)
	}
	text, err := argument.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("file of defaults %s: %w: %s=%s reads none", name, cli.WithoutPath(err), Variable, Off)
	}
	return parse(name, text)
}

// parse reads the text of the named file. The error holds everything that is wrong with it, as [*scenario.Faults].
func parse(name string, text []byte) (*File, error) {
	f, faults := &File{Name: name, values: map[string][]string{}}, scenario.Faults{Name: name}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		hint := ""
		if strings.Contains(err.Error(), "mapping values") {
			hint = `: put a URL that ends with a colon in quotes, such as backend: "native:"`
		}
		faults.Add(1, "not YAML: %s%s", strings.TrimPrefix(err.Error(), "yaml: "), hint)
		return nil, faults.Err()
	}
	if len(root.Content) == 0 { // nothing but comments
		return f, nil
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		faults.Add(top.Line, "want keys and values, such as backend: zookeeper://zk1:2181")
		return nil, faults.Err()
	}
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if err := f.add(key.Value, value); err != nil {
			faults.Add(key.Line, "%v", err)
		}
	}
	return f, faults.Err()
}

// add adds the values of a key.
func (f *File) add(key string, value *yaml.Node) error {
	switch {
	case key == "password":
		return fmt.Errorf("a password does not belong in a file that others read: name a password-file, or set %s", spec.PasswordVariable)
	case !slices.Contains(Keys(), key):
		if near := suggest.Name(key, Keys()); near != "" {
			return fmt.Errorf("unknown key %q: did you mean %q? The keys are %s", key, near, strings.Join(Keys(), ", "))
		}
		return fmt.Errorf("unknown key %q: the keys are %s", key, strings.Join(Keys(), ", "))
	case f.values[key] != nil:
		return fmt.Errorf("duplicate key %q", key)
	}
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode && key == "backend" {
		items = value.Content
	}
	for _, item := range items {
		text := scalar(item)
		if text == "" {
			return fmt.Errorf("%s: want one value", key)
		}
		if key == "backend" {
			if _, err := backends.Parse(text); err != nil {
				return err
			}
		}
		if isPath(key, text) && !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(f.Name), text)
		}
		f.values[key] = append(f.values[key], text)
	}
	if len(items) == 0 {
		return fmt.Errorf("%s: want one value", key)
	}
	return nil
}

// scalar returns a plain value, "" if the node is none. A scheme such as native: without quotes is a key without a
// value in YAML.
func scalar(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[1].Tag == "!!null":
		return n.Content[0].Value + ":"
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return ""
	}
	return n.Value
}

// Apply sets the flags that neither the command line nor a variable has set, and returns their names. The flags
// do not count as given: a scenario file takes precedence.
func (f *File) Apply(flags *pflag.FlagSet) (set []string) {
	user := flags.Lookup("user")
	another := user != nil && cli.WasGiven(user)
	for _, key := range Keys() {
		if key == "password-file" && another {
			continue // it is that of the file's user
		}
		if flag := flags.Lookup(key); flag != nil && f.Set(flag) {
			set = append(set, key)
		}
	}
	return set
}

// Has reports whether the file has a value for the flag.
func (f *File) Has(key string) bool { return f != nil && len(f.values[key]) > 0 }

// Set sets the flag if the file has a value for it and it was not given, and reports whether it did.
func (f *File) Set(flag *pflag.Flag) bool {
	if !f.Has(flag.Name) || cli.WasGiven(flag) {
		return false
	}
	if _, given := os.LookupEnv(spec.PasswordVariable); given && flag.Name == "password-file" {
		return false // the variable is for this run
	}
	for _, value := range f.values[flag.Name] {
		if flag.Value.Set(value) != nil {
			return false // a text flag refuses no text
		}
	}
	return true
}
