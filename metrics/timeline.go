package metrics

import "time"

// A Timeline shows the load around the triggers of the window (the writes that caused
// notifications): the operations and notifications of all sessions in bins of time, summed over
// the triggers. Time zero is the first notification of a trigger.
//
// Where triggers follow each other faster than the length of a line, lines overlap, and an
// event counts for each trigger whose line covers it, not only for the latest. So a bin divided
// by the number of triggers is always the load at that distance from a trigger, and a service
// under steady load has a flat line at the level of that load. If events counted for the latest
// trigger alone, the line would end at the next trigger and show the distance between triggers
// instead.
//
// A trigger whose line does not end within the window is left out, since the load ends with the
// window. Load counts from the run's first request for a watch. Edges of bins are accurate to a
// quarter of the bin width.
type Timeline struct {
	Bin      time.Duration // the width of a bin
	From     time.Duration // where the first bin begins
	Triggers int64
	// By bin, summed over the triggers. Operations count at the time of the request.
	Notifications, Reads, Writes [TimelineBins]int64
}

// TimelineBins is the number of bins of a timeline.
const TimelineBins = 100

// The default width of bins, and the limits of the width.
const (
	DefaultBin  = time.Millisecond
	ShortestBin = 10 * time.Microsecond
	LongestBin  = 10 * time.Millisecond
)
