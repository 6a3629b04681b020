package gateway_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain fails if a goroutine of the gateway outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(2 * time.Second)
	for runtime.NumGoroutine() > 2 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); code == 0 && n > 2 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left\n", n)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code) //nolint:forbidigo // TestMain has no other way to fail
}
