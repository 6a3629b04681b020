package report

// Progress is told how a run goes. Its methods are safe for concurrent use and return at once.
type Progress interface {
	// JobDone says that a job has ended.
	JobDone(r Result)
	// Note says something that a person should know now. It is one line.
	Note(text string)
	// Close ends the display and waits for it. It may be called twice.
	Close()
}

// NoProgress shows nothing.
type NoProgress struct{}

var (
	_ Progress = NoProgress{}
	_ Progress = (*Plain)(nil)
	_ Progress = (*Live)(nil)
)

// JobDone does nothing.
func (NoProgress) JobDone(Result) {}

// Note does nothing.
func (NoProgress) Note(string) {}

// Close does nothing.
func (NoProgress) Close() {}
