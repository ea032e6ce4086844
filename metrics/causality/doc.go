// Package causality assigns requests and notifications to events. An event is one cause with all that
// follows, over all paths: a change, or the end of a session, that no session made because it had been
// woken; the sessions that it wakes; what these ask and change until they are at rest; whom that wakes,
// and so on.
package causality
