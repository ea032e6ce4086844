package drivers

// A CallError is an error of a call: what was attempted, the sentinel of the
// contract that it comes to, and the client library's own error. The latter two
// both match.
type CallError struct {
	Call     string // what was attempted: "create"
	Path     string
	Sentinel error // nil where the contract has none for it
	Cause    error
}

func (e *CallError) Error() string {
	why := e.Cause
	if e.Sentinel != nil {
		why = e.Sentinel
	}
	return e.Call + " " + e.Path + ": " + why.Error()
}

// Unwrap returns what matches.
func (e *CallError) Unwrap() []error {
	if e.Sentinel == nil {
		return []error{e.Cause}
	}
	return []error{e.Sentinel, e.Cause}
}
