package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// registerPercentiles adds the flag that selects the percentiles to show.
func registerPercentiles(flags *pflag.FlagSet, text *string) {
	flags.StringVar(text, "percentiles", "", "`LIST` of the percentiles that tables show and findings cite, such as 50,90,99.9\n(default: the median, and p90 or the highest below it that all rows support)")
}

// parsePercentiles parses a list of percentiles and returns it in ascending order. It returns nil
// for "".
func parsePercentiles(text string) (all []float64, err error) {
	if text == "" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(word), "p"), 64)
		if err != nil || !(p > 0 && p < 100) { // also rejects NaN
			return nil, usagef("--percentiles %s: %q is no percentile between 0 and 100: write a list such as 50,90,99.9", text, word)
		}
		all = append(all, p)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
