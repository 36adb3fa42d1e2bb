// Package projects has the pages of projects and of their capabilities: how they are registered, imported, changed
// and tried.
package projects
