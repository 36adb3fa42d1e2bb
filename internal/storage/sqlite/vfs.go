package sqlite

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A VFS is SQLite's interface to the operating system. Ours wraps another VFS and replaces
// a few functions: this file has the mechanism, pagesum.go and gather.go the functions.
//
// The structures live in C memory, and the functions put into them must be
// declared functions, never closures: the garbage collector doesn't see them.

type (
	openFunc = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	ioFunc   = func(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32

	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	sizeFunc     = func(tls *libc.TLS, file, size uintptr) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
)

// layeredVFS is a copy of a VFS that remembers which one it was copied from.
type layeredVFS struct {
	lib.Tsqlite3_vfs
	base *lib.Tsqlite3_vfs
}

// layeredMethods is the same for the methods of an open file.
type layeredMethods struct {
	lib.Tsqlite3_io_methods
	base *lib.Tsqlite3_io_methods
}

var layers struct {
	sync.Mutex
	vfs     map[string]bool
	methods map[methodsOf]uintptr
}

// methodsOf names the methods that a VFS replaces, for a kind of file.
type methodsOf struct {
	vfs, base uintptr
	kind      string
}

// registerVFS registers a VFS called name that wraps the one called base ("" is the
// system's) and opens files with open. A second call changes nothing.
func registerVFS(name, base string, open openFunc) error {
	layers.Lock()
	defer layers.Unlock()
	if layers.vfs[name] {
		return nil
	}
	tls := libc.NewTLS()
	defer tls.Close()
	under := uintptr(0)
	if base != "" {
		under = cString(base)
	}
	found := lib.Xsqlite3_vfs_find(tls, under)
	if found == 0 {
		return fmt.Errorf("SQLite has no VFS %q", base)
	}
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(layeredVFS{})))
	v := at[layeredVFS](p)
	v.base = at[lib.Tsqlite3_vfs](found)
	v.Tsqlite3_vfs = *v.base
	v.FpNext, v.FzName, v.FxOpen = 0, cString(name), pointerTo(open)
	if rc := lib.Xsqlite3_vfs_register(tls, p, 0); rc != lib.SQLITE_OK {
		return fmt.Errorf("register SQLite VFS: code %d", rc)
	}
	if layers.vfs == nil {
		layers.vfs = map[string]bool{}
	}
	layers.vfs[name] = true
	return nil
}

// layer gives a file that vfs has opened a copy of its methods, changed by replace. All
// files of a kind with the same methods share the copy.
func layer(tls *libc.TLS, vfs, file uintptr, kind string, replace func(*lib.Tsqlite3_io_methods)) {
	layers.Lock()
	defer layers.Unlock()
	f := at[lib.Tsqlite3_file](file)
	key := methodsOf{vfs, f.FpMethods, kind}
	p, ok := layers.methods[key]
	if !ok {
		p = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(layeredMethods{})))
		m := at[layeredMethods](p)
		m.base = at[lib.Tsqlite3_io_methods](f.FpMethods)
		m.Tsqlite3_io_methods = *m.base
		replace(&m.Tsqlite3_io_methods)
		if layers.methods == nil {
			layers.methods = map[methodsOf]uintptr{}
		}
		layers.methods[key] = p
	}
	f.FpMethods = p
}

// baseOf returns the original methods of a layered file.
func baseOf(file uintptr) *lib.Tsqlite3_io_methods {
	return at[layeredMethods](at[lib.Tsqlite3_file](file).FpMethods).base
}

// at reads an address in C memory.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// callable makes a Go function of a C function pointer.
func callable[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// pointerTo makes a C function pointer of a declared Go function.
func pointerTo[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// cString makes a C string that is never freed.
func cString(s string) uintptr {
	p, err := libc.CString(s)
	if err != nil {
		panic(err) // out of memory for a few bytes
	}
	return p
}
