package faults_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
)

// A parsed fault is printed in the same form, or the shortest one.
func TestParse(t *testing.T) {
	for given, want := range map[string]string{
		"at=10s kill leader, restart after=5s":                        "at=10s kill leader for=5s",
		"at=10s kill leader for=5s":                                   "at=10s kill leader for=5s",
		"at=0s restart members=all":                                   "at=0s restart members=all",
		"at=1m stop follower, kill after=1500ms":                      "at=1m stop follower, kill after=1.5s",
		"kill member=2 at=1s, restart after=1s":                       "at=1s kill member=2 for=1s",
		"at=1s throttle member=3 to=64k, mend after=1s":               "at=1s throttle member=3 to=64k for=1s",
		"at=1s mend member=3":                                         "at=1s restore member=3",
		"at=1s isolate leader, restore after=5s":                      "at=1s isolate leader for=5s",
		"at=1s delay by=50ms follower for=2s":                         "at=1s delay follower by=50ms for=2s",
		"at=1s throttle members=all to=64k, kill after=1s":            "at=1s throttle members=all to=64k, kill after=1s",
		"at=1s fill-disk leader, restart after=5s":                    "at=1s fill-disk leader for=5s",
		"at=1s fill-disk member=2":                                    "at=1s fill-disk member=2",
		"at=1s hang-disk leader, thaw after=5s":                       "at=1s hang-disk leader for=5s",
		"at=1s expire holder":                                         "at=1s expire holder",
		"at=1s cut clients=all":                                       "at=1s cut clients=all",
		"at=1s delay by=50ms clients=12.5% for=2s":                    "at=1s delay clients=12.5% by=50ms for=2s",
		"at=1s throttle client=3 to=64k, restore after=1s":            "at=1s throttle client=3 to=64k for=1s",
		"at=1s throttle client=3 to=1000":                             "at=1s throttle client=3 to=1000",
		"at=1s lose client=1":                                         "at=1s lose client=1 reply=create",
		"at=1s lose client=1 reply=set":                               "at=1s lose client=1 reply=set",
		"at=1s isolate follower direction=out for=5s":                 "at=1s isolate follower direction=out for=5s",
		"at=1s isolate leader direction=both":                         "at=1s isolate leader",
		"at=1s silence client=2 direction=in for=5s":                  "at=1s silence client=2 direction=in for=5s",
		"at=1s cut clients=all every=2s times=5":                      "at=1s cut clients=all every=2s times=5",
		"at=1s silence client=1 times=2 every=10s for=1s":             "at=1s silence client=1 every=10s times=2 for=1s",
		"at=1s hold process=java for=5s":                              "at=1s hold process=java for=5s",
		"at=1s kill leader once=/members/a for=3s":                    "at=1s kill leader once=/members/a for=3s",
		"at=1s stop member=2 every=5s once=/a times=2, kill after=1s": "at=1s stop member=2 once=/a every=5s times=2, kill after=1s",
		"at=1s move node=/members/a":                                  "at=1s move node=/members/a",
		"at=1s freeze holder for=15s":                                 "at=1s freeze holder for=15s",
		"at=1s cancel-watch clients=all":                              "at=1s cancel-watch clients=all",
		"at=1s compact-watch key=/app/config client=2":                "at=1s compact-watch client=2 key=/app/config",
		"at=1s break-stream process=java key=*":                       "at=1s break-stream process=java",
		"at=1s silence clients=50%, cut after=1s, restore after=1s":   "at=1s silence clients=50%, cut after=1s, restore after=1s",
	} {
		f, err := faults.Parse(given)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.String() != want {
			t.Errorf("%q is printed as\n%s, want\n%s", given, f, want)
		}
		if again, err := faults.Parse(want); err != nil || again.String() != want {
			t.Errorf("%q cannot be done again: %v, %v", want, again, err)
		}
	}
}

