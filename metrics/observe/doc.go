// Package observe describes the traffic of other programs: which writes wake how many sessions,
// and what these do next.
//
// An [Analysis] is a traffic.Observer. It follows each session, and adds what it does to the path
// patterns, which recognise the recipe and its form: see [pattern.Table]. What it keeps is bounded; what is beyond the
// bounds is counted in a row for the other patterns.
package observe
