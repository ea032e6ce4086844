package docker

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// The fields of Kubernetes that kubernetes/agents.yaml uses, by their exact names: any other field is an
// error. TestKubernetesAcceptsTheObjects checks the names and the values against Kubernetes' schemas.
type (
	labels        map[string]string
	object[S any] struct {
		APIVersion  string `yaml:"apiVersion"`
		Kind        string
		template[S] `yaml:",inline"`
	}
	template[S any] struct {
		Metadata struct {
			Name   string
			Labels labels
		}
		Spec S
	}
	selector struct {
		MatchLabels labels `yaml:"matchLabels"`
	}
	serviceSpec struct {
		ClusterIP string `yaml:"clusterIP"`
		Selector  labels
		Ports     []struct {
			Name string
			Port int
		}
	}
	deploymentSpec struct {
		Replicas int
		Selector selector
		Template template[podSpec]
	}
	jobSpec struct {
		CompletionMode string `yaml:"completionMode"`
		Completions    int
		Parallelism    int
		BackoffLimit   *int `yaml:"backoffLimit"`
		Template       template[podSpec]
	}
	podSpec struct {
		RestartPolicy string `yaml:"restartPolicy"`
		Spread        []struct {
			MaxSkew           int      `yaml:"maxSkew"`
			TopologyKey       string   `yaml:"topologyKey"`
			WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
			LabelSelector     selector `yaml:"labelSelector"`
		} `yaml:"topologySpreadConstraints"`
		Containers []container
		Volumes    []struct {
			Name     string
			EmptyDir struct{} `yaml:"emptyDir"`
		}
	}
	container struct {
		Name, Image   string
		Command, Args []string
		Env           []struct {
			Name      string
			ValueFrom struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		Ports []struct {
			ContainerPort int `yaml:"containerPort"`
		}
		ReadinessProbe struct {
			TCPSocket struct{ Port int } `yaml:"tcpSocket"`
		} `yaml:"readinessProbe"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
		Resources struct{ Requests, Limits struct{ CPU, Memory string } }
	}
)

// A manifest is the content of kubernetes/agents.yaml.
type manifest struct {
	service             object[serviceSpec]
	control             object[deploymentSpec]
	agents, coordinator object[jobSpec]
}

// decode reads the objects strictly: an unknown field is an error.
func decode(text []byte) (m manifest, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	for _, into := range []any{&m.service, &m.control, &m.agents, &m.coordinator} {
		if err := d.Decode(into); err != nil {
			return m, err
		}
	}
	if err := d.Decode(new(any)); err != io.EOF {
		return m, fmt.Errorf("behind the last object: %v", err)
	}
	return m, nil
}

// agents returns the text of the manifest and its objects.
func agents(t *testing.T) ([]byte, manifest) {
	t.Helper()
	text, err := os.ReadFile("kubernetes/agents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return text, m
}

// after returns the argument after a flag.
func after(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func TestKubernetesObjectsFitTogether(t *testing.T) {
	text, m := agents(t)
	for was, wrong := range map[string]string{"backoffLimit": "backOffLimit", "requests": "request", "name: etcd": "names: etcd",
		"clusterIP": "clusterIp", "\n---\n": "\n---\nkind: Job\n---\n", "completions: 4": "completions: four"} {
		if _, err := decode(bytes.Replace(text, []byte(was), []byte(wrong), 1)); err == nil {
			t.Errorf("%q in place of %q is accepted", wrong, was)
		}
	}
	kinds := []string{m.service.Kind, m.control.Kind, m.agents.Kind, m.coordinator.Kind}
	if want := []string{"Service", "Deployment", "Job", "Job"}; !slices.Equal(kinds, want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	if m.service.Spec.ClusterIP != "None" || m.service.Spec.Selector["app"] != m.control.Spec.Template.Metadata.Labels["app"] {
		t.Errorf("the service %+v does not select the control plane", m.service.Spec)
	}
	agent, coordinator := m.agents.Spec.Template.Spec.Containers[0].Args, m.coordinator.Spec.Template.Spec.Containers[0].Args
	if s := m.agents.Spec; s.CompletionMode != "Indexed" || s.Parallelism != s.Completions || after(coordinator, "--agents") != strconv.Itoa(s.Completions) {
		t.Errorf("%d agents, %d at the same time, and the coordinator waits for %s", s.Completions, s.Parallelism, after(coordinator, "--agents"))
	}
	if at := "etcd://" + m.service.Metadata.Name + ":2379/bench"; after(agent, "--join") != at || after(coordinator, "--control") != at {
		t.Errorf("agents join %s, and the coordinator uses %s, want %s", after(agent, "--join"), after(coordinator, "--control"), at)
	}
	for _, o := range []object[jobSpec]{m.agents, m.coordinator} {
		if limit := o.Spec.BackoffLimit; limit == nil || *limit != 0 || o.Spec.Template.Spec.RestartPolicy != "Never" {
			t.Errorf("%s is started again when it fails", o.Metadata.Name)
		}
		if c := o.Spec.Template.Spec.Containers[0]; c.Resources.Limits.Memory == "" || c.Resources.Requests.CPU == "" {
			t.Errorf("%s has no limits", o.Metadata.Name)
		}
	}
}

// hasFlag reports whether a command's help names the flag.
func hasFlag(help []byte, flag string) bool {
	return regexp.MustCompile(`(?m)(^|\s)` + flag + `($|\s)`).Match(help)
}

// The containers use commands of stampede, and flags that these have.
func TestAgentsHaveKnownFlags(t *testing.T) {
	testenv.SkipIfShort(t)
	_, m := agents(t)
	var c struct {
		Services map[string]struct{ Command []string }
	}
	read(t, "compose.agents.yaml", &c)
	for _, args := range [][]string{m.agents.Spec.Template.Spec.Containers[0].Args, m.coordinator.Spec.Template.Spec.Containers[0].Args,
		c.Services["agent"].Command, c.Services["coordinator"].Command} {
		help := exec.Command("go", "run", "./cmd/stampede", args[0], "--help")
		help.Dir = ".."
		out, err := help.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		for _, a := range args {
			if strings.HasPrefix(a, "--") && !hasFlag(out, a) {
				t.Errorf("%s has no flag %s", args[0], a)
			}
		}
		if hasFlag(out, "--agentz") {
			t.Error("any flag is known")
		}
	}
}

func TestComposedAgentsFitTogether(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Command  []string
			Hostname string
			Deploy   struct{ Replicas int }
			Limit    string `yaml:"mem_limit"`
		}
	}
	read(t, "compose.agents.yaml", &c)
	agent, coordinator := c.Services["agent"], c.Services["coordinator"]
	if n := agent.Deploy.Replicas; n < 2 || after(coordinator.Command, "--agents") != strconv.Itoa(n) {
		t.Errorf("%d agents, and the coordinator waits for %s", n, after(coordinator.Command, "--agents"))
	}
	if at := "etcd://control:2379/bench"; after(agent.Command, "--join") != at || after(coordinator.Command, "--control") != at {
		t.Errorf("agents join %s, and the coordinator uses %s, want %s", after(agent.Command, "--join"), after(coordinator.Command, "--control"), at)
	}
	if after(coordinator.Command, "--control-listen") != coordinator.Hostname+":0" {
		t.Errorf("agents reach the coordinator at %s, want its host name", after(coordinator.Command, "--control-listen"))
	}
	for name, s := range c.Services {
		if s.Limit == "" {
			t.Errorf("%s has no limit of memory", name)
		}
	}
}
