package workloads_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// Whoever looks while a run goes on sees as much as has happened, and never less
// later on than before.
func TestLiveTellsWhatWasMeasuredSoFar(t *testing.T) {
	inBubble(t, func(t *testing.T, s drivers.Service) {
		p := plan(s, predecessor)
		var seen []metrics.Record
		var live *workloads.Live
		p.Watch = func(l *workloads.Live) {
			live = l
			go func() {
				for range 3 {
					time.Sleep(p.Duration/4 + 1)
					synctest.Wait()
					seen = append(seen, l.SoFar())
				}
			}()
		}
		r, err := workloads.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, live.SoFar())
		for i, now := range seen {
			share := min(time.Duration(i+1)*(p.Duration/4+1), r.Duration)
			if i == 3 {
				share = r.Duration
			}
			if now.Duration != share || now.Rounds < r.Rounds*int64(i)/4 || now.Rounds > r.Rounds {
				t.Errorf("after %v: %v and %d rounds of %d", share, now.Duration, now.Rounds, r.Rounds)
			}
			if now.Phases[0].Service.TotalCount() < now.Rounds || now.Counts.Writes < 2*now.Rounds-int64(p.Clients) || now.Herd.Notifications > now.Counts.Notifications {
				t.Errorf("after %v: %d acquisitions, %+v, %+v", share, now.Phases[0].Service.TotalCount(), now.Counts, now.Herd)
			}
			if i > 0 && (now.Rounds <= seen[i-1].Rounds || now.Counts.Reads <= seen[i-1].Counts.Reads) {
				t.Errorf("after %v no more than before", share)
			}
		}
		if last := seen[3]; last.Rounds != r.Rounds || last.Counts != r.Counts {
			t.Errorf("in the end %d rounds, %+v; the record says %d, %+v", last.Rounds, last.Counts, r.Rounds, r.Counts)
		}
	})
}
