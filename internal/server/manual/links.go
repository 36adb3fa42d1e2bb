package manual

import (
	"path"
	"strings"
)

// repository is the address of files that the binary doesn't contain.
const repository = "https://github.com/countersign/countersign/blob/main/"

// address is where a page is served: how-to/approve.md at /docs/how-to/approve.
func address(file string) string {
	if file == "README.md" {
		return Prefix + "/"
	}
	return Prefix + "/" + strings.TrimSuffix(file, ".md")
}

// target is the address of a link: within the pages their own address, outside them the
// repository's; any other link is unchanged.
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
