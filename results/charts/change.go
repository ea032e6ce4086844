package charts

import (
	"fmt"
	"strings"
)

// A Growth is how the notifications of one change grow with the members, in systems that share it.
type Growth struct {
	Name          string // short enough for the end of a line
	Systems       []string
	Members       []int
	Notifications []float64
}

// ChangeAgainstMembers draws the notifications of one change against the members, one line for each
// growth. A growth without notifications has no place on the axis; the description names its systems.
func ChangeAgainstMembers(all []Growth) File {
	p := panel{height: tall}
	var about, none []string
	for _, g := range all {
		i := len(p.lines)
		l := line{name: g.Name, look: nth(i, colours()[i%len(colours())]), joined: true, marked: true}
		for j, v := range g.Notifications {
			if v > 0 {
				l.at = append(l.at, point{x: float64(g.Members[j]), y: v})
			}
		}
		systems := strings.Join(g.Systems, ", ")
		if len(l.at) == 0 {
			none = append(none, systems)
			continue
		}
		p.lines = append(p.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s: %s notifications with %s members", systems, number(p.y), number(p.x))
		}))
		last := l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s with %s members", systems, number(last.y), number(last.x)))
	}
	p.x = exactly("members", valuesOf(p.lines, func(p point) float64 { return p.x }), number)
	p.y = topped("notifications of one change", valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := Chart{Name: "systems", Title: "Notifications of one change against members", panels: []panel{p}}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	if len(none) > 0 {
		c.About += " Without notifications: " + strings.Join(none, ", ") + "."
	}
	return File{c.Name + ".svg", c.alone()}
}
