package results

// A Reference has published figures of the same procedure, to compare with those of
// a file.
type Reference struct {
	Source string `json:"source"`
	// Figure names the quantity: "seconds" of a run, "rounds/s", or of a mix
	// "creates/s".
	Figure string `json:"figure"`
	// Across names what differs between columns: "clients", or "scenarios".
	Across  string         `json:"across"`
	Columns []string       `json:"columns"` // numbers of clients, or names of scenarios
	Rows    []ReferenceRow `json:"rows"`
	// Differs lists, a line each, how the procedure or the machines differ.
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
