package cli

import (
	"strings"

	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/drivers"
)

// Must panics on an error that earlier checks rule out: the flag exists, and its type accepts the
// value.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// CopyFlag copies the value of a flag to another of the same type.
func CopyFlag(to, from *pflag.Flag) {
	if list, ok := to.Value.(pflag.SliceValue); ok {
		Must(list.Replace(from.Value.(pflag.SliceValue).GetSlice()))
	} else {
		Must(to.Value.Set(from.Value.String()))
	}
	to.Changed = from.Changed
}

// GivenWords returns the given flags as words of a command line.
func GivenWords(asked *pflag.FlagSet, of func(*pflag.Flag) bool) (line []string) {
	asked.VisitAll(func(flag *pflag.Flag) {
		if !WasGiven(flag) || !of(flag) {
			return
		}
		for _, value := range Texts(flag) {
			line = append(line, "--"+flag.Name+"="+value)
		}
	})
	return line
}

// FlagWords returns the words of a command line that set the flag to its value. A boolean flag
// takes no word after it: pflag would read that word as an argument.
func FlagWords(f *pflag.Flag) (words []string) {
	for _, value := range Texts(f) {
		switch {
		case f.Value.Type() == "bool" && value == "true":
			words = append(words, "--"+f.Name)
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+value)
		default:
			words = append(words, "--"+f.Name, value)
		}
	}
	return words
}

// Texts returns a flag's values as they are written on a command line.
func Texts(flag *pflag.Flag) []string {
	list, ok := flag.Value.(pflag.SliceValue)
	switch {
	case flag.Name == "user":
		return []string{drivers.Redacted}
	case !ok:
		return []string{flag.Value.String()}
	case flag.Value.Type() == "stringArray": // its values may contain commas
		return list.GetSlice()
	}
	return []string{strings.Join(list.GetSlice(), ",")}
}
