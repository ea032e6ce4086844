package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/argument"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// runFile runs a scenario file; flags that were given take precedence over it.
func (a *app) runFile(cmd *cobra.Command, recipes []string, f spec.Flags) error {
	if len(recipes) > 0 {
		return cli.Usagef("-f %s: the file names the recipes: leave out %q", f.File, recipes[0])
	}
	file, err := a.parseScenario(f.File)
	if err != nil {
		return a.reported(err)
	}
	jobs, written, err := a.jobs(file, cmd.Flags())
	if err != nil {
		return a.reported(err)
	}
	if err := takeAgents(&f, file, jobs); err != nil {
		return a.reported(err)
	}
	var chosen []catalog.Choice
	for _, j := range jobs {
		chosen = append(chosen, j.Chosen...)
	}
	if err := spec.CheckUsed(cmd.Flags(), chosen); err != nil {
		return err
	}
	asked, err := f.Judging.Resolve(spec.RowsOf(jobs), written)
	if err != nil {
		return err
	}
	if !cli.WasGiven(cmd.Flags().Lookup("seed")) && file.Seed != "" {
		f.Seed, _ = strconv.ParseUint(file.Seed, 10, 64) // validated by the parser
	}
	f.DrawSeed()
	for i := range jobs {
		jobs[i].Flags.Seed, jobs[i].Flags.Quiet = f.Seed, f.Quiet
	}
	name := strings.TrimSuffix(filepath.Base(f.File), filepath.Ext(f.File))
	result := results.New(tool(), spec.FileCommand(cmd.Flags(), f, jobs[0].Flags.Words(a.inherited(file, cmd.Flags()))), []string{name}, f.Seed)
	result.Scenario, result.Reference, result.Incident = name, file.Reference, file.Incident
	if given := replaced(file, cmd.Flags()); file.Reference != nil && len(given) > 0 {
		result.Reference.Differs = append(result.Reference.Differs, "the file was run with other settings: "+strings.Join(given, " "))
	}
	return a.perform(cmd.Context(), f, result, jobs, asked)
}

// parseScenario parses a file that comes with stampede, or any other.
func (a *app) parseScenario(name string) (scenario.File, error) {
	text, ok := scenario.Shipped(name)
	if !ok {
		var err error
		if text, err = argument.ReadFile(name); err != nil {
			plain := slices.DeleteFunc(scenario.Names(), scenario.IsIncident)
			return scenario.File{}, fmt.Errorf("scenario file %s: %w, and none that comes with stampede: there are %s, and incidents: stampede list --incidents",
				name, cli.WithoutPath(err), strings.Join(plain, ", "))
		}
	}
	return scenario.Parse(name, text, a.scenarioKeys())
}

// jobs returns the jobs of all scenarios of a file and the file's thresholds. Flags that were given
// take precedence over the file.
func (a *app) jobs(file scenario.File, asked *pflag.FlagSet) ([]spec.Job, []gate.Threshold, error) {
	faults := scenario.Faults{Name: file.Name}
	var jobs []spec.Job
	for _, s := range file.Scenarios {
		j, err := a.scenarioJob(s, asked, &faults)
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, j)
	}
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	var thresholds []gate.Threshold
	if flag := asked.Lookup("threshold"); flag == nil || !cli.WasGiven(flag) {
		thresholds = written(file, spec.RowsOf(jobs), &faults)
	}
	return jobs, thresholds, faults.Err()
}

// written returns the thresholds of the file. It adds the errors of invalid ones to the faults.
func written(file scenario.File, rows []gate.Row, faults *scenario.Faults) (all []gate.Threshold) {
	read := func(thresholds []scenario.ThresholdText, of string) {
		for _, t := range thresholds {
			parsed, err := gate.Parse(t.Text, of, rows)
			if err != nil {
				faults.Add(t.Line, "threshold %v", err)
				continue
			}
			all = append(all, parsed)
		}
	}
	all = append(all, incidentThresholds(file, rows, faults)...)
	read(file.Thresholds, "")
	for _, s := range file.Scenarios {
		read(s.Thresholds, s.Name)
	}
	return all
}

