package main

import (
	"errors"
	"strconv"
	"strings"
)

// parseShare parses a share of something: "5%" or "0.05".
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share < 1) {
		return 0, errors.New("want a share such as 5% or 0.05")
	}
	return share, nil
}
