package metrics

// A Warning is something that a reader of a run's figures must know, as data: package results makes
// the sentence. Warnings that make the figures unusable are also listed in Record.Doubts.
type Warning struct {
	Code    string // identifies the warning for programs: one of the constants
	Numbers Numbers
	Names   Names
}

// Numbers are the numbers of a warning, by name. A name says the unit: times end in "_ns", processors
// in "_cores", and shares in "_share".
type Numbers map[string]float64

// Names are what a warning is about, such as a phase, a load or a side of a comparison.
type Names map[string]string

// The codes of a run's warnings. Programs rely on them: a code is never renamed or reused for
// something else. A code for a machine or a generator short of processor time begins with
// "cpu".
const (
	ClientBound = "cpu-client-bound" // the generator kept the machine busy
	Shared      = "cpu-shared"       // the generator and the servers it started kept the machine busy together
	Others      = "cpu-others"       // other programs used processor time that the generator was short of
	Starved     = "cpu-starved"      // the load generator was short of CPU: its timers fired late
	Stolen      = "cpu-stolen"       // other machines on the same hardware took processor time

	Skipped    = "skipped"     // arrivals that were never started, which count as infinitely late
	Unfinished = "unfinished"  // arrivals that were started and not finished, which count as infinitely late
	Failed     = "failed"      // arrivals that failed with their session, which count as infinitely late
	Behind     = "behind"      // fewer rounds ended than arrived
	LittlesLaw = "littles-law" // the turns that ended do not represent all turns
	// Interrupted: the run was interrupted before half of its window, or before the window opened.
	Interrupted = "interrupted"
	Abandoned   = "abandoned"  // rounds were cut off: identities are not checked; a doubt where they did not end in time
	Bystanders  = "bystanders" // the background load skipped arrivals, or had work unfinished at the end

	Disconnected = "disconnected" // sessions were disconnected
	Stalled      = "stalled"      // for a long time no round, or no operation of one kind, ended
	ServiceLost  = "service-lost" // the service was gone for longer than its sessions live: the run ended

	FormFailed = "form-failed" // an error of the form ended the run

	PreloadLost = "preload-lost" // sessions of the preload ended, and with them their watches
	NodesRemain = "nodes-remain" // the run's nodes could not be removed
	// Unreached: some of the given servers accepted no connection, so that all sessions were on the others.
	Unreached = "servers-unreached"

	AgentLost = "agent-lost" // an agent was lost: what its sessions did is in no count

	NotWarm                = "not-warm"                 // throughput was still rising when the window opened
	BackgroundSessionsLost = "background-sessions-lost" // the background load lost sessions
)

// A Distortion is what the cause of a warning does to the measured times of a run.
type Distortion int

// The distortions.
const (
	Unknown  Distortion = iota // times can be wrong either way, or do not represent the run
	TooLong                    // the true times are at most as long as the measured ones
	Unserved                   // some work has no time
)

// DistortionOf returns the distortion by the cause of warnings with the code.
func DistortionOf(code string) Distortion {
	switch code {
	case ClientBound, Shared, Others, Starved, Stolen:
		return TooLong
	case Skipped, Unfinished, Failed:
		return Unserved
	}
	return Unknown
}
