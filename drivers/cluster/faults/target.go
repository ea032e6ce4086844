package faults

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// Target is the target of a fault. The zero Target is none.
type Target struct {
	word  string  // one of the constants below
	n     int     // for member and client: the number, from 1
	share float64 // for clients: the share; 1 means all
}

const (
	leader   = "leader"   // the leader when the fault begins
	follower = "follower" // a running server that does not lead
	member   = "member"   // member=2
	members  = "members"  // members=all
	holder   = "holder"   // the client that holds what all compete for
	client   = "client"   // client=3
	clients  = "clients"  // clients=25% or clients=all
)

func words() []string { return []string{leader, follower, member, members, holder, client, clients} }

// servers reports whether the targets are servers.
func (w Target) servers() bool {
	switch w.word {
	case leader, follower, member, members:
		return true
	}
	return false
}

// String returns the form that parseTarget reads.
func (w Target) String() string {
	switch {
	case w.word == member || w.word == client:
		return w.word + "=" + strconv.Itoa(w.n)
	case w.word == members || w.word == clients && w.share == 1:
		return w.word + "=all"
	case w.word == clients:
		return w.word + "=" + strconv.FormatFloat(100*w.share, 'f', -1, 64) + "%"
	}
	return w.word
}

func parseTarget(text string) (Target, error) {
	word, value, given := strings.Cut(text, "=")
	w := Target{word: word}
	var err error
	switch word {
	case leader, follower, holder:
		if given {
			return Target{}, fmt.Errorf("%s takes no value", word)
		}
	case member, client:
		if w.n, err = strconv.Atoi(value); err != nil || w.n < 1 {
			return Target{}, fmt.Errorf("%s: want %s=1, %s=2, …", text, word, word)
		}
	case members:
		if value != "all" {
			return Target{}, fmt.Errorf("%s: want members=all, member=1, leader or follower", text)
		}
	case clients:
		w.share, err = parseShare(value)
	default:
		return Target{}, suggest.Unknown("target", word, words())
	}
	return w, err
}

// parseShare parses "25%" or "all".
func parseShare(value string) (float64, error) {
	if value == "all" {
		return 1, nil
	}
	number, percent := strings.CutSuffix(value, "%")
	share, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(share > 0) || share > 100 {
		return 0, fmt.Errorf("clients=%s: want a share such as clients=25%%, or clients=all", value)
	}
	return share / 100, nil
}
