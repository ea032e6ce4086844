package costmodel

import (
	"strconv"
	"strings"
)

// evaluate returns the value of a formula of integers, such as "N(N−1)/2" or "max(1, 4N−4)", with values
// for its symbols. A factor that follows another without a sign multiplies it. A formula is part of the
// program: evaluate panics if it is malformed or has another symbol.
func evaluate(formula string, symbols map[string]int64) int64 {
	e := evaluation{formula, symbols}
	v := e.sum()
	if e.rest != "" {
		panic("costmodel: formula " + strconv.Quote(formula) + ": unexpected " + strconv.Quote(e.rest))
	}
	return v
}

// An evaluation reads a formula from left to right.
type evaluation struct {
	rest    string
	symbols map[string]int64
}

// take removes the text, and spaces before it, from the beginning of the rest.
func (e *evaluation) take(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(e.rest, " "), text)
	if ok {
		e.rest = rest
	}
	return ok
}

func (e *evaluation) sum() int64 {
	v := e.product()
	for {
		switch {
		case e.take("+"):
			v += e.product()
		case e.take("−"):
			v -= e.product()
		default:
			return v
		}
	}
}

func (e *evaluation) product() int64 {
	v, ok := e.factor()
	for ok {
		divides := e.take("/")
		signed := e.take("·") || divides
		var f int64
		switch f, ok = e.factor(); {
		case !ok && !signed:
			return v
		case !ok: // malformed
		case divides:
			v /= f
		default:
			v *= f
		}
	}
	e.rest = "no factor before " + e.rest
	return 0
}

// factor returns the value of a factor, or false if none begins here.
func (e *evaluation) factor() (v int64, ok bool) {
	switch {
	case e.take("min("):
		v = min(e.end(","), e.end(")"))
	case e.take("max("):
		v = max(e.end(","), e.end(")"))
	case e.take("("):
		v = e.end(")")
	default:
		if v, ok = e.operand(); !ok {
			return 0, false
		}
	}
	if e.take("²") {
		v *= v
	}
	return v, true
}

// end returns the value of the sum up to the sign.
func (e *evaluation) end(sign string) int64 {
	v := e.sum()
	if !e.take(sign) {
		e.rest = "no " + sign + " before " + e.rest
	}
	return v
}

// operand returns the value of a number, or of the longest symbol that fits.
func (e *evaluation) operand() (v int64, ok bool) {
	text := strings.TrimLeft(e.rest, " ")
	if digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]; digits != "" {
		v, err := strconv.ParseInt(digits, 10, 64)
		return v, e.take(digits) && err == nil
	}
	symbol := ""
	for s := range e.symbols {
		if len(s) > len(symbol) && strings.HasPrefix(text, s) {
			symbol = s
		}
	}
	return e.symbols[symbol], symbol != "" && e.take(symbol)
}
