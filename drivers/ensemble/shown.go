package ensemble

// Show takes note of the position that a reply had, to whichever session. One
// server needs no such note.
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

// Shown is the last position that any session has been shown on an ensemble. A
// server whose replies have got there has sent the notifications of all up to it.
//
// A sync is no proof of that where the server is the leader: it answers one as it
// answers a read, and others may have committed, and been acknowledged, what it has
// yet to apply itself.
func (e *Ensemble) Shown() int64 { return e.shown.Load() }

// CatchUp makes a sync, and again as long as the server has not got as far as some
// session had been [Ensemble.Shown] by then. The position is that of a sync's reply.
func (e *Ensemble) CatchUp(sync func() (position int64, err error)) error {
	shown := e.Shown()
	for {
		if position, err := sync(); err != nil || position >= shown {
			return err
		}
	}
}
