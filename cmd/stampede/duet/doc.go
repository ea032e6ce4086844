// Package duet runs two stampede processes, the sides of a duet, in the same seconds and on disjoint
// halves of the machine's processors.
//
// What disturbs a shared machine for a second disturbs both sides of a duet in that second, so it
// cancels in the difference between them, while two runs by turns meet different seconds. The design
// is that of Bulej et al., "Duet Benchmarking" (arXiv 2001.05811), for services: each side is a
// process of its own with a server of its own.
//
// One pair of runs goes as follows.
//
//  1. The parent starts both sides with [Start], each restricted to one half of the processors. All
//     threads and processes that a side starts, such as its server, inherit the restriction.
//  2. Each side warms up, reports that it is ready, and goes on with its load.
//  3. When both are ready the parent releases both. Each opens its window, measures for the same
//     duration, and reports when its window opened.
//  4. In the middle of the windows the parent exchanges the halves with [Move], so that a processor
//     that is faster than the other favours neither side. Which side begins on which half is drawn
//     from the seed.
//
// A side is a process and not a goroutine, since the Go runtime moves goroutines between threads:
// only a process can be kept off the processors of the other side, with its garbage collector.
//
// A side waits at its [Gate], which reads a pipe that only the parent holds open. If the parent ends,
// the side ends as if it had been interrupted.
package duet
