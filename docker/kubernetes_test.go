package docker

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// A manifest is the content of kubernetes/agents.yaml.
type manifest struct {
	service             corev1.Service
	control             appsv1.Deployment
	agents, coordinator batchv1.Job
}

// kubernetes decodes the manifest strictly: a field that Kubernetes does not know is an error.
func kubernetes(t *testing.T) (m manifest) {
	t.Helper()
	text, err := os.ReadFile("kubernetes/agents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	into := []any{&m.service, &m.control, &m.agents, &m.coordinator}
	if len(documents) != len(into) {
		t.Fatalf("%d objects, want %d", len(documents), len(into))
	}
	for i, d := range documents {
		if err := yaml.UnmarshalStrict(d, into[i]); err != nil {
			t.Errorf("object %d: %v", i+1, err)
		}
	}
	return m
}

// after returns the argument after a flag.
func after(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func TestKubernetesObjectsFitTogether(t *testing.T) {
	m := kubernetes(t)
	kinds := []string{m.service.Kind, m.control.Kind, m.agents.Kind, m.coordinator.Kind}
	if want := []string{"Service", "Deployment", "Job", "Job"}; !slices.Equal(kinds, want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	if m.service.Spec.ClusterIP != corev1.ClusterIPNone || m.service.Spec.Selector["app"] != m.control.Spec.Template.Labels["app"] {
		t.Errorf("the service %+v does not select the control plane", m.service.Spec)
	}
	agent, coordinator := m.agents.Spec.Template.Spec.Containers[0].Args, m.coordinator.Spec.Template.Spec.Containers[0].Args
	if n := int(*m.agents.Spec.Completions); *m.agents.Spec.CompletionMode != batchv1.IndexedCompletion ||
		*m.agents.Spec.Parallelism != int32(n) || after(coordinator, "--agents") != strconv.Itoa(n) {
		t.Errorf("%d agents, %d at the same time, and the coordinator waits for %s", n, *m.agents.Spec.Parallelism, after(coordinator, "--agents"))
	}
	if at := "etcd://" + m.service.Name + ":2379/bench"; after(agent, "--join") != at || after(coordinator, "--control") != at {
		t.Errorf("agents join %s, and the coordinator uses %s, want %s", after(agent, "--join"), after(coordinator, "--control"), at)
	}
	for _, job := range []batchv1.Job{m.agents, m.coordinator} {
		if *job.Spec.BackoffLimit != 0 || job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s is started again when it fails", job.Name)
		}
		if c := job.Spec.Template.Spec.Containers[0]; c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s has no limits", job.Name)
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
