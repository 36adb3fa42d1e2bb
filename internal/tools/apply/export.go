package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// File is a record as a file has it.
type File struct {
	Path string // below the folder
	Text []byte
}

// Export reads all that the service has of each kind, retired records apart.
func Export(ctx context.Context, c *client.Client) (files []File, err error) {
	add := func(kind, id, name string) error {
		s, err := read(ctx, c, kind, id)
		if err != nil || !s.There {
			return err
		}
		f, err := fileOf(kind, name, s)
		files = append(files, f)
		return err
	}
	return files, errors.Join(
		add(setting, tenant, tenant),
		each(c.AllGroups(ctx), func(x countersign.Group) error { return add(group, x.ID, x.ID) }),
		each(c.AllModels(ctx), func(x countersign.Model) error { return add(model, x.ID, x.ID) }),
		each(c.AllProjects(ctx), func(x countersign.Project) error { return add(project, x.ID, x.ID) }),
		each(c.AllAgents(ctx, client.AgentFilter{}), func(x countersign.Agent) error {
			return add(agent, x.ID, x.ProjectID+"/"+x.ExternalAgentID)
		}),
		each(c.AllTeams(ctx), func(x countersign.Team) error { return add(team, x.ID, x.ID) }),
		each(c.AllWebhooks(ctx), func(x countersign.Webhook) error { return add(webhook, x.ID, x.ID) }),
	)
}

func each[T any](all iter.Seq2[T, error], add func(T) error) error {
	for x, err := range all {
		if err == nil {
			err = add(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fileOf writes a record with kind and id first, and then the fields of its PUT in their order.
func fileOf(kind, id string, s Stored) (f File, err error) {
	fields, err := content(kind, s.Record)
	if err != nil {
		return f, err
	}
	names := append([]string{"kind", "id"}, fieldsOf(reflect.TypeOf(writes[kind]()).Elem())...)
	fields["kind"], fields["id"] = countersign.String(kind), countersign.String(id)
	name := id
	switch x := s.Record.(type) {
	case *countersign.Project:
		if !x.Enabled {
			fields["enabled"] = countersign.Bool(false)
		}
	case *countersign.AgentWithInstances:
		name = agentFile(x)
		if s.Admitted {
			fields["admitted"] = countersign.Bool(true)
			if len(x.Budgets) > 0 {
				fields["budgets"], err = countersign.ValueOf(x.Budgets)
			}
		}
	}
	if err != nil {
		return f, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, field := range names {
		if v, ok := fields[field]; ok {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%s:%s", countersign.String(field).Raw(), v.Raw())
		}
	}
	b.WriteByte('}')
	f.Path = filepath.Join(kind+"s", filepath.FromSlash(name)+".yaml")
	f.Text, err = toYAML(b.Bytes())
	return f, err
}

// agentFile is the name of an agent's file. A back end may call its agents by what is no file's
// name; the service's id then is.
func agentFile(x *countersign.AgentWithInstances) string {
	name := x.ExternalAgentID
	if !countersign.ValidID(name) {
		name = x.ID
	}
	return x.ProjectID + "/" + name
}

// Write writes files into a folder, which is made, or there and empty.
func Write(dir string, files []File) error {
	err := Empty(dir)
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o750)
		}
		if err == nil {
			err = os.WriteFile(path, f.Text, 0o600)
		}
	}
	return err
}

// Empty says why a folder can't be written into: something is in it.
func Empty(dir string) error {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && len(list) > 0:
		return fmt.Errorf("%s: it isn't empty (%s is in it); name a new folder", dir, strings.TrimSpace(list[0].Name()))
	}
	return err
}
