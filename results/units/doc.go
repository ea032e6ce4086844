// Package units formats numbers with their units for people, with three significant digits:
// "1.25 ms", "4 350", "99 %".
package units
