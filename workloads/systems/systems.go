package systems

import "slices"

// A System is one use of a form by a system or a client library.
type System struct {
	Name         string // "kafka-controller", which is also an alias of the form
	Product      string // "Apache Kafka, controller"
	Recipe, Form string // the form of the catalogue that works alike
	Source       Source
	Does         string // what the source does, in one sentence without a full stop
	// Differs says which calls the source sends besides those of the form, or omits; "" if none.
	Differs string
	Members string // how many members take part in practice
	Usual   int    // the most members in a usual installation; 0 if there is no such limit
	Newest  string // whether the newest version does the same: "yes" or "no", and which one was read, or "n/a"
	// Emulated is set if the system does not use ZooKeeper or etcd, so that the form only
	// imitates what it does on its own service.
	Emulated bool
}

// A Source is the place in the source code that a row was read from.
type Source struct {
	Repository string // on GitHub, "apache/kafka"
	Path       string
	At         string // a line or a method
	Commit     string // 40 hexadecimal digits
}

// URL returns the address of the file as it was read.
func (s Source) URL() string {
	return "https://github.com/" + s.Repository + "/blob/" + s.Commit + "/" + s.Path
}

// All returns all systems: elections first, then locks, then all others.
func All() []System { return slices.Concat(elections(), locks(), others()) }

// Find returns the system with the name.
func Find(name string) (System, bool) {
	all := All()
	i := slices.IndexFunc(all, func(s System) bool { return s.Name == name })
	if i < 0 {
		return System{}, false
	}
	return all[i], true
}

// Names returns the names of the systems that use a form of the recipe.
func Names(recipe string) (names []string) {
	for _, s := range All() {
		if s.Recipe == recipe {
			names = append(names, s.Name)
		}
	}
	return names
}
