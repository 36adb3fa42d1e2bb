package docs

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// packages rewrites commands that fetch packages of npm, so that they take them from this repository's build and use no
// registry. What is of Go and Python comes from the clone as the pages say.
func packages(commands string) string {
	lines := strings.Split(commands, "\n")
	for i, line := range lines {
		switch {
		case strings.HasSuffix(line, `npm install "$CLONE/sdk/typescript"`):
			lines[i] = fromSDK([]string{"@countersign/sdk"})
		case strings.HasPrefix(line, "npm install "):
			lines[i] = fromSDK(strings.Fields(line)[2:])
		}
	}
	return strings.Join(lines, "\n")
}

// fromSDK installs the SDK that is built here, and the other packages from its build.
func fromSDK(names []string) string {
	commands := []string{"mkdir -p node_modules/@countersign node_modules/@types node_modules/.bin"}
	for _, name := range names {
		switch name {
		case "--save-dev":
		case "@countersign/sdk":
			commands = append(commands, "ln -sfn '"+sdk+"' node_modules/@countersign/sdk")
		default:
			commands = append(commands, fmt.Sprintf("ln -sfn '%s/node_modules/%s' node_modules/%s", sdk, name, name))
		}
	}
	return strings.Join(append(commands, "ln -sfn '"+sdk+"/node_modules/.bin/tsc' node_modules/.bin/tsc"), " && ")
}

// sdk is the directory of the TypeScript SDK's build, below the tests' temporary directory.
var (
	sdk    string
	sdkNow sync.Once
)

// buildSDK builds the TypeScript SDK once, in a directory of its own.
func buildSDK(t *testing.T) {
	t.Helper()
	sdkNow.Do(func() {
		from := filepath.Join(root, "sdk", "typescript")
		script := fmt.Sprintf("set -e\nmkdir %[2]s\ncd %[1]s\ncp -r package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json src %[2]s\n"+
			"if [ -d node_modules ]; then ln -s %[1]s/node_modules %[2]s/node_modules; else cd %[2]s && npm ci --no-audit --no-fund --prefer-offline; fi\n"+
			"cd %[2]s && node_modules/.bin/tsc -p tsconfig.build.json", from, sdk)
		if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
			t.Fatalf("the SDK isn't built: %v\n%s", err, out)
		}
	})
}
