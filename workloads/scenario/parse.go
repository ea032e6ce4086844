package scenario

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// Parse parses the text of the named file. The error holds everything that is wrong with it, as
// [*Faults].
func Parse(name string, text []byte, keys []Key) (File, error) {
	p := &parser{keys: keys, faults: Faults{Name: name}, file: File{Name: name}}
	if root := p.document(text); root != nil && p.version(root) {
		p.top(root)
	}
	return p.file, p.faults.Err()
}

// A parser holds the state of parsing one file.
type parser struct {
	keys   []Key
	faults Faults
	file   File
	shared []Setting // settings of every scenario that does not replace them
	across int       // the line of the reference's columns
}

// document returns the root of the text's only YAML document, or nil and a fault.
func (p *parser) document(text []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	switch err := d.Decode(&first); {
	case errors.Is(err, io.EOF):
		p.faults.Add(1, "empty file: begin with version: %s", Version)
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	switch err := d.Decode(&second); {
	case err == nil:
		p.faults.Add(second.Line, "second document: a scenario file has one document")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return nil
	}
	return first.Content[0]
}

// syntax reports an error of the YAML library, "yaml: line 3: did not find …".
func (p *parser) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, after
		}
	}
	if strings.HasPrefix(text, "mapping values are not allowed") {
		text += `: quote a value with a colon behind it, such as "native:"`
	}
	if strings.Contains(text, "expected alphabetic or numeric character") {
		text += `: quote a threshold that begins with *, such as "*.safety.violations == 0"`
	}
	p.faults.Add(line, "not YAML: %s", text)
}

// version reports whether this version of the format can be read.
func (p *parser) version(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		p.faults.Add(root.Line, "must have keys and values: begin with version: %s", Version)
		return false
	}
	for key, value := range pairs(root) {
		if key.Value != "version" {
			continue
		}
		if value.Value == Version {
			return true
		}
		p.faults.Add(value.Line, "unsupported version %q: this stampede reads version %s", value.Value, Version)
		return false
	}
	p.faults.Add(root.Line, "version is missing: begin with version: %s", Version)
	return false
}

func (p *parser) top(root *yaml.Node) {
	var scenarios *yaml.Node
	p.mapping(root, fields{
		"version":    func(*yaml.Node) {},
		"about":      func(v *yaml.Node) { p.file.About = p.word("about", v) },
		"seed":       func(v *yaml.Node) { p.seed(v) },
		"scenarios":  func(v *yaml.Node) { scenarios = v },
		"reference":  func(v *yaml.Node) { p.reference(v) },
		"incident":   func(v *yaml.Node) { p.incident(v) },
		"thresholds": func(v *yaml.Node) { p.file.Thresholds = p.thresholds(v) },
	}, &p.shared)
	if scenarios == nil {
		p.faults.Add(root.Line, "scenarios are missing: name at least one below scenarios:")
		return
	}
	p.scenarios(scenarios)
	p.checkReference()
	p.checkIncident()
}

func (p *parser) seed(v *yaml.Node) {
	p.file.Seed = p.word("seed", v)
	if _, err := strconv.ParseUint(p.file.Seed, 10, 64); err != nil && p.file.Seed != "" {
		p.faults.Add(v.Line, "invalid seed %s: must be a whole number from 0 to 18446744073709551615", p.file.Seed)
	}
}

func (p *parser) scenarios(n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		p.faults.Add(n.Line, "scenarios: must have a name for each scenario, and its settings below the name")
		return
	}
	p.unique(n)
	for key, value := range pairs(n) {
		s := Scenario{Name: key.Value, Line: key.Line}
		if strings.Trim(s.Name, nameLetters) != "" || s.Name == "" {
			p.faults.Add(s.Line, "invalid scenario name %q: must consist of lowercase letters, digits and hyphens", s.Name)
		}
		if value.Kind != yaml.MappingNode {
			p.faults.Add(s.Line, "scenario %q: must have settings below it, such as recipe: lock", s.Name)
			continue
		}
		p.mapping(value, fields{
			"seed":       func(v *yaml.Node) { p.faults.Add(v.Line, "seed applies to the whole file: set it beside version") },
			"thresholds": func(v *yaml.Node) { s.Thresholds = p.thresholds(v) },
		}, &s.Settings)
		s.Settings = append(s.Settings, p.inherited(s)...)
		p.file.Scenarios = append(p.file.Scenarios, s)
	}
}