// incidentThresholds returns the thresholds of an incident: the runs of one scenario must show the symptom, and
// those of the other must not.
func incidentThresholds(file scenario.File, rows []gate.Row, faults *scenario.Faults) []gate.Threshold {
	if file.Incident == nil {
		return nil
	}
	symptom, err := gate.Parse(file.Incident.Symptom, results.SymptomScenario, rows)
	fixed, wrong := gate.Parse(file.Incident.Symptom, results.FixedScenario, rows)
	if err = cmp.Or(err, wrong); err == nil {
		fixed, err = fixed.Opposite()
	}
	if err != nil {
		faults.Add(file.IncidentLine, "symptom %v", err)
		return nil
	}
	return []gate.Threshold{symptom, fixed}
}

// scenarioJob returns the job of a scenario. It adds the error of an invalid setting to the faults,
// drops the setting and tries again to find further errors. An invalid flag is returned as the
// error.
func (a *app) scenarioJob(s scenario.Scenario, asked *pflag.FlagSet, faults *scenario.Faults) (spec.Job, error) {
	for {
		j, err := spec.NewJob(a.forms, s.Values("recipe"), a.bind(s, asked))
		if err == nil {
			j.Scenario = s.Name
			for _, set := range s.Settings {
				if why := spec.Unused(set.Key, j.Chosen); why != "" && !set.Shared {
					faults.Add(set.Line, "%s: %s", set.Key, why)
				}
			}
			return j, nil
		}
		var about cli.InvalidFlag
		errors.As(err, &about)
		if flag := asked.Lookup(about.Flag); flag != nil && (cli.WasGiven(flag) || a.defaults.Has(flag.Name) && len(s.Values(flag.Name)) == 0) {
			return spec.Job{}, err
		}
		faults.Add(s.LineOf(about.Flag), "%s", strings.TrimPrefix(err.Error(), "--"))
		if len(s.Values(about.Flag)) == 0 {
			return spec.Job{}, nil
		}
		s = s.WithoutKey(about.Flag)
	}
}

// reported prints the errors of a scenario file in the form that editors and CI systems parse, one on
// each line. It returns other errors for the caller to print as usual.
func (a *app) reported(err error) error {
	var faults *scenario.Faults
	if !errors.As(err, &faults) {
		return cli.Usage(err)
	}
	fmt.Fprintln(a.err, faults)
	return cli.Shown(cli.Usage(faults))
}

// scenarioKeys returns the keys of a scenario: the recipe, and the flags of run that a scenario may
// set.
func (a *app) scenarioKeys() []scenario.Key {
	keys := []scenario.Key{{Name: "recipe", List: true, Check: func(value string) error {
		_, err := catalog.Select(a.forms, []string{value}, nil)
		return err
	}}}
	_, flags := spec.Defaults(a.forms)
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(spec.OfCommand(), f.Name) || slices.Contains(spec.AgentFlags(), f.Name) {
			_, list := f.Value.(pflag.SliceValue)
			keys = append(keys, scenario.Key{Name: f.Name, List: list, Instead: instead(f.Name), Check: checks(f)})
		}
	})
	return keys
}

// instead returns the alternative flag for the same thing.
func instead(flag string) string {
	return map[string]string{"rounds": "duration", "duration": "rounds"}[flag]
}

// checks returns a function that checks one value of a flag in isolation.
func checks(f *pflag.Flag) func(string) error {
	if f.Name == "backend" {
		return func(value string) error {
			_, err := backends.Parse(value)
			return err
		}
	}
	if f.Name == "fault" {
		return func(value string) error {
			_, err := faults.Parse(value)
			return err
		}
	}
	return func(value string) error {
		if err := f.Value.Set(value); err != nil {
			return fmt.Errorf("%s %s: not %s", f.Name, value, cli.Wanted(f))
		}
		return nil
	}
}

// takeAgents sets the flags of the agents, which do all runs of a file, to those of its jobs.
func takeAgents(f *spec.Flags, file scenario.File, jobs []spec.Job) error {
	f.Agents = jobs[0].Flags.Agents
	faults := scenario.Faults{Name: file.Name}
	for i, j := range jobs {
		if j.Flags.Agents == f.Agents {
			continue
		}
		for _, name := range spec.AgentFlags() {
			if line := file.Scenarios[i].LineOf(name); len(file.Scenarios[i].Values(name)) > 0 {
				faults.Add(line, "%s: the same agents do all runs of a file: write it once, above scenarios:", name)
			}
		}
		if faults.Err() == nil { // the first scenario has the setting, and this one has not
			faults.Add(1, "agents: the same agents do all runs of a file: write it once, above scenarios:")
		}
	}
	return faults.Err()
}

