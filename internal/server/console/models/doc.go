// Package models has the pages of models: their list, a model and its simulation, the forms that change it, and
// how a plan is made of it.
package models
