package scenario

import (
	"iter"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

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
