package history_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/workloads/history"
)

const ms = time.Millisecond

func op(client int, from, to time.Duration, what any) history.Op {
	return history.Op{Client: client, Called: from * ms, Returned: to * ms, What: what}
}

func pending(client int, from time.Duration, what any) history.Op {
	return history.Op{Client: client, Called: from * ms, Returned: history.Never, What: what}
}

// turns returns n holds, one after the other, of three clients in turn.
func turns(n int) (l history.Lock) {
	for i := range n {
		at := time.Duration(10 * i)
		l = append(l, op(i%3, at, at+5, history.Grant{Hold: i, Token: int64(i)}), op(i%3, at+6, at+9, history.Release{Hold: i}))
	}
	return l
}

func TestLock(t *testing.T) {
	for name, c := range map[string]struct {
		more history.Lock // after 100 turns, which end at 999 ms
		want string
	}{
		"nothing": {},
		"at once, but it may have been one after the other": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: 100}), op(0, 1011, 1030, history.Release{Hold: 100}),
			op(1, 1000, 1025, history.Grant{Hold: 101, Token: 101}), op(1, 1040, 1050, history.Release{Hold: 101})}},
		"taken from a session that was disturbed": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: 100}), pending(0, 1010, history.Release{Hold: 100}),
			op(1, 1000, 1025, history.Grant{Hold: 101, Token: 101}), op(1, 1040, 1050, history.Release{Hold: 101})}},
		"two holders": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: 100}), op(0, 1030, 1040, history.Release{Hold: 100}),
			op(1, 1000, 1020, history.Grant{Hold: 101, Token: 101}), op(1, 1040, 1050, history.Release{Hold: 101})},
			want: `client 1, 1s to 1.01s: got the lock with token 100
client 2, 1s to 1.02s: got the lock with token 101
client 1, 1.03s to 1.04s: released the lock or lost it
client 2, from 1.04s, not answered: released the lock or lost it`},
		"no client saw the release": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: 100}), op(1, 1011, 1015, history.Grant{Hold: 101, Token: 101}),
			pending(2, 1016, history.Grant{Hold: 102})}},
		"a token that is older": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: 7}), op(0, 1030, 1040, history.Release{Hold: 100})},
			want: `client 3, 980ms to 985ms: got the lock with token 98
client 3, 986ms to 989ms: released the lock or lost it
client 1, 1s to 1.01s: got the lock with token 7`},
		"without tokens": {more: history.Lock{
			op(0, 1000, 1010, history.Grant{Hold: 100, Token: history.NoToken}), op(0, 1020, 1021, history.Release{Hold: 100}),
			op(1, 1011, 1015, history.Grant{Hold: 101, Token: history.NoToken})},
			want: `client 1, 1s to 1.01s: got the lock
client 2, 1.011s to 1.015s: got the lock
client 1, 1.02s to 1.021s: released the lock or lost it`},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, why := append(turns(100), c.more...).Check()
			if (verdict == history.Wrong) != (c.want != "") || len(strings.Split(c.want, "\n")) != max(1, len(why)) {
				t.Errorf("verdict %v:\n%s\nwant\n%s", verdict, why, c.want)
			}
			if name != "a token that is older" && why.String() != c.want { // any earlier hold is a valid explanation
				t.Errorf("got\n%s\nwant\n%s", why, c.want)
			}
		})
	}
}

// sets returns n writes, one after the other, each followed by a read.
func sets(n int) (r history.Register) {
	for i := range n {
		at := time.Duration(10 * i)
		r = append(r, op(i%3, at, at+5, history.Write{Over: history.AnyVersion, Version: int64(i + 1)}), op(2, at+6, at+9, history.Read{Version: int64(i + 1)}))
	}
	return r
}

func TestRegister(t *testing.T) {
	for name, c := range map[string]struct {
		more history.Register // after 100 writes, which end at 999 ms with version 100
		want string
	}{
		"nothing": {},
		"not answered and never done": {more: history.Register{
			pending(0, 1000, history.Write{Over: history.AnyVersion}.Unanswered()), op(1, 1010, 1020, history.Read{Version: 100})}},
		"not answered and done late": {more: history.Register{
			pending(0, 1000, history.Write{Over: history.AnyVersion}.Unanswered()), op(1, 1010, 1020, history.Read{Version: 100}), op(1, 1030, 1040, history.Read{Version: 101})}},
		"refused rightly": {more: history.Register{op(1, 1010, 1020, history.Write{Over: 7, Refused: true})}},
		"refused wrongly": {more: history.Register{op(1, 1010, 1020, history.Write{Over: 100, Refused: true})},
			want: `client 3, 996ms to 999ms: read version 100
client 2, 1.01s to 1.02s: set over version 100, refused`},
		"a stale read": {more: history.Register{
			op(0, 1000, 1005, history.Write{Over: 100, Version: 101}), op(1, 1010, 1020, history.Read{Version: 100})},
			want: `client 1, 1s to 1.005s: set over version 100, which made version 101
client 2, 1.01s to 1.02s: read version 100`},
		"an acknowledged write that is lost": {more: history.Register{
			op(0, 1000, 1005, history.Write{Over: history.AnyVersion, Version: 101}), op(1, 1010, 1020, history.Write{Over: history.AnyVersion, Version: 101})},
			want: `client 1, 1s to 1.005s: set, which made version 101
client 2, 1.01s to 1.02s: set, which made version 101`},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, why := append(sets(100), c.more...).Check()
			if (verdict == history.Wrong) != (c.want != "") || why.String() != c.want {
				t.Errorf("verdict %v:\n%s\nwant\n%s", verdict, why, c.want)
			}
		})
	}
}

// TestRightHistoriesAreRight checks that a history is right whatever the order in which
// concurrent clients are served, and whichever operations are not answered.
func TestRightHistoriesAreRight(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		var r history.Register
		version := int64(0)
		for at := time.Duration(0); at < 1000; at += 3 {
			before, after := time.Duration(random.IntN(9)), time.Duration(random.IntN(9))
			version++
			write := op(random.IntN(8), at-before, at+after, history.Write{Over: history.AnyVersion, Version: version})
			if random.IntN(20) == 0 {
				write.What, write.Returned = history.Write{Over: history.AnyVersion}.Unanswered(), history.Never
			}
			r = append(r, write, op(9, at-before, at+after, history.Read{Version: version}))
		}
		random.Shuffle(len(r), func(i, j int) { r[i], r[j] = r[j], r[i] })
		if verdict, why := r.Check(); verdict != history.Right {
			t.Fatalf("seed %d: verdict %v\n%s", seed, verdict, why)
		}
		stale := slices.Clone(r)
		stale = append(stale, op(9, 1100, 1101, history.Read{Version: version - 20}))
		if verdict, why := stale.Check(); verdict != history.Wrong || len(why) > 3 {
			t.Fatalf("seed %d: a stale read: verdict %v, shown by %d operations\n%s", seed, verdict, len(why), why)
		}
	}
}
