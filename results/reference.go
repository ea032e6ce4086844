package results

// A Reference is somebody else's figures of the same procedure, to set beside
// those of a file.
type Reference struct {
	Source string `json:"source"`
	// Figure is what they are: "seconds" of a run, "rounds/s", or of a mix
	// "creates/s".
	Figure string `json:"figure"`
	// Across is what differs from column to column: "clients", or "scenarios".
	Across  string         `json:"across"`
	Columns []string       `json:"columns"` // numbers of clients, or names of scenarios
	Rows    []ReferenceRow `json:"rows"`
	// Differs says, a line each, what of the procedure or the rig is not the same.
	Differs []string `json:"differs"`
}

// A ReferenceRow is one figure for each column.
type ReferenceRow struct {
	Label   string    `json:"label"` // a scenario's name where its runs belong beside it
	Figures []float64 `json:"figures"`
}

// Figures returns the valid values of a Reference's Figure.
func Figures() []string { return []string{Seconds, RoundsPerS, CreatesPerS} }

// Across returns the valid values of a Reference's Across.
func Across() []string { return []string{AcrossClients, AcrossScenarios} }

// These are the values of a Reference's Figure and Across.
const (
	Seconds         = "seconds"
	RoundsPerS      = "rounds/s"
	CreatesPerS     = "creates/s"
	AcrossClients   = "clients"
	AcrossScenarios = "scenarios"
)
