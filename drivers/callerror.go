package drivers

// A CallError is the error of a call. It has what was attempted, the sentinel of the
// contract that the error stands for, and the client library's own error. Both errors
// match with errors.Is.
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

// Unwrap returns the sentinel, if there is one, and the cause.
func (e *CallError) Unwrap() []error {
	if e.Sentinel == nil {
		return []error{e.Cause}
	}
	return []error{e.Sentinel, e.Cause}
}
