package check

import "github.com/stampede-bench/stampede/metrics"

// JudgeUpdates finds updates that clients of several processes saw before they were made, by their steps.
func JudgeUpdates(steps []TimedStep) (s metrics.Safety) {
	type update struct{ value, number int64 }
	made := map[update]bool{}
	v := Visibility{}
	for _, step := range Ordered(steps) {
		switch of := (update{step.Value, step.Turn}); {
		case step.Kind == Updating:
			made[of] = true
		case step.Kind == Saw && step.Turn > 0 && !made[of]:
			v.addViolation("client %d saw \"%d\", which was never written", step.Client+1, step.Turn)
		}
	}
	return v.safety
}
