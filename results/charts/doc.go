// Package charts is pictures of results: pure functions from what was measured to
// a [Chart], each of which has a title that says what it shows, axes with units,
// and its content in a sentence or two for whoever cannot see it.
//
// [Of] draws of a result what there are data for. A chart becomes SVG in which
// text is text. Its colours are CSS variables: inside a page they follow the page's
// light or dark scheme, and a file of its own brings both. What a colour says, a
// shape or the dashes of a line say too.
package charts
