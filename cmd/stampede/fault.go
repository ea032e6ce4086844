package main

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers/faults"
)

// A faultFlags holds the flags that inject faults.
type faultFlags struct {
	texts    []string
	nemesis  time.Duration
	schedule faults.Schedule // parsed from texts
}

func (f *faultFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "fault", nil, "what is broken, when, and to whom, repeatable: `'at=10s kill leader for=5s'`; stampede help faults")
	flags.DurationVar(&f.nemesis, "nemesis", 0, "break something at random, about once every so long, drawn from the seed and the same for all that are compared")
}

// check parses the faults. Faults are scheduled at times within the measured window, so the
// window's length must be known.
func (f *faultFlags) check(rounds int64) error {
	f.schedule = nil
	if len(f.texts) > 0 && rounds > 0 {
		return usagef("--fault: comes at a time of --duration; leave --rounds out")
	}
	for _, text := range f.texts {
		fault, err := faults.Parse(text)
		if err != nil {
			return usagef("--%v", err)
		}
		f.schedule = append(f.schedule, fault)
	}
	if f.nemesis != 0 {
		return checkDuration("nemesis", f.nemesis, 100*time.Millisecond)
	}
	return nil
}

// divide reports whether members of an ensemble may be isolated. Such an ensemble has to be started
// differently.
func (f *faultFlags) divide() bool { return f.nemesis > 0 || f.schedule.Divides() }

// possible checks that every run of the job can inject all faults.
func (f *faultFlags) possible(j job) error {
	for _, s := range j.sources {
		for _, form := range j.chosen {
			err := f.schedule.Check(faults.Powers{
				Service: s.name, Servers: s.servers, Forgets: !s.durable, Disks: s.disks, Divisible: j.flags.divisible && s.servers > 1,
				Clients: slices.Min(j.flags.clients), Holder: form.Holds(), Window: j.flags.duration,
			})
			if err != nil {
				return usagef("--%v", err)
			}
		}
	}
	return nil
}

// lines returns the faults in their text form.
func lines(s faults.Schedule) (all []string) {
	for _, f := range s {
		all = append(all, f.String())
	}
	return all
}
