package ensemble

import (
	"context"
	"strings"
	"time"
)

// Serves returns when the server of the configuration accepts sessions, which requires that its
// ensemble has a leader and that the server has found it. The server must keep its data in dir,
// which another server on the same port would not.
func Serves(ctx context.Context, c Config, dir string) error {
	e, err := New(c)
	if err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !e.keepsDataIn(ctx, dir) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// keepsDataIn reports whether the server keeps its data in dir. Its timeout is short: a server
// that is starting never answers some of the words that arrive just then, but answers later
// ones.
func (e *Ensemble) keepsDataIn(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	conf, err := e.Word(ctx, e.Servers[0], "conf")
	return err == nil && strings.Contains(conf, "dataDir="+dir)
}
