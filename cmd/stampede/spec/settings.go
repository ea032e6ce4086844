package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// notSettings returns the flags of run that are not recorded among a run's settings, and why. Every
// other flag is recorded, so that a new flag cannot be forgotten.
func notSettings() map[string]string {
	const field, judges, shows, refuses = "a result has a field for it", "it judges runs that are over", "it says what becomes of the result", "it refuses the command before any run"
	return map[string]string{
		"backend": field, "clients": field, "form": field, "consistency": field, "seed": field,
		"threshold": judges, "baseline": judges, "noise": judges, "inconclusive": judges,
		"output": shows, "color": shows, "save": shows, "no-save": shows, "subject": field, "tag": field, "quiet": shows, "percentiles": shows,
		"repeat": field,
		dryRun:   "it ends the command before any run", "connect-timeout": refuses, "max-sessions": refuses,
		"abort-on":      "it ends the command early, which the result says",
		"password-file": "it goes with user",
		"control":       "it goes with agents", "control-listen": "it goes with agents",
		"on-agent-loss": "the result names an agent that was lost",
	}
}

// usedBy maps a flag of run to the recipes that use it, as their forms declare. All recipes use a
// flag that is not in the map.
var usedBy = sync.OnceValue(func() map[string][]string {
	recipes := map[string][]string{}
	for _, f := range catalog.Forms() {
		for _, flag := range f.Uses() {
			if !slices.Contains(recipes[flag], f.Recipe) {
				recipes[flag] = append(recipes[flag], f.Recipe)
			}
		}
	}
	return recipes
})

// uses reports whether the recipe uses the flag of run.
func uses(recipe, flag string) bool {
	recipes, some := usedBy()[flag]
	return !some || slices.Contains(recipes, recipe)
}

// Unused says that no chosen recipe uses the flag, and which recipes do. It returns "" if a chosen
// recipe uses it.
func Unused(flag string, chosen []catalog.Choice) string {
	if slices.ContainsFunc(chosen, func(c catalog.Choice) bool { return uses(c.Recipe, flag) }) {
		return ""
	}
	return fmt.Sprintf("not used by %s: it is for %s", strings.Join(ChosenRecipes(chosen), ", "), strings.Join(usedBy()[flag], ", "))
}

// CheckUsed rejects flags on the command line that no chosen recipe uses. It accepts variables,
// which may be set for other commands, and a file's shared settings, which may be for other
// scenarios.
func CheckUsed(flags *pflag.FlagSet, chosen []catalog.Choice) (err error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if why := Unused(flag.Name, chosen); why != "" && flag.Changed && err == nil {
			err = cli.Usagef("--%s: %s", flag.Name, why)
		}
	})
	return err
}

// flagSet returns the flags of run with the values that f has.
func (f *Flags) flagSet() *pflag.FlagSet {
	of, flags := Defaults(nil)
	*of = *f // the flags point to it
	return flags
}

// settings returns the flags that can change a figure of a run of the recipe, by name. It
// normalizes their values, so that the same setting always has the same text.
func (f *Flags) settings(recipe string) map[string]string {
	all, canonical, not := map[string]string{}, f.canonical(), notSettings()
	f.flagSet().VisitAll(func(flag *pflag.Flag) {
		if not[flag.Name] != "" || !uses(recipe, flag.Name) {
			return
		}
		text, known := canonical[flag.Name]
		if !known {
			text = strings.Join(cli.Texts(flag), "; ")
		}
		all[flag.Name] = text
	})
	return all
}

// canonical returns the values of flags for which different texts can mean the same, or whose text
// is private.
func (f *Flags) canonical() map[string]string {
	given := func(text string) string {
		if text == "" {
			return ""
		}
		return "given"
	}
	all := map[string]string{
		"size": strconv.Itoa(f.Mix.Size), "size-by": string(f.Mix.SizeBy), "reads": fmt.Sprint(f.Mix.Reads), "background": f.background.setting().Asked(), "fault": strings.Join(lines(f.faults.schedule), "; "),
		"rate": "", "duration": f.Run.Duration.String(), "user": given(f.Security.User),
		"tls-ca": given(f.Security.CA), "tls-cert": given(f.Security.Cert), "tls-key": given(f.Security.Key),
		MetricsFlag: given(f.MetricsAddr), ListenFlag: given(f.Listen),
	}
	switch {
	case f.Load.IsOpen():
		all["rate"] = f.Load.open.Rate.String()
	case f.Run.Rounds > 0:
		all["duration"] = "" // rounds end the run, not the duration
	}
	return all
}
