package config

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/strict"
)

// maxExec is how long the command of an exec: reference may take: a password manager that asks a person is not for a
// program that runs alone.
const maxExec = 10 * time.Second

const referenceHint = "write env:NAME, file:PATH or exec:COMMAND, and keep the secret itself out of this file"

// secret resolves a reference. What it finds is taken to the letter, but for one line end of a file or a command. No
// fault repeats a value that could be the secret.
func (l *loader) secret(n *strict.Node) provider.Secret {
	if l.unresolved(n) == "" {
		return provider.Secret{}
	}
	scheme, target, _ := strings.Cut(n.Text(), ":")
	var value, problem string
	switch scheme {
	case "env":
		value, problem = l.fromEnv(target)
	case "file":
		value, problem = l.fromFile(target)
	case "exec":
		value, problem = l.fromCommand(target)
	}
	if problem == "" && value == "" {
		problem = "it is empty"
	}
	if problem != "" {
		l.faults.Addf(n, "", "%s: %s: %s", n.Key(), strings.TrimSpace(scheme+" "+target), problem)
	}
	return provider.NewSecret(value)
}

// unresolved is a reference as it stands, checked for its form; empty if there is none or it is none.
func (l *loader) unresolved(n *strict.Node) string {
	if n == nil {
		return ""
	}
	for _, scheme := range []string{"env:", "file:", "exec:"} {
		if target, ok := strings.CutPrefix(n.Text(), scheme); ok && strings.TrimSpace(target) != "" {
			return n.Text()
		}
	}
	l.faults.Addf(n, referenceHint, "%s: this is not a reference to a secret%s", n.Key(), lookalike(n.Text()))
	return ""
}

// lookalike recognises the references of other tools. It gives away no more than that.
func lookalike(text string) string {
	if strings.HasPrefix(text, "$") || strings.HasPrefix(text, "{{") {
		return ", though it looks like one of another program"
	}
	return ""
}

func (l *loader) fromEnv(name string) (value, problem string) {
	if l.options.Env != nil {
		if value, ok := l.options.Env(name); ok {
			return value, ""
		}
	}
	return "", "the environment variable is not set"
}

func (l *loader) fromFile(name string) (value, problem string) {
	read := l.options.ReadFile
	if read == nil {
		read = strict.ReadFile
	}
	data, err := read(l.path(name))
	if err != nil {
		return "", strict.Reason(err)
	}
	return line(data), ""
}

func (l *loader) fromCommand(command string) (value, problem string) {
	run := l.options.Run
	if run == nil {
		run = output
	}
	ctx, cancel := context.WithTimeout(l.ctx, maxExec)
	defer cancel()
	data, err := run(ctx, strings.Fields(command))
	switch {
	case ctx.Err() != nil:
		return "", fmt.Sprintf("the command gave no answer within %s", maxExec)
	case err != nil:
		return "", "the command did not succeed: " + err.Error()
	}
	return line(data), ""
}

// output runs a command without a shell. What it writes to stderr is dropped: it may repeat the secret.
func output(ctx context.Context, argv []string) ([]byte, error) {
	return exec.CommandContext(ctx, argv[0], argv[1:]...).Output() //nolint:gosec // the operator's own command, from the operator's own file
}

func line(data []byte) string {
	return string(bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r")))
}
