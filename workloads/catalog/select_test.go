package catalog_test

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/workloads/catalog"
)

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		name           string
		recipes, forms string
		want           string
	}{
		{"nothing means the lock's twins", "", "", "predecessor one-node"},
		{"a name", "lock", "poll", "poll!"},
		{"names come in the table's order", "lock", "poll,predecessor", "predecessor! poll!"},
		{"a family", "lock", "naive", "one-node children-watch poll"},
		{"a family and a name of it", "lock", "naive,poll", "one-node children-watch poll!"},
		{"a form of a load by its name", "fanout", "persistent", "persistent!"},
		{"all forms of a load", "fanout", "all", "one-shot persistent"},
		{"a load by its name", "mix", "", "operations"},
		{"a load has no other form", "mix", "naive", "operations"},
		{"no recipe is a load", "all,group", "poll", "poll! poll! poll! poll!"},
		{"every recipe, and a load", "all,mix", "poll", "poll! poll! poll! poll! operations"},
		{"systems", "election", "solr-overseer,kafka-controller", "predecessor! one-node!"},
		{"all", "lock", "all", "predecessor one-node children-watch poll go-zookeeper concurrency"},
	} {
		t.Run(c.name, func(t *testing.T) {
			chosen, err := catalog.Select(catalog.Forms(), words(c.recipes), words(c.forms))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range chosen {
				name := f.Name
				if f.ByName {
					name += "!"
				}
				got = append(got, name)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("chose %s, want %s", s, c.want)
			}
		})
	}
}

func TestSelectNamesTheNearest(t *testing.T) {
	for _, c := range []struct{ recipes, forms, want string }{
		{"lok", "", `unknown recipe "lok": did you mean "lock"?`},
		{"lock/predecessor", "", `lock/predecessor: give the recipe alone, and its form as --form predecessor`},
		{"lock", "one_node", `unknown form of lock "one_node": did you mean "one-node"?`},
		{"election", "kafka-controler", `unknown form of election "kafka-controler": did you mean "kafka-controller"?`},
		{"lock", "kafka-controller", `kafka-controller uses a form of election, which is not among the recipes lock`},
		{"lock", "naiv", `unknown form of lock "naiv": did you mean "naive"?`},
	} {
		_, err := catalog.Select(catalog.Forms(), words(c.recipes), words(c.forms))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s, %s: %v; want %s", c.recipes, c.forms, err, c.want)
		}
	}
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
