package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A variant is the base or the candidate: one form on one service, at one or more numbers of clients.
type variant struct {
	label  string
	binary string // another stampede binary that does the runs; "" for this one
	flags  spec.Flags
	form   catalog.Choice
	source spec.Source
}

// A variantWords holds the parsed words of a variant.
type variantWords struct {
	recipe, form, backend, binary string
	settings                      [][2]string // flags of run and their values
}

// variant parses the words of a variant. The command's flags, which have the names of run's, set what the
// words leave open.
func (a *app) variant(name, text string, asked *pflag.FlagSet) (variant, error) {
	var words variantWords
	for _, w := range strings.Fields(text) {
		if err := a.variantWord(&words, w); err != nil {
			return variant{}, cli.Usagef("%s: %v", name, err)
		}
	}
	f, err := a.variantFlags(words, asked)
	if err != nil {
		return variant{}, cli.Usagef("%s: %v", name, err)
	}
	var recipes []string
	if words.recipe != "" {
		recipes = []string{words.recipe}
	}
	j, err := spec.NewJob(a.forms, recipes, *f)
	if err != nil {
		return variant{}, cli.Usagef("%s: %v", name, err)
	}
	chosen := j.Chosen
	if len(f.Form) == 0 && !slices.ContainsFunc(chosen, func(c catalog.Choice) bool { return c.Recipe != chosen[0].Recipe }) {
		chosen = chosen[:1] // the form that represents the recipe
	}
	if len(chosen) != 1 || len(j.Sources) != 1 {
		return variant{}, cli.Usagef("%s: must name one form on one service, as in %s/%s native:", name, chosen[0].Recipe, chosen[0].Name)
	}
	for _, kv := range words.settings {
		if why := spec.Unused(kv[0], chosen); why != "" {
			return variant{}, cli.Usagef("%s: %s=%s: %s", name, kv[0], kv[1], why)
		}
	}
	s := variant{binary: words.binary, flags: j.Flags, form: chosen[0], source: j.Sources[0]}
	s.flags.Form = []string{s.form.Name}
	s.label = s.describe(words)
	return s, nil
}

// describe returns the label.
func (s variant) describe(words variantWords) string {
	label := s.form.String() + " on " + s.source.Name
	for _, kv := range words.settings {
		label += " " + kv[0] + "=" + kv[1]
	}
	if words.binary != "" {
		label += ", by " + words.binary
	}
	return label
}

// variantWord classifies one word of a variant and stores it.
func (a *app) variantWord(s *variantWords, word string) error {
	key, value, isSetting := strings.Cut(word, "=")
	begin, rest, _ := strings.Cut(word, "/")
	switch {
	case isSetting && !strings.ContainsAny(key, ":/?"):
		s.settings = append(s.settings, [2]string{key, value})
	case strings.Contains(word, "/") && isProgram(word):
		return once(&s.binary, word, "program")
	case strings.Contains(word, ":") || slices.Contains(schemes(), word):
		return once(&s.backend, word, "backend")
	case begin == "" || begin == "." || begin == "..":
		return fmt.Errorf("%s: no executable file there", word)
	case rest != "":
		return cmp.Or(once(&s.recipe, begin, "recipe"), once(&s.form, rest, "form"))
	case slices.Contains(catalog.Recipes(a.forms), word):
		return once(&s.recipe, word, "recipe")
	case slices.ContainsFunc(a.forms, func(f workloads.Form) bool { return f.Name == word }):
		return once(&s.form, word, "form")
	default:
		return suggest.Unknown("word", word, a.variantNames())
	}
	return nil
}

func once(to *string, word, kind string) error {
	if *to != "" {
		return fmt.Errorf("%s and %s: at most one %s for each of BASE and CANDIDATE", *to, word, kind)
	}
	*to = word
	return nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func schemes() (names []string) {
	for _, b := range backends.List() {
		names = append(names, b.Scheme)
	}
	return names
}

// variantNames returns the words that a variant can consist of, besides settings.
func (a *app) variantNames() []string {
	names := append(catalog.Recipes(a.forms), schemes()...)
	for _, f := range a.forms {
		names = append(names, f.Name)
	}
	return names
}

// variantFlags returns the flags of run for a variant.
func (a *app) variantFlags(s variantWords, asked *pflag.FlagSet) (*spec.Flags, error) {
	f, flags := spec.Defaults(a.forms)
	var keys []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if from := asked.Lookup(flag.Name); from != nil {
			cli.CopyFlag(flag, from)
		}
		if !slices.Contains(spec.OfCommand(), flag.Name) {
			keys = append(keys, flag.Name)
		}
	})
	settings := s.settings
	for key, word := range map[string]string{"form": s.form, "backend": s.backend} {
		if word != "" {
			settings = append(settings, [2]string{key, word})
		}
	}
	for _, kv := range settings {
		if !slices.Contains(keys, kv[0]) {
			return nil, suggest.Unknown("setting", kv[0], keys)
		}
		flag := flags.Lookup(kv[0])
		if err := flag.Value.Set(kv[1]); err != nil {
			return nil, fmt.Errorf("%s %s: not %s", kv[0], kv[1], cli.Wanted(flag))
		}
		if kv[0] == "duration" {
			f.Run.Rounds = 0 // otherwise --rounds takes precedence
		}
	}
	return f, nil
}

// job returns the variant as a job of stampede run.
func (s variant) job() spec.Job {
	return spec.Job{Flags: s.flags, Chosen: []catalog.Choice{s.form}, Sources: []spec.Source{s.source}}
}

// sharedBy returns a key: variants with the same key share one service.
func (s variant) sharedBy() string {
	return fmt.Sprintf("%s %s %q", s.source.Name, s.flags.Consistency, s.flags.Security.Arguments())
}

// flagsAt returns the flags for one number of clients and one seed.
func (s variant) flagsAt(level int, seed uint64) spec.Flags {
	f := s.flags
	f.Clients, f.Seed = []int{f.Clients[level]}, seed
	return f
}

// setting returns the words of the run command that describe what is measured at a level.
func (s variant) setting(level int) string {
	f := s.flagsAt(level, 0)
	words := f.Command([]string{s.form.Recipe})
	return strings.Join(words[2:len(words)-2], " ") // without "stampede run" and the seed
}
