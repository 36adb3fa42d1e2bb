package httpapi

import (
	"strings"

	"github.com/countersign/countersign"
)

// makeChange answers what the operation answers that was proposed.
func (a *API) makeChange(c *call) (any, error) {
	made, err := a.control.MakeChange(c.ctx, c.actor, c.id)
	if link, is := made.(countersign.SignInLink); is {
		link.URL = a.linkAddress(link.URL)
		made = link
	}
	return made, err
}

// prefixOf is the prefix under which a request came.
func prefixOf(path string) string {
	if strings.HasPrefix(path, AliasPrefix+"/") {
		return AliasPrefix
	}
	return Prefix
}
