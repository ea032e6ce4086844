// Package observe describes the traffic of other programs: which writes wake how many sessions,
// what these do next, and recognizes the recipe and its form.
//
// An [Analysis] is a traffic.Observer. It adds up by path pattern: names that differ only in
// numbers and random identifiers are one pattern. What it keeps is bounded; what is beyond the
// bounds is counted in a row for the other patterns.
package observe
