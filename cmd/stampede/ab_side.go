package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A side is one of the two that are compared: one form on one service, at one or more numbers of
// clients.
type side struct {
	label  string
	binary string // another stampede binary that does the runs; "" for this one
	flags  runFlags
	form   catalog.Choice
	source source
}

// A sideWords holds the parsed words of one side.
type sideWords struct {
	recipe, form, backend, binary string
	settings                      [][2]string // flags of run and their values
}

// side parses one side. The command's flags, which have the names of run's, set what the words
// leave open.
func (a *app) side(name, text string, asked *pflag.FlagSet) (side, error) {
	var words sideWords
	for _, w := range strings.Fields(text) {
		if err := a.sideWord(&words, w); err != nil {
			return side{}, usagef("%s: %v", name, err)
		}
	}
	f, err := a.sideFlags(words, asked)
	if err != nil {
		return side{}, usagef("%s: %v", name, err)
	}
	var recipes []string
	if words.recipe != "" {
		recipes = []string{words.recipe}
	}
	j, err := a.job(recipes, *f)
	if err != nil {
		return side{}, usagef("%s: %v", name, err)
	}
	chosen := j.chosen
	if len(f.form) == 0 && !slices.ContainsFunc(chosen, func(c catalog.Choice) bool { return c.Recipe != chosen[0].Recipe }) {
		chosen = chosen[:1] // the form that represents the recipe
	}
	if len(chosen) != 1 || len(j.sources) != 1 {
		return side{}, usagef("%s: it takes one form on one service: say which, as in %s/%s native:", name, chosen[0].Recipe, chosen[0].Name)
	}
	for _, kv := range words.settings {
		if why := unused(kv[0], chosen); why != "" {
			return side{}, usagef("%s: %s=%s: %s", name, kv[0], kv[1], why)
		}
	}
	s := side{binary: words.binary, flags: j.flags, form: chosen[0], source: j.sources[0]}
	s.flags.form = []string{s.form.Name}
	s.label = s.describe(words)
	return s, nil
}

// describe returns the label of the side.
func (s side) describe(words sideWords) string {
	label := s.form.String() + " on " + s.source.name
	for _, kv := range words.settings {
		label += " " + kv[0] + "=" + kv[1]
	}
	if words.binary != "" {
		label += ", by " + words.binary
	}
	return label
}

// sideWord classifies one word of a side and stores it.
func (a *app) sideWord(s *sideWords, word string) error {
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
		return fmt.Errorf("%s: there is no program that can be run", word)
	case rest != "":
		return anyError(once(&s.recipe, begin, "recipe"), once(&s.form, rest, "form"))
	case slices.Contains(catalog.Recipes(a.forms), word):
		return once(&s.recipe, word, "recipe")
	case slices.ContainsFunc(a.forms, func(f workloads.Form) bool { return f.Name == word }):
		return once(&s.form, word, "form")
	default:
		return nearest.Unknown("word", word, a.sideNames())
	}
	return nil
}

func once(to *string, word, kind string) error {
	if *to != "" {
		return fmt.Errorf("%s and %s: there can be one %s a side", *to, word, kind)
	}
	*to = word
	return nil
}

func anyError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
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

// sideNames returns the words that a side can consist of, besides settings.
func (a *app) sideNames() []string {
	names := append(catalog.Recipes(a.forms), schemes()...)
	for _, f := range a.forms {
		names = append(names, f.Name)
	}
	return names
}

// sideFlags returns the flags of run for a side.
func (a *app) sideFlags(s sideWords, asked *pflag.FlagSet) (*runFlags, error) {
	f, flags := a.blank()
	var keys []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if from := asked.Lookup(flag.Name); from != nil {
			copyFlag(flag, from)
		}
		if !slices.Contains(ofCommand(), flag.Name) {
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
			return nil, nearest.Unknown("setting", kv[0], keys)
		}
		flag := flags.Lookup(kv[0])
		if err := flag.Value.Set(kv[1]); err != nil {
			return nil, fmt.Errorf("%s %s: not %s", kv[0], kv[1], kind(flag))
		}
		if kv[0] == "duration" {
			f.rounds = 0 // otherwise --rounds takes precedence
		}
	}
	return f, nil
}

// sharedBy returns a key: two sides with the same key share one service.
func (s side) sharedBy() string {
	return fmt.Sprintf("%s %s %q", s.source.name, s.flags.reads, s.flags.security.arguments())
}

// at returns the flags for one number of clients and one seed.
func (s side) at(level int, seed uint64) runFlags {
	f := s.flags
	f.clients, f.seed = []int{f.clients[level]}, seed
	return f
}

// setting returns the words of the run command that describe what is measured at a level.
func (s side) setting(level int) string {
	f := s.at(level, 0)
	words := f.command([]string{s.form.Recipe})
	return strings.Join(words[2:len(words)-2], " ") // without "stampede run" and the seed
}
