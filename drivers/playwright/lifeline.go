package playwright

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const (
	tailLines     = 20  // of node's stderr, for the message of a failed start
	tailLineBytes = 400 // of each
)

// A lifeline is the named pipe that node holds as its stderr. Its end says that node is gone, which the library
// tells nobody; what came before says why.
type lifeline struct {
	holder *os.File // keeps the pipe open until node has opened it
	reader *os.File
	gone   chan struct{} // closed when node's end is closed

	mu   sync.Mutex
	pid  int // of the node that wrote last; 0 before the first
	tail []string
}

// newLifeline makes the pipe and starts to read it. The goroutine ends when node has gone and release was called.
func newLifeline(path string) (*lifeline, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make node's stderr: %w", err)
	}
	// Opened for reading and writing first: neither side then waits for the other to open.
	holder, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // a path of our own
	if err != nil {
		return nil, fmt.Errorf("hold node's stderr: %w", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a path of our own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read node's stderr: %w", err), holder.Close())
	}
	l := &lifeline{holder: holder, reader: reader, gone: make(chan struct{})}
	go l.read()
	return l, nil
}

// release lets the pipe end with node. Before, the end of a node is not noticed: the library starts two, one
// after the other.
func (l *lifeline) release() { _ = l.holder.Close() }

// read takes lines until the last writer is gone.
func (l *lifeline) read() {
	defer close(l.gone)
	defer l.reader.Close()
	lines := bufio.NewReader(l.reader)
	for {
		line, err := lines.ReadString('\n')
		l.note(strings.TrimRight(line, "\n"))
		if err != nil {
			return
		}
	}
}

// note keeps one line.
func (l *lifeline) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pid, ok := strings.CutPrefix(line, "pid "); ok {
		if n, err := strconv.Atoi(pid); err == nil {
			l.pid = n
			return
		}
	}
	if line == "" {
		return
	}
	l.tail = append(l.tail, line[:min(len(line), tailLineBytes)])
	if len(l.tail) > tailLines {
		l.tail = l.tail[len(l.tail)-tailLines:]
	}
}

// text is the end of what node wrote, on one line.
func (l *lifeline) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.tail, " | ")
}

// kill ends node at once. It does nothing once node is gone.
func (l *lifeline) kill() {
	l.mu.Lock()
	pid := l.pid
	l.mu.Unlock()
	select {
	case <-l.gone:
	default:
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
