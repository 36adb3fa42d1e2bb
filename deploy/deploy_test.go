// Package deploy tests the files of this folder, which operators copy: the settings that
// they name exist, and the files agree with each other.
package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const chart = "helm/countersign"

func mustRead(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mustParse decodes a YAML file into a T.
func mustParse[T any](t *testing.T, name string) (doc T) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(mustRead(t, name)), &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

var setting = regexp.MustCompile(`SVC_PLATFORM_[A-Z][A-Z_]*[A-Z]`)

// TestEverySettingThatIsNamedHereExists: the service doesn't start with an unknown setting.
func TestEverySettingThatIsNamedHereExists(t *testing.T) {
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(SVC_PLATFORM_[A-Z_]+)` \\|").FindAllStringSubmatch(mustRead(t, "../docs/reference/settings.md"), -1) {
		known[m[1]] = true
	}
	for _, m := range regexp.MustCompile("`(SVC_PLATFORM_[A-Z_]+_FILE)`").FindAllStringSubmatch(mustRead(t, "../docs/reference/settings.md"), -1) {
		known[m[1]] = true
	}
	named := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		for _, s := range setting.FindAllString(mustRead(t, name), -1) {
			if named++; !known[s] {
				t.Errorf("%s names %s: docs/reference/settings.md has no such setting", name, s)
			}
		}
		return nil
	})
	if err != nil || named == 0 || len(known) == 0 {
		t.Errorf("%d settings are known, %d are named here: %v", len(known), named, err)
	}
}

// compose has the parts of a compose file that the tests read.
type compose struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		User        string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		StopGrace   string   `yaml:"stop_grace_period"`
		DependsOn   any      `yaml:"depends_on"`
		Network     string   `yaml:"network_mode"`
		Volumes     []string
		Secrets     []string
	}
	Secrets  map[string]struct{ File string }
	Networks map[string]struct {
		IPAM struct{ Config []struct{ Subnet string } }
	}
}

func TestReplicasOfComposeHaveTheSameSettings(t *testing.T) {
	c := mustParse[compose](t, "compose.yaml")
	one, other := c.Services["replica-1"], c.Services["replica-2"]
	if len(one.Environment) == 0 || !reflect.DeepEqual(one, other) {
		t.Errorf("the replicas differ:\n%v\n%v", one, other)
	}
	if !one.ReadOnly || !reflect.DeepEqual(one.CapDrop, []string{"ALL"}) {
		t.Error("a replica may write into its image, or has capabilities")
	}
	if subnet := c.Networks["inside"].IPAM.Config[0].Subnet; one.Environment["SVC_PLATFORM_TRUSTED_PROXIES"] != subnet {
		t.Errorf("the proxy is in %s, and %s is trusted", subnet, one.Environment["SVC_PLATFORM_TRUSTED_PROXIES"])
	}
}

func TestASupervisorWaitsLongerThanTheService(t *testing.T) {
	replica := mustParse[compose](t, "compose.yaml").Services["replica-1"]
	if grace, waits := duration(t, replica.Environment["SVC_PLATFORM_STOP_GRACE"]), duration(t, replica.StopGrace); waits <= grace {
		t.Errorf("compose waits for %v, the service for %v", waits, grace)
	}
	line := regexp.MustCompile(`terminationGracePeriodSeconds: \{\{ add \(int \.Values\.stopGraceSeconds\) \(int \.Values\.preStopSeconds\) (\d+) \}\}`)
	m := line.FindStringSubmatch(mustRead(t, chart+"/templates/deployment.yaml"))
	if m == nil {
		t.Fatal("the chart's grace doesn't go by the service's")
	}
	if more, err := strconv.Atoi(m[1]); err != nil || more < 5 {
		t.Errorf("Kubernetes waits %s s longer", m[1])
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOneContainerIsEnough: the store is in a volume that outlives the container, and the
// container has no more privileges than a replica.
func TestOneContainerIsEnough(t *testing.T) {
	services := mustParse[compose](t, "compose.embedded.yaml").Services
	c := services["countersign"]
	if len(services) != 1 || c.Environment["SVC_PLATFORM_STORE"] != "/data/store" || !reflect.DeepEqual(c.Volumes, []string{"store:/data"}) {
		t.Errorf("%d services, the store is %s on %v", len(services), c.Environment["SVC_PLATFORM_STORE"], c.Volumes)
	}
	if !c.ReadOnly || !reflect.DeepEqual(c.CapDrop, []string{"ALL"}) {
		t.Error("the container may write into its image, or has capabilities")
	}
	if grace, waits := duration(t, c.Environment["SVC_PLATFORM_STOP_GRACE"]), duration(t, c.StopGrace); waits <= grace {
		t.Errorf("compose waits for %v, the service for %v", waits, grace)
	}
}

// TestTheActionCallsCommandsThatThereAre: the commands have the flags that the action passes.
func TestTheActionCallsCommandsThatThereAre(t *testing.T) {
	action := mustParse[struct {
		Runs struct {
			Steps []struct{ Run string }
		}
	}](t, "../action.yml")
	reference, calls := mustRead(t, "../docs/command-line.md"), 0
	for _, step := range action.Runs.Steps {
		for _, m := range regexp.MustCompile(`(?m)^\s*countersign ((?:[a-z-]+ )+)(.*)$`).FindAllStringSubmatch(step.Run, -1) {
			calls++
			_, section, found := strings.Cut(reference, "\n### "+strings.TrimSpace(m[1])+"\n")
			section, _, _ = strings.Cut(section, "\n### ")
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(step.Run, -1) {
				if !found || !strings.Contains(section, "`"+flag) {
					t.Errorf("countersign %shas no %s", m[1], flag)
				}
			}
		}
	}
	if calls != 3 {
		t.Errorf("the action has %d calls", calls)
	}
}