// bind returns the flags with the settings of a scenario. Flags that were given take precedence, and the
// scenario's settings over the project's defaults.
func (a *app) bind(s scenario.Scenario, asked *pflag.FlagSet) spec.Flags {
	f, flags := spec.Defaults(a.forms)
	isGiven := func(name string) bool {
		flag := asked.Lookup(name)
		return flag != nil && cli.WasGiven(flag)
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case isGiven(flag.Name):
			cli.CopyFlag(flag, asked.Lookup(flag.Name))
		case isGiven(instead(flag.Name)):
		case len(s.Values(flag.Name)) == 0:
			a.defaults.Set(flag)
		default:
			for _, value := range s.Values(flag.Name) {
				cli.Must(flags.Set(flag.Name, value))
			}
		}
	})
	return *f
}

// replaced returns the flags that were given and that override a setting of the file.
func replaced(file scenario.File, asked *pflag.FlagSet) []string {
	return cli.GivenWords(asked, func(flag *pflag.Flag) bool {
		return slices.ContainsFunc(file.Scenarios, func(s scenario.Scenario) bool {
			return len(s.Values(flag.Name))+len(s.Values(instead(flag.Name))) > 0
		})
	})
}

// inherited returns the flags that all scenarios of the file have from the project's defaults.
func (a *app) inherited(file scenario.File, asked *pflag.FlagSet) []string {
	return slices.DeleteFunc(defaults.Keys(), func(key string) bool {
		return key == "save" || !a.defaults.Has(key) || cli.WasGiven(asked.Lookup(key)) ||
			slices.ContainsFunc(file.Scenarios, func(s scenario.Scenario) bool { return len(s.Values(key)) > 0 })
	})
}

func (a *app) initCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a scenario file to start from",
		Long: `Init writes a scenario file, with comments that explain every setting, to
scenario.yaml or another new file. With --from it copies one of the scenario files
that come with stampede.`,
		Example: `  stampede init
  stampede init mine.yaml --from quick`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.init(args, from)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`NAME` of a scenario file that comes with stampede")
	cli.Complete(cmd, "from", scenario.Names)
	return cmd
}

func (a *app) init(args []string, from string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede init writes one file, got %q too", args[1])
	}
	text := scenario.Template()
	if from != "" {
		var ok bool
		if text, ok = scenario.Shipped(from); !ok {
			return cli.Usage(suggest.Unknown("scenario", from, scenario.Names()))
		}
	}
	path := append(args, "scenario.yaml")[0]
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return cli.Usagef("%s: cannot be written: %v: name another file", path, cli.WithoutPath(err))
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	fmt.Fprintf(a.out, "wrote %s: try stampede run -f %s\n", path, path)
	return file.Close()
}

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files without running them",
		Long: `Validate checks scenario files and prints every error with its line, or the number of
runs that the file describes. It starts nothing, and reads no other files but the
certificates and passwords that the scenario files name.`,
		RunE: func(_ *cobra.Command, files []string) error { return a.validate(files) },
	}
}

func (a *app) validate(files []string) error {
	if len(files) == 0 {
		return cli.Usagef("name the scenario files to check")
	}
	var failed error
	for _, name := range files {
		if err := a.validateFile(name); err != nil {
			failed = a.reported(err)
		}
	}
	return failed
}

func (a *app) validateFile(name string) error {
	file, err := a.parseScenario(name)
	if err != nil {
		return err
	}
	jobs, thresholds, err := a.jobs(file, &pflag.FlagSet{})
	if err != nil {
		return err
	}
	runs := 0
	for _, j := range jobs {
		runs += len(j.Chosen) * len(j.Flags.Clients) * len(j.Sources)
	}
	about := []string{cli.Counted(len(jobs), "scenario"), cli.Counted(runs, "run")}
	if n := len(thresholds); n > 0 {
		about = append(about, cli.Counted(n, "threshold"))
	}
	fmt.Fprintf(a.out, "%s: ok, %s\n", name, strings.Join(about, ", "))
	return nil
}