func TestParseSaysWhatWouldBeRight(t *testing.T) {
	for given, want := range map[string]string{
		"":                                    `fault "": at is missing, such as at=10s`,
		"kill leader":                         `fault "kill leader": at is missing, such as at=10s`,
		"at=1s cancel-watch client=1 key=":    `fault "at=1s cancel-watch client=1 key=": key= is empty: want a key such as key=/app/config, or key=* for all`,
		"at=soon kill leader":                 `fault "at=soon kill leader": at=soon: want a duration such as 10s`,
		"at=-1s kill leader":                  `fault "at=-1s kill leader": at=-1s: want a duration such as 10s`,
		"at=1s":                               `fault "at=1s": no verb: want one of kill, restart, stop, continue, fill-disk, hang-disk, isolate, cut, silence, delay, throttle, hold, drop, double, move, cancel-watch, compact-watch, break-stream, restore, expire, lose, freeze, thaw`,
		"at=1s kil leader":                    `fault "at=1s kil leader": unknown verb "kil": did you mean "kill"?`,
		"at=1s kill":                          `fault "at=1s kill": no target: want leader, follower, member=1 or members=all`,
		"at=1s expire for=1s":                 `fault "at=1s expire for=1s": no target: want client=1, clients=25%, clients=all, holder (in a run), process=NAME or node=PATH (of another program)`,
		"at=1s delay by=1ms":                  `fault "at=1s delay by=1ms": no target: want leader, follower, member=1, members=all, client=1, clients=25%, clients=all, holder (in a run), process=NAME or node=PATH (of another program)`,
		"at=1s kill leder":                    `fault "at=1s kill leder": unknown target "leder": did you mean "leader"?`,
		"at=1s filldisk leader":               `fault "at=1s filldisk leader": unknown verb "filldisk": did you mean "fill-disk"?`,
		"at=1s fill-disk client=1":            `fault "at=1s fill-disk client=1": fill-disk does not apply to client=1`,
		"at=1s kill client=1":                 `fault "at=1s kill client=1": kill does not apply to client=1`,
		"at=1s isolate client=1":              `fault "at=1s isolate client=1": isolate does not apply to client=1`,
		"at=1s expire leader":                 `fault "at=1s expire leader": expire does not apply to leader`,
		"at=1s hang-disk client=1":            `fault "at=1s hang-disk client=1": hang-disk does not apply to client=1`,
		"at=1s kill leader, restart":          `fault "at=1s kill leader, restart": after is missing, such as after=10s`,
		"at=1s cut client=1 for=1s":           `fault "at=1s cut client=1 for=1s": cut takes no for=: it is over at once`,
		"at=1s delay client=1":                `fault "at=1s delay client=1": delay: by is missing, such as by=50ms`,
		"at=1s throttle client=1 to=fast":     `fault "at=1s throttle client=1 to=fast": to=fast: want bytes a second such as 64k`,
		"at=1s cancel-watch leader":           `fault "at=1s cancel-watch leader": cancel-watch does not apply to leader`,
		"at=1s cancel-watch client=1 for=1s":  `fault "at=1s cancel-watch client=1 for=1s": cancel-watch takes no for=: it is over at once`,
		"at=1s lose client=1 reply=creat":     `fault "at=1s lose client=1 reply=creat": unknown reply "creat": did you mean "create"?`,
		"at=1s cut clients=0%":                `fault "at=1s cut clients=0%": clients=0%: want a share such as clients=25%, or clients=all`,
		"at=1s cut client=x":                  `fault "at=1s cut client=x": client=x: want client=1, client=2, …`,
		"at=1s stop members=2":                `fault "at=1s stop members=2": members=2: want members=all, member=1, leader or follower`,
		"at=1s isolate leader direction=up":   `fault "at=1s isolate leader direction=up": unknown direction "up": did you mean "in"?`,
		"at=1s kill leader direction=out":     `fault "at=1s kill leader direction=out": unexpected "direction=out"`,
		"at=1s hold leader":                   `fault "at=1s hold leader": hold does not apply to leader`,
		"at=1s kill leader once=":             `fault "at=1s kill leader once=": once= is empty: want the path of an ephemeral node, such as once=/members/a`,
		"at=1s cut client=1 once=/a":          `fault "at=1s cut client=1 once=/a": unexpected "once=/a"`,
		"at=1s freeze node=/a":                `fault "at=1s freeze node=/a": freeze does not apply to node=/a`,
		"at=1s hold":                          `fault "at=1s hold": no target: want client=1, clients=25%, clients=all, process=NAME or node=PATH`,
		"at=1s cut process=":                  `fault "at=1s cut process=": process=: want the name or the number of a process, such as process=java`,
		"at=1s cut client=1 every=2s":         `fault "at=1s cut client=1 every=2s": times is missing, such as times=3`,
		"at=1s cut client=1 times=2":          `fault "at=1s cut client=1 times=2": every is missing, such as every=10s`,
		"at=1s cut client=1 every=1s times=1": `fault "at=1s cut client=1 every=1s times=1": times=1: want a number from 2 to 1000`,
		"at=1s kill leader now":               `fault "at=1s kill leader now": unexpected "now"`,
	} {
		if _, err := faults.Parse(given); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("at=10s kill leader, restart after=5s")
	f.Add("at=1s throttle client=3 to=64k, restore after=1s")
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := faults.Parse(text)
		if err != nil {
			return
		}
		again, err := faults.Parse(fault.String())
		if err != nil || again.String() != fault.String() {
			t.Errorf("%q is printed as %q, which is read as %q: %v", text, fault, again, err)
		}
	})
}
