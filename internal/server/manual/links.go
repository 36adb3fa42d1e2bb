package manual

import (
	"path"
	"strings"
)

// repository is where the files live that the binary doesn't carry.
const repository = "https://github.com/countersign/countersign/blob/main/"

// address is where a page is served: how-to/approve.md at /docs/how-to/approve.
func address(file string) string {
	if file == "README.md" {
		return Prefix + "/"
	}
	return Prefix + "/" + strings.TrimSuffix(file, ".md")
}

// target is where a link on a page leads. One within the pages goes to their
// addresses, one out of them to the repository, any other stays as it is.
func target(page, destination string) string {
	if strings.Contains(destination, ":") || strings.HasPrefix(destination, "#") || strings.HasPrefix(destination, "/") {
		return destination
	}
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	file = path.Join(path.Dir(page), file)
	to := Prefix + "/" + file
	switch {
	case strings.HasPrefix(file, "../"):
		to = repository + strings.TrimPrefix(file, "../")
	case strings.HasSuffix(file, ".md"):
		to = address(file)
	}
	if hasAnchor {
		to += "#" + anchor
	}
	return to
}
