// Package local is the servers that a run starts for one service: processes of
// their own on this machine, which can be broken and mended one by one.
//
// [Start] starts the members of an [Ensemble], each in the role of its [Kind] and
// told its [Place], and returns when all of them serve. What they keep is in one
// directory, which another process makes and, when the last of them is gone,
// removes: in the role of [Keep]. So nothing is left where this process is killed,
// nor where a member is, or is stopped.
package local
