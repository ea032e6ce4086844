// Package levels analyses runs at several levels, such as numbers of clients: medians over the
// repetitions of a level ([Across]), and along the levels of a [results.Sweep] the growth of costs,
// scalability, crossovers and limits ([Analyse]).
package levels
