// Package cluster starts the servers of one service as processes on this machine. Each server can be
// stopped, killed, isolated and restored on its own.
//
// [Start] starts the members of an [Ensemble], each in the role of its [Kind] with its [Place] as
// the argument, and returns when all of them serve. Their files are in one directory. A separate
// process in the role of [Keep] creates the directory and removes it when the last member has
// ended. So no files are left if this process or a member is killed, or a member is stopped.
package cluster