// TestTheExampleUsesTheActionAsItIs: what it gives the action is an input of it, and the step of the setup
// gives its script what that reads.
func TestTheExampleUsesTheActionAsItIs(t *testing.T) {
	type step struct {
		Uses, Run string
		With, Env map[string]string
	}
	action := mustParse[struct {
		Inputs map[string]any
		Runs   struct{ Steps []step }
	}](t, "../action.yml")
	workflow := mustParse[struct {
		Jobs map[string]struct{ Steps []step }
	}](t, "../examples/setup/.github/workflows/setup.yaml")
	used := 0
	for _, s := range workflow.Jobs["setup"].Steps {
		for name := range s.With {
			if used++; action.Inputs[name] == nil {
				t.Errorf("the action has no input %s", name)
			}
		}
	}
	last := action.Runs.Steps[len(action.Runs.Steps)-1]
	if used != 5 || last.Run != `"$GITHUB_ACTION_PATH/deploy/action/setup.sh"` {
		t.Errorf("the example gives %d inputs, and the last step runs %s", used, last.Run)
	}
	for _, name := range []string{"SETUP", "MODE", "COUNTERSIGN_URL", "COUNTERSIGN_TOKEN"} {
		if last.Env[name] == "" {
			t.Errorf("the script isn't given %s", name)
		}
	}
}

