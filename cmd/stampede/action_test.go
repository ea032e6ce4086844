package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// An action is the content of action.yml.
type action struct {
	Inputs map[string]struct{ Description string }
	Runs   struct {
		Steps []struct {
			Run, Uses string
			Env       map[string]string
		}
	}
}

// faults returns what is wrong with an action: inputs that nothing reads or that do not exist, texts of the user inside of a
// script, where they could be commands, and other actions, which may change what later steps find.
func (a action) faults() (found []string) {
	read := map[string]bool{}
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			found = append(found, "a script contains an expression: "+step.Run)
		}
		if step.Uses != "" {
			found = append(found, "uses "+step.Uses)
		}
		for _, value := range step.Env {
			for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(value, -1) {
				read[m[1]] = true
				if _, exists := a.Inputs[m[1]]; !exists {
					found = append(found, "no input "+m[1])
				}
			}
		}
	}
	for name := range a.Inputs {
		if !read[name] && name != "working-directory" { // the step's own
			found = append(found, "nothing reads the input "+name)
		}
	}
	slices.Sort(found)
	return found
}

func TestActionGivesItsInputsToScriptsAsVariables(t *testing.T) {
	var a action
	fromYAML(t, "../../action.yml", &a)
	if found := a.faults(); len(found) > 0 || len(a.Inputs) < 10 || len(a.Runs.Steps) != 2 {
		t.Errorf("%d inputs, %d steps: %q", len(a.Inputs), len(a.Runs.Steps), found)
	}
}

func TestActionFaultsAreFound(t *testing.T) {
	var a action
	if err := yaml.Unmarshal([]byte(`{inputs: {unread: {}, read: {}}, runs: {steps: [
		{uses: actions/setup-go@v6}, {run: "echo ${{ inputs.read }}", env: {A: "${{ inputs.read }}", B: "${{ inputs.raed }}"}}]}}`), &a); err != nil {
		t.Fatal(err)
	}
	want := []string{"a script contains an expression: echo ${{ inputs.read }}", "no input raed", "nothing reads the input unread", "uses actions/setup-go@v6"}
	if got := a.faults(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReleaseNamesItsArchivesAsObtainAsks checks that scripts/obtain finds what a release has.
func TestReleaseNamesItsArchivesAsObtainAsks(t *testing.T) {
	var release struct {
		Archives []struct {
			NameTemplate string `yaml:"name_template"`
			Formats      []string
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
		}
	}
	fromYAML(t, "../../.goreleaser.yaml", &release)
	script, err := os.ReadFile("../../scripts/obtain")
	if err != nil {
		t.Fatal(err)
	}
	if len(release.Archives) != 1 || !slices.Equal(release.Archives[0].Formats, []string{"tar.gz"}) ||
		release.Archives[0].NameTemplate != "{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}" ||
		!strings.Contains(string(script), `"stampede_${OBTAIN_VERSION#v}_${system}_$machine.tar.gz"`) {
		t.Errorf("a release has %+v, and scripts/obtain asks for something else", release.Archives)
	}
	if name := release.Checksum.NameTemplate; !strings.Contains(string(script), "fetch "+name) {
		t.Errorf("a release has %s, and scripts/obtain asks for something else", name)
	}
}

// TestGitLabTemplate runs the script of the template, against a repository and a release on this machine.
func TestGitLabTemplate(t *testing.T) {
	testenv.SkipIfShort(t)
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("releases have archives for Linux and macOS")
	}
	var template map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct{ Reports map[string]string }
	}
	fromYAML(t, "../../examples/gitlab/observe.yml", &template)
	job := template[".observe"]

	stampede, err := exec.LookPath("stampede")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("stampede_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	archive := archived(t, "stampede", `exec "`+stampede+`" "$@"`)
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v0.1.0/checksums.txt":
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(archive), name)
		case "/v0.1.0/" + name:
			w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	defer releases.Close()

	repository := t.TempDir()
	if err := os.CopyFS(filepath.Join(repository, "scripts"), os.DirFS("../../scripts")); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"init -q", "add scripts", "-c user.name=a -c user.email=a@localhost commit -q -m scripts", "tag v0.1.0"} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository}, strings.Fields(words)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", words, err, out)
		}
	}

	for threshold, want := range map[string]int{"requests >= 1": 0, "fanout.max <= 0": 99} {
		folder := t.TempDir()
		script := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.Join(job.Script, "\n"))
		script.Dir = folder
		script.Env = append(os.Environ(), "GITHUB_ACTIONS=", "OBTAIN_RELEASES="+releases.URL, "TMPDIR="+folder,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/stampede-bench/stampede")
		for variable, value := range job.Variables {
			script.Env = append(script.Env, variable+"="+value)
		}
		script.Env = append(script.Env, "OBTAIN_VERSION=v0.1.0", "THRESHOLDS="+threshold, "ENVIRONMENT=ADDRESS={address}",
			"COMMAND=stampede run lock --no-save --form one-node --clients 4 --rounds 20 -q --backend zookeeper://$ADDRESS")
		out, err := script.CombinedOutput()
		if got := script.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d (%v), want %d: %s", threshold, got, err, want, out)
		}
		if report, err := os.ReadFile(filepath.Join(folder, job.Artifacts.Reports["junit"])); err != nil || !strings.Contains(string(report), "<testcase ") {
			t.Errorf("%s: the report of the job: %v: %s", threshold, err, report)
		}
	}
}

func TestFilesOfGitHubAreYAML(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"*.yml", "*/*.yml"} {
		found, err := filepath.Glob("../../.github/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Fatal("no files")
	}
	for _, path := range paths {
		var any map[string]any
		fromYAML(t, path, &any)
		if any["name"] == nil && filepath.Base(path) != "config.yml" && filepath.Base(path) != "dependabot.yml" {
			t.Errorf("%s has no name", path)
		}
	}
}

func fromYAML(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
