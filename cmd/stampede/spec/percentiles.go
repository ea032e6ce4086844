package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// RegisterPercentiles adds the flag that selects the percentiles to show.
func RegisterPercentiles(flags *pflag.FlagSet, text *string) {
	flags.StringVar(text, "percentiles", "", "`LIST` of percentiles in tables and findings, such as 50,90,99.9 (default: the median, and p90 or the highest below it that all rows support)")
}

// ParsePercentiles parses a list of percentiles and returns it in ascending order. It returns nil
// for "".
func ParsePercentiles(text string) (all []float64, err error) {
	if text == "" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(word), "p"), 64)
		if err != nil || !(p > 0 && p < 100) { // also rejects NaN
			return nil, cli.Flagf("percentiles", "%s: %q is not between 0 and 100: want a list such as 50,90,99.9", text, word)
		}
		all = append(all, p)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
