package catalog

import (
	"reflect"
	"testing"

	"github.com/stampede-bench/stampede/workloads"
)

// TestNoWorkloadKeepsSettings checks that no workload keeps the settings that it is made
// with: otherwise it could use a setting that its form does not declare.
func TestNoWorkloadKeepsSettings(t *testing.T) {
	settings := reflect.TypeFor[workloads.Settings]()
	for _, f := range Forms() {
		w := reflect.TypeOf(f.New(workloads.Settings{}))
		if holds(w, settings, map[reflect.Type]bool{}) {
			t.Errorf("%v: a %v has a field of workloads.Settings", f, w)
		}
	}
	if !holds(reflect.TypeFor[*struct{ inner []workloads.Plan }](), settings, map[reflect.Type]bool{}) {
		t.Error("settings in a field are not found")
	}
}

// holds reports whether values of type t contain a value of type what, at any depth.
func holds(t, what reflect.Type, seen map[reflect.Type]bool) bool {
	if t == what {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return holds(t.Elem(), what, seen)
	case reflect.Map:
		return holds(t.Key(), what, seen) || holds(t.Elem(), what, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holds(t.Field(i).Type, what, seen) {
				return true
			}
		}
	}
	return false
}
