// Package figures is what a run measured as single numbers that have a name, so
// that people can ask for one: "acquire.response.p99", "notifications_per_round".
//
// [Parse] finds a [Figure] by its name, or says which name is nearest; [All] are
// those that a run with such phases can have. A Figure tells its value of a run,
// its unit, which direction is better, and whether it depends on how fast the
// machine is.
// [ParseBound] reads what is asked of one, "acquire.response.p99<50ms".
package figures
