package pgtest

import "syscall"

// endWithUs ends the server also when the tests are killed.
func endWithUs(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }
