package service

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Profile is one stored sign-in.
type Profile struct {
	URL      string `json:"url"`
	Token    string `json:"token"`
	Insecure bool   `json:"insecure,omitempty"`
}

// Profiles are the stored sign-ins, in a file that only its owner may read.
type Profiles struct {
	Current  string             `json:"current"`
	Profiles map[string]Profile `json:"profiles"`
}

// profilesPath is the path of that file, below the user's configuration directory.
func profilesPath(t *terminal.Terminal) (string, error) {
	dir := t.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", terminal.Unusablef("there is no folder for settings: %v; set XDG_CONFIG_HOME, or give %s and %s", err, terminal.EnvURL, terminal.EnvToken)
		}
	}
	return filepath.Join(dir, "countersign", "profiles.json"), nil
}

// ReadProfiles reads the file; there are none without it.
func ReadProfiles(t *terminal.Terminal) (Profiles, error) {
	none := Profiles{Profiles: map[string]Profile{}}
	path, err := profilesPath(t)
	if err != nil {
		if words.First(t.Getenv(terminal.EnvToken), t.Getenv(terminal.EnvTokenFile)) != "" {
			return none, nil // a container without a home directory: the environment has all settings
		}
		return none, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	kept := none
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return none, terminal.Unusablef("%s can't be read: %v", path, err)
	}
	return kept, nil
}

// Write replaces the file atomically.
func (p Profiles) Write(t *terminal.Terminal) error {
	path, err := profilesPath(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Create(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
