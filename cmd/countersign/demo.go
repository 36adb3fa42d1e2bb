package main

import (
	"context"
	"io"
)

type demoCommand struct{}

func (demoCommand) run(context.Context, []string, io.Writer, io.Writer) error { return nil }
