// Package charts draws charts of results. It consists of pure functions from a result to a [Chart],
// which has a title that says what it shows, axes with units, and a description in words for readers
// who cannot see it.
//
// [Of] draws the charts of a result for which there are data. A chart becomes SVG with real text. Its
// colours are CSS variables: inside a page they follow the page's light or dark scheme, and a
// standalone file contains both. Shapes and dashes repeat everything that colours distinguish.
package charts
