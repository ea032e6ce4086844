// Package costmodel predicts the exact counts of each form of each recipe: notifications,
// reads, writes and the largest fan-out. Measured counts are compared with these
// predictions.
//
// The predictions assume one session per client, no faults, no client that cancels,
// and parent nodes that exist already. Opening and closing sessions is not counted.
//
// A [Model] has two parts. Settled is the exact cost of N clients that arrive one at
// a time and then release or leave one at a time, in the order in which they were
// served, where the system settles between any two steps. Where several clients
// race after one step, Settled is a lower and an upper bound. The identities hold
// under any schedule, so they can be checked in every run.
//
// The letters of the formulas:
//   - N: the clients; in an identity, the rounds, and C the clients
//   - K: the exists calls with a watch
//   - z: those of the K calls that found no node
//   - q: the polls of each waiting client per turn
//   - W and R: the writers and the readers among the N clients of a shared lock
//   - M: the items in a queue, or the names
//   - L: how often each client looks up each name, before the first update and after each
//   - U: the updates of what all clients follow
package costmodel
