// Package greeting tells from the first bytes that a server sends on a connection whether it speaks the protocol that
// the client expects, and what it speaks if not.
package greeting
