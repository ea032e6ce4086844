package etcd

import (
	"context"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// progressEvery is the time after which an unanswered progress request is repeated. The server
// does not answer while a watch lags behind.
const progressEvery = 10 * time.Millisecond

// advance waits until a stream has made progress, or until it is time to ask again.
func advance(ctx context.Context, advanced, done <-chan struct{}) error {
	again := time.NewTimer(progressEvery)
	defer again.Stop()
	select {
	case <-advanced:
	case <-again.C:
	case <-done:
		return drivers.ErrSessionLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// flush waits until all events up to a revision have been delivered to the session's watches.
func (s *watcher) flush(ctx context.Context, revision int64, done <-chan struct{}) error {
	for {
		s.mu.Lock()
		reached, advanced := s.progress >= revision && s.rereads == 0, s.advanced
		if !reached && s.stream != nil {
			s.stream.progress()
		}
		s.mu.Unlock()
		if reached {
			return nil
		}
		if err := advance(ctx, advanced, done); err != nil {
			return err
		}
	}
}

// flush waits until all events up to a revision have been delivered to the libraries that
// watch through streams of their own.
func (t *tap) flush(ctx context.Context, revision int64, done <-chan struct{}) error {
	for {
		t.mu.Lock()
		var behind []*libraryStream
		for s, reached := range t.libraryStreams {
			if reached < revision {
				behind = append(behind, s)
			}
		}
		advanced := t.advanced
		t.mu.Unlock()
		behind = slices.DeleteFunc(behind, func(s *libraryStream) bool { return s.beyond(revision) })
		if len(behind) == 0 {
			return nil
		}
		for _, s := range behind {
			s.progress()
		}
		if err := advance(ctx, advanced, done); err != nil {
			return err
		}
	}
}

// watches registers a library's stream that has watches.
func (t *tap) watches(s *libraryStream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.libraryStreams[s]; !known {
		t.libraryStreams[s] = 0
	}
}

// reached records that the stream has delivered all events up to a revision.
func (t *tap) reached(s *libraryStream, revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.libraryStreams[s] = revision
	t.advance()
}

// ended unregisters a stream that delivers nothing more.
func (t *tap) ended(s *libraryStream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.libraryStreams, s)
	t.advance()
}

func (t *tap) advance() {
	close(t.advanced)
	t.advanced = make(chan struct{})
}
