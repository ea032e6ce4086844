package results

// An Incident is a public report of a failure, which a scenario file shows in small: its scenario "symptom" shows
// it, and its scenario "fixed" does the same work in a form that avoids it.
type Incident struct {
	Happened string `json:"happened"` // what happened, in our words
	Source   string `json:"source"`   // the URL of the report
	Reported string `json:"reported"` // figures of the report
	// Symptom is a threshold that the runs of one scenario meet, and those of the other do not.
	Symptom string `json:"symptom"`
	// Shows says what the threshold's figure is, in a clause that has {} in place of it: "a release wakes {} clients".
	Shows string `json:"shows"`
	Fixed string `json:"fixed"` // how the other form avoids it
	// Reproduced has the versions of servers on which the symptom was seen, and not in the fixed form.
	Reproduced []string `json:"reproduced"`
}

// The scenarios of a file with an incident.
const (
	SymptomScenario = "symptom"
	FixedScenario   = "fixed"
)
