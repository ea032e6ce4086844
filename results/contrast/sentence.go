package contrast

import (
	"fmt"
	"math"
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// Sentence compares the herds of two forms. The runs are all of the recipe.
func Sentence(naive, calm results.Run, runs []results.Run) string {
	if h := levels.HerdOf(naive); !h.Wakes() {
		return taken(h, naive, calm, runs)
	}
	return woken(naive, calm, runs)
}

// Alone says the herd of one run where there is no other form to compare it with.
func Alone(r results.Run) string {
	where := fmt.Sprintf("With %s a %s", levels.Crowd(r), levels.Event(r.Recipe))
	if h := levels.HerdOf(r); !h.Wakes() {
		n, _ := h.Figure.RunValue(r)
		return fmt.Sprintf("%s takes %s in %s/%s%s.", where, h.Count(n), r.Recipe, r.Form, h.Refused(r))
	}
	return fmt.Sprintf("%s wakes %s in %s/%s%s.", where, wakeUpsOf(r), r.Recipe, r.Form, waiting(r))
}

// taken compares how much of the herd's figure a round of each form takes.
func taken(h levels.Herd, naive, calm results.Run, runs []results.Run) string {
	many, _ := h.Figure.RunValue(naive)
	few, _ := h.Figure.RunValue(calm)
	herd, form := Called(naive, runs), Called(calm, runs)
	who := fmt.Sprintf("With %s a %s takes", levels.Crowd(naive), levels.Event(naive.Recipe))
	switch {
	case units.Rounded(many) == units.Rounded(few):
		return fmt.Sprintf("%s as many %s in %s as in %s: %s. No herd here.", who, h.Name, herd, form, units.Short(many))
	case many < few:
		return fmt.Sprintf("%s fewer %s in %s than in %s: %s against %s.", who, h.Name, herd, form, units.Short(many), units.Short(few))
	}
	return fmt.Sprintf("%s %s in %s and %s in %s%s.", who, h.Count(many), herd, units.Short(few), form, h.Refused(naive))
}

// woken compares how many clients a round of each form wakes.
func woken(naive, calm results.Run, runs []results.Run) string {
	many, few := wakeUpsOf(naive), wakeUpsOf(calm)
	herd, form := Called(naive, runs), Called(calm, runs)
	who := fmt.Sprintf("With %s a %s wakes", levels.Crowd(naive), levels.Event(naive.Recipe))
	switch {
	case many.clients == 0 && few.clients > 0:
		return fmt.Sprintf("%s no client in %s, which does not wait to be woken, and %s in %s.", who, herd, few, form)
	case many == few:
		return fmt.Sprintf("%s as many in %s as in %s: %s. No herd here.", who, herd, form, many)
	case many.clients < few.clients:
		return fmt.Sprintf("%s fewer in %s than in %s: %s against %s.", who, herd, form, many, few)
	}
	return fmt.Sprintf("%s %s in %s and %s in %s%s.", who, many, herd, few, form, waiting(naive))
}

// A wakeUps is how many clients a round of a run wakes, and by how many notifications, as they are shown.
type wakeUps struct{ clients, notifications float64 }

func wakeUpsOf(r results.Run) wakeUps {
	clients, _ := levels.Woken(r)
	return wakeUps{units.Rounded(clients), units.Rounded(r.Cost.PerRound.Notifications)}
}

// String returns the number of clients, and that of the notifications if some clients are woken by several.
func (w wakeUps) String() string {
	if w.several() {
		return fmt.Sprintf("%s (%s notifications)", units.Short(w.clients), units.Short(w.notifications))
	}
	return units.Short(w.clients)
}

func (w wakeUps) several() bool { return w.clients != w.notifications }

// waiting says how many of the clients that the naive form wakes wait again, or after how many of its notifications
// they do.
func waiting(r results.Run) string {
	woken := r.Herd.Useful + r.Herd.Wasted
	n := r.Cost.PerRound.Notifications
	if woken == 0 || n < 1.5 {
		return ""
	}
	again := n * float64(r.Herd.Wasted) / float64(woken)
	if units.Rounded(again) == 0 {
		return ""
	}
	if units.Rounded(again) == units.Rounded(n) && r.Herd.Useful > 0 {
		again = math.Floor(again) // not all: some clients proceeded
	}
	if wakeUpsOf(r).several() {
		return fmt.Sprintf("; after %s of the %s notifications a client waits again", units.Short(again), units.Short(n))
	}
	return fmt.Sprintf("; %s of the %s wait again", units.Short(again), units.Short(n))
}

// Called returns the name of a run's form in a sentence: what the runs show of it, followed by the form's name where
// they have several forms of its family.
func Called(r results.Run, runs []results.Run) string {
	kind := levels.KindOf(r, runs)
	if kind == "" {
		return "the form " + r.Form
	}
	var name string
	kin := slices.DeleteFunc(slices.Clone(runs), func(o results.Run) bool { return o.Family != r.Family })
	if len(levels.Distinct(kin, func(o results.Run) string { return o.Form })) > 1 {
		name = " " + r.Form
	}
	switch r.Family {
	case "library":
		return "the library's " + r.Form
	case "load":
		return "the " + r.Recipe
	}
	return "the " + kind + " form" + name
}
