package results

import ()

// Cost counts what crossed the wire in the window.
type Cost struct {
	Totals
	ReadWriteRatio *float64  `json:"read_write_ratio"` // null without writes
	PerRound       *PerRound `json:"per_round"`        // null without rounds
	// Whole are the same counts over all rounds of the run from first to last,
	// warm-up included: identities hold for whole rounds only.
	Whole       Totals `json:"whole"`
	WholeRounds int64  `json:"whole_rounds"`
	// Expected is what the cost model predicts for any schedule; null if the form
	// has no model or the run was disturbed. For the cost of a form at rest see
	// CountReport.
	Expected *Expected `json:"expected"`
}

// Totals are counts on the wire.
type Totals struct {
	Notifications int64 `json:"notifications"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`        // failed ones included
	FailedWrites  int64 `json:"failed_writes"` // those whose reply was an error
	RPCs          int64 `json:"rpcs"`          // requests of every kind but heartbeats
	BytesIn       int64 `json:"bytes_in"`
	BytesOut      int64 `json:"bytes_out"`
}

// PerRound is Totals divided by the rounds.
type PerRound struct {
	Notifications float64 `json:"notifications"`
	Reads         float64 `json:"reads"`
	Writes        float64 `json:"writes"`
	FailedWrites  float64 `json:"failed_writes"`
	RPCs          float64 `json:"rpcs"`
	BytesIn       float64 `json:"bytes_in"`
	BytesOut      float64 `json:"bytes_out"`
}

// Expected has the identities that must hold for Whole.
type Expected struct {
	Identities []Identity `json:"identities"`
	// NotificationsPerRound is what a round costs at rest with all clients there;
	// left out where the model does not determine it.
	NotificationsPerRound *float64 `json:"notifications_per_round,omitempty"`
	// Invalid is the code of the warning that says why the identities prove nothing; Identities is empty then.
	Invalid string `json:"invalid,omitempty"`
}

// An Identity is something that holds of a form's counts under any schedule.
type Identity struct {
	Formula string `json:"formula"`
	Left    int64  `json:"left"`
	Right   int64  `json:"right"`
	Holds   bool   `json:"holds"`
	// Fixes is the figure whose value the identity fixes, whatever the schedule; left out if the
	// identity only relates counts.
	Fixes string `json:"fixes,omitempty"`
}
