package settled

import "testing"

func TestWhoNamesClientsInRanges(t *testing.T) {
	for _, c := range []struct {
		clients []int
		want    string
	}{
		{[]int{1}, "2"},
		{[]int{1, 2}, "2, 3"},
		{[]int{2, 3, 4, 5}, "3–6"},
		{[]int{0, 2, 3, 4, 8, 9}, "1, 3–5, 9, 10"},
	} {
		if got := (Action{Clients: c.clients}).Who(); got != c.want {
			t.Errorf("%v is %q, want %q", c.clients, got, c.want)
		}
	}
}
