package drivers

import "context"

// A LibraryLock is the lock that a client library ships, behind the methods of
// the lock recipe's forms. One is held at most once at a time.
type LibraryLock interface {
	// Acquire blocks until the lock is held; held ends when it is released or
	// the session is lost.
	Acquire(ctx context.Context) (held context.Context, err error)
	// Token is the fencing token of the lock that is held, or [NoSeq].
	Token() int64
	// Release gives the lock up. One that is not held is harmless.
	Release(ctx context.Context) error
}

// A LibraryLocker is a Conn whose client library ships a lock.
type LibraryLocker interface {
	// NewLibraryLock returns the library's lock on a path. A Conn has at most
	// one per path.
	NewLibraryLock(path string) LibraryLock
}