// TestTheProxyKnowsTheReplicas: the proxy forwards to every replica and to nothing else.
func TestTheProxyKnowsTheReplicas(t *testing.T) {
	conf := mustRead(t, "nginx.conf")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s*server ([a-z0-9-]+):8080`).FindAllStringSubmatch(conf, -1) {
		named[m[1]] = true
	}
	for name, s := range mustParse[compose](t, "compose.yaml").Services {
		if is := strings.HasPrefix(s.Image, "countersign:"); is != named[name] {
			t.Errorf("%s: a replica %v, asked by the proxy %v", name, is, named[name])
		}
	}
}

// TestTheProxySendsNoChangeTwice: nginx repeats what it takes for idempotent at the next replica, PUT and
// DELETE among it, also where the first has the request and didn't answer.
func TestTheProxySendsNoChangeTwice(t *testing.T) {
	conf := mustRead(t, "nginx.conf")
	parts := strings.Split(conf, "location ")
	proxied := 0
	for _, part := range parts[1:] {
		if !strings.Contains(part, "proxy_pass ") {
			continue
		}
		proxied++
		leaves := strings.Contains(part, "if ($request_method ~ ^(PUT|DELETE)$) {\n                return 418;") && strings.Contains(part, "error_page 418 = @once;")
		once := strings.HasPrefix(part, "@once {") && strings.Contains(part, "proxy_next_upstream off;")
		if leaves == once {
			t.Errorf("a location sends PUT and DELETE to the next replica as well:\nlocation %s", part)
		}
	}
	if proxied != 2 || strings.Contains(conf, "non_idempotent") {
		t.Errorf("%d locations are proxied", proxied)
	}
}

var value = regexp.MustCompile(`\.Values((?:\.[A-Za-z_]+)+)`)

// TestTemplatesUseValuesThatThereAre: a misspelled value would silently be empty.
func TestTemplatesUseValuesThatThereAre(t *testing.T) {
	values := mustParse[map[string]any](t, chart+"/values.yaml")
	files, err := filepath.Glob(filepath.FromSlash(chart + "/templates/*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	used := map[string]bool{}
	for _, name := range files {
		for _, m := range value.FindAllStringSubmatch(mustRead(t, name), -1) {
			path := strings.Split(m[1][1:], ".")
			used[path[0]] = true
			if !has(values, path) {
				t.Errorf("%s uses .Values%s: values.yaml has no such value", name, m[1])
			}
		}
	}
	for name := range values {
		if !used[name] {
			t.Errorf("values.yaml has %s, which no template uses", name)
		}
	}
}

func has(values map[string]any, path []string) bool {
	found, known := values[path[0]]
	if inner, is := found.(map[string]any); known && is && len(path) > 1 {
		return has(inner, path[1:])
	}
	return known
}

// TestNothingRunsAsRoot: the image and the chart name the same user, as a number: Kubernetes
// can't tell from a name that the user is not root.
func TestNothingRunsAsRoot(t *testing.T) {
	user := regexp.MustCompile(`(?m)^USER ([1-9]\d*):[1-9]\d*$`).FindStringSubmatch(mustRead(t, "Dockerfile"))
	if user == nil {
		t.Fatal("the image's user is no number")
	}
	deployment := mustRead(t, chart+"/templates/deployment.yaml")
	for _, line := range []string{"runAsNonRoot: true", "runAsUser: " + user[1], "fsGroup: " + user[1], "readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false"} {
		if !strings.Contains(deployment, line) {
			t.Errorf("the chart lacks %q", line)
		}
	}
}

// TestTheChartNamesTheReleaseOfTheImage: the chart's appVersion is the version that the
// Dockerfile builds, and that the compose files run.
func TestTheChartNamesTheReleaseOfTheImage(t *testing.T) {
	c := mustParse[struct {
		AppVersion string `yaml:"appVersion"`
	}](t, chart+"/Chart.yaml")
	if !strings.Contains(mustRead(t, "Dockerfile"), "ARG VERSION="+c.AppVersion+"\n") {
		t.Errorf("the chart is of %s, the image of another release", c.AppVersion)
	}
	for _, name := range composeFiles {
		for service, s := range mustParse[compose](t, name).Services {
			if strings.HasPrefix(s.Image, "countersign") && s.Image != "countersign:"+c.AppVersion {
				t.Errorf("%s: %s runs %s, the chart is of %s", name, service, s.Image, c.AppVersion)
			}
		}
	}
}
