package writebehind

import "sync"

// views are the commits that Views show at the moment.
type views struct {
	mu      sync.Mutex
	commits map[int64]int // how many Views show a commit
}

func (v *views) began(commit int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.commits == nil {
		v.commits = map[int64]int{}
	}
	v.commits[commit]++
}

func (v *views) ended(commit int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.commits[commit]--; v.commits[commit] == 0 {
		delete(v.commits, commit)
	}
}

// last is the last commit that a View shows, -1 for none.
func (v *views) last() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := int64(-1)
	for commit := range v.commits {
		last = max(last, commit)
	}
	return last
}
