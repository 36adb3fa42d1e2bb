package main

import (
	"encoding/json"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// configOf reads the user, environment, ports and command of an image from the last stage of
// a Dockerfile, so that they are defined only there.
func configOf(dockerfile string) (c v1.Config, err error) {
	c.ExposedPorts = map[string]struct{}{}
	for _, line := range lastStage(dockerfile) {
		word, rest, _ := strings.Cut(line, " ")
		switch rest = strings.TrimSpace(rest); word {
		case "USER":
			c.User = rest
		case "ENV":
			c.Env = append(c.Env, strings.Fields(rest)...)
		case "EXPOSE":
			c.ExposedPorts[rest+"/tcp"] = struct{}{}
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &c.Entrypoint)
		case "CMD":
			err = json.Unmarshal([]byte(rest), &c.Cmd)
		case "COPY": // function image adds the files
		default:
			err = fmt.Errorf("the instruction %s is not supported", word)
		}
		if err != nil {
			return c, fmt.Errorf("dockerfile: %q: %w", line, err)
		}
	}
	if c.User == "" || len(c.Entrypoint) == 0 {
		return c, fmt.Errorf("dockerfile: the last stage has no USER or no ENTRYPOINT")
	}
	return c, nil
}

// lastStage returns the instructions after the last FROM, each on one line.
func lastStage(dockerfile string) (lines []string) {
	for _, line := range strings.Split(strings.ReplaceAll(dockerfile, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "FROM "):
			lines = nil
		case line != "" && !strings.HasPrefix(line, "#"):
			lines = append(lines, line)
		}
	}
	return lines
}
