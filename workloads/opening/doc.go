// Package opening opens the sessions of a run: it bounds the wait for each, and says how many are open where a service
// opens no more.
package opening
