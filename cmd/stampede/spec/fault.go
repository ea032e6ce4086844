package spec

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
)

// A Faults holds the flags that inject faults.
type Faults struct {
	texts    []string
	nemesis  time.Duration
	schedule faults.Schedule // parsed from texts
}

func (f *Faults) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "fault", nil, "`FAULT` to inject, such as 'at=10s kill leader for=5s'; repeatable; see stampede help faults")
	flags.DurationVar(&f.nemesis, "nemesis", 0, "mean `TIME` between random faults, drawn from the seed, the same for all runs that are compared")
}

// check parses the faults. Faults are scheduled at times within the measured window, so the
// window's length must be known.
func (f *Faults) check(rounds int64) error {
	f.schedule = nil
	if len(f.texts) > 0 && rounds > 0 {
		return cli.Flagf("fault", ": comes at a time of --duration; leave --rounds out")
	}
	for _, text := range f.texts {
		fault, err := faults.Parse(text)
		if err != nil {
			return cli.Usagef("--%v", err)
		}
		f.schedule = append(f.schedule, fault)
	}
	if f.nemesis != 0 {
		return cli.CheckDuration("nemesis", f.nemesis, 100*time.Millisecond)
	}
	return nil
}

// divide reports whether members of an ensemble may be isolated. Such an ensemble has to be started
// differently.
func (f *Faults) divide() bool { return f.nemesis > 0 || f.schedule.Divides() }

// hang reports whether disks of members will hang. Their file systems have to be made before.
func (f *Faults) hang() bool { return f.schedule.HangsDisks() }

// possible checks that every run of the job can inject all faults.
func (f *Faults) possible(j Job) error {
	for _, s := range j.Sources {
		for _, form := range j.Chosen {
			err := f.schedule.Check(faults.Powers{
				Service: s.Name, Servers: s.servers, Forgets: !s.durable, Disks: s.disks, Divisible: j.Flags.divisible && s.servers > 1,
				Clients: slices.Min(j.Flags.Clients), Holder: form.Holds(), Window: j.Flags.Run.Duration, OwnDisks: disk.Possible() == nil, Etcd: s.target.Scheme() == "etcd",
			})
			if err != nil {
				return cli.Usagef("--%v", err)
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

// any reports whether any fault is planned.
func (f *Faults) any() bool { return len(f.schedule) > 0 || f.nemesis > 0 }
