package ensemble

// Show records the position of a reply to any session. It does nothing for a single server.
func (e *Ensemble) Show(position int64) {
	if len(e.Servers) == 1 {
		return
	}
	for {
		shown := e.shown.Load()
		if position <= shown || e.shown.CompareAndSwap(shown, position) {
			return
		}
	}
}

// Shown returns the last position that the replies to any session have shown. A server whose
// replies have reached a position has sent the notifications for all writes up to it.
//
// A sync does not guarantee that if the server is the leader. The leader answers a sync as it
// answers a read, and may not yet have applied writes that other servers have committed and
// acknowledged.
func (e *Ensemble) Shown() int64 { return e.shown.Load() }

// CatchUp makes a sync, and repeats it until the server has reached what [Ensemble.Shown]
// returned at the start. The position is that of the reply to the sync.
func (e *Ensemble) CatchUp(sync func() (position int64, err error)) error {
	shown := e.Shown()
	for {
		if position, err := sync(); err != nil || position >= shown {
			return err
		}
	}
}
