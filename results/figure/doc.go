// Package figure has the one table of figures: the numbers with names by which users select them, such as
// "acquire.response.p99" or "notifications_per_round".
//
// A [Figure] says what is to be known of a number: its unit, which direction is better, over what it is
// computed, whether a formula fixes it, how parts of a run add up, how it is exported, and how it is
// taken from a run, a count, an observed path or a whole observation. [All] returns the figures of runs,
// [Counts], [Paths] and [Observations] those of the other results, and [Parse] finds one by its name or
// suggests the nearest one. [ParseBound] parses a condition on a figure: "acquire.response.p99<50ms".
// [Figure.Read] is what a run says about a figure, doubts included, and [Op.Judge] decides by it.
package figure
