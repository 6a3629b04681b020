// Command limpet runs browser jobs as many identities, each from its own exit.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.LookupEnv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the command as a function: what scripts test. It answers the exit code of contracts.md.
func run(ctx context.Context, args []string, env func(string) (string, bool), in io.Reader, out, errs io.Writer) int {
	signals := make(chan os.Signal, 2) // two: the first stops, the second aborts
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	a := &app{env: env, in: in, out: out, errs: errs, signals: signals}
	return a.run(ctx, args)
}
