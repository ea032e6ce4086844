package stats

import "testing"

func TestMeanIsSpeltLikeZooKeepers(t *testing.T) {
	for _, c := range []struct {
		t    Tally
		want string
	}{
		{Tally{}, "0.0"},
		{Tally{Count: 4, Sum: 8}, "2.0"},
		{Tally{Count: 13, Sum: 14}, "1.0769"},
		{Tally{Count: 10, Sum: 11}, "1.1"},
	} {
		if got := c.t.Mean(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.t, got, c.want)
		}
	}
}
