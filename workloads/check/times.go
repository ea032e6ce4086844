package check

import "time"

// A Time is how long something took that began in one process and ended in another.
type Time struct {
	Phase             string
	Service, Response time.Duration
	At                time.Duration // when it ended
	Error             time.Duration // how far it can be wrong, by the error of the clocks
}

// A beginning is a phase of a turn, or of an item.
type beginning struct {
	phase string
	turn  int64
}

// TimesOf returns the times that ended in the window: those of Reached steps from the step Began of their
// phase and turn, and those of Timed steps, whose response time counts from the step Due of their turn. In an
// open loop times of turns that were due in the window may end later.
func TimesOf(steps []TimedStep, w Window, open bool) (all []Time) {
	began, due := map[beginning]TimedStep{}, map[int64]TimedStep{}
	for _, s := range steps {
		switch s.Kind {
		case Began:
			if key := (beginning{s.Name, s.Turn}); began[key].Kind == 0 {
				began[key] = s
			}
		case Due:
			due[s.Turn] = s
		}
	}
	for _, s := range steps {
		var t Time
		var known bool
		from := due[s.Turn].Middle()
		switch s.Kind {
		case Reached:
			t, from, known = s.reached(began[beginning{s.Name, s.Turn}], due[s.Turn])
		case Timed:
			t, known = s.timed(due[s.Turn])
		}
		if known && s.Middle() >= w.Begin && (s.Middle() <= w.End || open && from <= w.End) {
			all = append(all, t)
		}
	}
	return all
}

// reached returns the time since a beginning, and when that was due. It is unknown if the step came before
// it: what the client saw was something else then.
func (s TimedStep) reached(began, due TimedStep) (t Time, from time.Duration, known bool) {
	took, wrong := s.Middle()-began.Middle(), s.Error()+began.Error()
	if began.Kind == 0 || took < -wrong {
		return t, 0, false
	}
	took = max(took, 0)
	response, from := took+began.Lag, began.Middle()-began.Lag
	if due.Kind != 0 {
		response, from, wrong = max(s.Middle()-due.Middle(), took), due.Middle(), max(wrong, s.Error()+due.Error())
	}
	return Time{s.Name, took, response, s.Middle(), wrong}, from, true
}

// timed returns the time that ended with the step, and began in the same process.
func (s TimedStep) timed(due TimedStep) (t Time, known bool) {
	if due.Kind == 0 {
		return t, false
	}
	return Time{s.Name, s.Lag, max(s.Middle()-due.Middle(), s.Lag), s.Middle(), s.Error() + due.Error()}, true
}