// thresholds reads one threshold or a list of them.
func (p *parser) thresholds(n *yaml.Node) (all []ThresholdText) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		p.faults.Add(n.Line, "thresholds has no value")
	}
	for _, item := range items {
		if text := p.word("thresholds", item); text != "" {
			all = append(all, ThresholdText{text, item.Line})
		}
	}
	return all
}

// nameLetters are the characters allowed in names of scenarios.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// inherited returns the settings of the file that the scenario does not replace.
func (p *parser) inherited(s Scenario) []Setting {
	all := slices.DeleteFunc(slices.Clone(p.shared), func(set Setting) bool {
		return s.index(set.Key) >= 0 || s.index(p.key(set.Key).Instead) >= 0
	})
	for i := range all {
		all[i].Shared = true
	}
	return all
}

// key returns the key of a name, which must exist.
func (p *parser) key(name string) Key {
	return p.keys[slices.IndexFunc(p.keys, func(k Key) bool { return k.Name == name })]
}

// unknown returns the error for an unknown key.
func unknown(key string, have []string) error {
	if suggest.Name(key, have) != "" {
		return suggest.Unknown("key", key, have)
	}
	return errors.New("unknown key " + strconv.Quote(key) + ": stampede init shows the valid keys")
}

// fields maps the keys that a mapping may have besides settings to the functions that read their
// values.
type fields map[string]func(value *yaml.Node)

// mapping reads a mapping. It accepts the known fields, each once, and if settings is not nil also
// settings, which it adds there.
func (p *parser) mapping(n *yaml.Node, known fields, settings *[]Setting) {
	p.unique(n)
	have := slices.Sorted(maps.Keys(known))
	if settings != nil {
		for _, k := range p.keys {
			have = append(have, k.Name)
		}
	}
	for key, value := range pairs(n) {
		switch read := known[key.Value]; {
		case !slices.Contains(have, key.Value):
			p.faults.Add(key.Line, "%v", unknown(key.Value, have))
		case read != nil:
			read(value)
		default:
			p.setting(p.key(key.Value), key.Line, value, settings)
		}
	}
}

// setting adds a setting if its values are valid.
func (p *parser) setting(k Key, line int, n *yaml.Node, to *[]Setting) {
	values, ok := p.values(k, n)
	if !ok {
		return
	}
	*to = append(*to, Setting{Key: k.Name, Values: values, Line: line})
}

func (p *parser) values(k Key, n *yaml.Node) (values []string, ok bool) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if n.Kind == yaml.SequenceNode && !k.List {
		p.faults.Add(n.Line, "%s must have one value, not a list", k.Name)
		return nil, false
	}
	if len(items) == 0 {
		p.faults.Add(n.Line, "%s has no value", k.Name)
	}
	for _, item := range items {
		text := p.word(k.Name, item)
		if text == "" {
			continue
		}
		if err := k.Check(text); err != nil {
			p.faults.Add(item.Line, "%v", err)
			continue
		}
		values = append(values, text)
	}
	return values, len(values) > 0 && len(values) == len(items)
}

// word returns a scalar value, or "" and a fault if the node is not one. A scheme such as native:
// without quotes is a key without a value in YAML; word accepts it.
func (p *parser) word(key string, n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[1].Tag == "!!null" && n.Content[1].Value == "":
		return n.Content[0].Value + ":"
	case n.Kind == yaml.AliasNode:
		p.faults.Add(n.Line, "%s: aliases are not supported: write out the value", key)
	case n.Kind != yaml.ScalarNode:
		p.faults.Add(n.Line, "%s: must be a plain value", key)
	case n.Tag == "!!null" || n.Value == "":
		p.faults.Add(n.Line, "%s has no value", key)
	default:
		return n.Value
	}
	return ""
}

// unique reports keys that are given more than once.
func (p *parser) unique(n *yaml.Node) {
	seen := map[string]int{}
	for key := range pairs(n) {
		if line, twice := seen[key.Value]; twice {
			p.faults.Add(key.Line, "duplicate key %q: it is in line %d too", key.Value, line)
		}
		seen[key.Value] = key.Line
	}
}

// pairs iterates over the keys of a mapping and their values.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
