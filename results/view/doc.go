// Package view turns results into text for people: tables, findings, warnings and the command that
// repeats a run.
//
// [Of] returns the [View] of a result of any kind. WriteTable writes it for a terminal; Page returns
// its parts for other formats.
package view
