package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Asked describes the background that was requested, "" if there is none.
func (b *Background) Asked() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%d clients at %g/s, %g reads, %d keys of %d B, %d watchers", b.Clients, b.RatePerS, b.ReadRatio.Asked, b.Keys, b.SizeBytes, b.Watchers)
}

// ClientLibrary is the name of the condition that forms of one run may differ in.
const ClientLibrary = "client library"

// traits returns the known properties of the service that can change figures.
func (b Backend) traits() map[string]string {
	all := map[string]string{"server": b.Server, "durability": b.Durability, ClientLibrary: b.Client, "consistency": b.Reads}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	all["start of the server"] = cmp.Or(b.Started, "given by its address")
	all["TLS"] = ""
	if b.TLS {
		all["TLS"] = "yes"
	}
	all["sessions only on"] = b.SessionsOn
	return all
}

// Conditions returns everything besides the form and the number of clients that can change the figures of a
// run, by name: its settings and the traits of its service.
func (r Run) Conditions() map[string]string {
	all := r.Backend.traits()
	maps.Copy(all, r.Settings)
	return all
}

// isOff reports whether a setting is that of a flag that does nothing. An older stampede, which has no such
// flag and records none, does the same.
func isOff(value string) bool {
	return slices.Contains([]string{"", "none", "0", "0s", "false"}, value)
}

// Key identifies the measurement that a run repeats: runs have the same key if nothing that can change a
// figure differs, except for the machine, the version of the server, and the given settings. A setting that
// is isOff is the same as one that is not recorded.
func (r Run) Key(without ...string) string {
	all := r.repeated()
	for _, name := range without {
		delete(all, name)
	}
	parts := []string{r.Scenario, r.Recipe, r.Form, r.Backend.Address(), strconv.Itoa(r.Clients)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !isOff(all[name]) {
			parts = append(parts, name+"="+all[name])
		}
	}
	return strings.Join(parts, "\x00")
}

// repeated returns the conditions that are the same in runs that repeat each other.
func (r Run) repeated() map[string]string {
	all := r.Conditions()
	delete(all, "server")
	return all
}

// A Difference is a condition that differs between the runs of base and candidate.
type Difference struct{ Name, Base, New string }

// notRecorded stands for a condition that a run does not record.
const notRecorded = "not recorded"

// Differences returns the conditions in which the runs of base and candidate differ, sorted by name. A
// setting that is off is the same as one that is not recorded.
func Differences(base, other []Run) (all []Difference) {
	values := [2]map[string][]string{valuesOf(base), valuesOf(other)}
	names := slices.AppendSeq(slices.Collect(maps.Keys(values[0])), maps.Keys(values[1]))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, is := values[0][name], values[1][name]
		isOn := func(value string) bool { return !isOff(value) }
		if !slices.Equal(was, is) && slices.ContainsFunc(slices.Concat(was, is), isOn) {
			all = append(all, Difference{name, cmp.Or(strings.Join(was, ", "), notRecorded), cmp.Or(strings.Join(is, ", "), notRecorded)})
		}
	}
	return all
}

// valuesOf returns the different values of each condition, sorted.
func valuesOf(runs []Run) map[string][]string {
	all := map[string][]string{}
	for _, r := range runs {
		for name, value := range r.Conditions() {
			value = cmp.Or(value, "none")
			if at, found := slices.BinarySearch(all[name], value); !found {
				all[name] = slices.Insert(all[name], at, value)
			}
		}
	}
	return all
}

// Namer returns a function that names what runs measured: the recipe, the form, the service and the number of
// clients, and the conditions in which runs of one group differ that would otherwise have the same name. A
// condition that differs only between groups is not part of a name. Service names the service of a run.
func Namer(service func(Backend) string, groups ...[]Run) func(Run) string {
	short := func(r Run) string {
		text := fmt.Sprintf("%s/%s on %s, %d clients", r.Recipe, r.Form, service(r.Backend), r.Clients)
		if r.Scenario != "" {
			text = r.Scenario + ": " + text
		}
		return text
	}
	vary := map[string][]string{} // settings, by short name
	for _, runs := range groups {
		first := map[string]map[string]string{}
		for _, r := range runs {
			name, conditions := short(r), r.repeated()
			if first[name] == nil {
				first[name] = conditions
			}
			for _, all := range []map[string]string{first[name], conditions} { // either may lack a setting
				for setting := range all {
					was, is := first[name][setting], conditions[setting]
					if was != is && !(isOff(was) && isOff(is)) {
						vary[name] = append(vary[name], setting)
					}
				}
			}
		}
	}
	for name, settings := range vary {
		slices.Sort(settings)
		vary[name] = slices.Compact(settings)
	}
	return func(r Run) string {
		name, conditions := short(r), r.repeated()
		text := name
		for _, setting := range vary[name] {
			value, set := conditions[setting]
			if !set {
				value = notRecorded
			}
			text += fmt.Sprintf(", %s %s", setting, cmp.Or(value, "none"))
		}
		return text
	}
}
