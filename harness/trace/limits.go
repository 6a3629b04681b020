package trace

// Limits bound what a Recorder holds. The zero value is usable.
type Limits struct {
	// Bytes is what events and log lines may take together, in memory. Zero means 4 MiB: about 8000
	// requests at 500 bytes each with their headers.
	Bytes int
	// HTMLBytes is what attached pages may take together. Zero means 8 MiB: two snapshots of the largest
	// size that a driver hands over.
	HTMLBytes int
	// ImageBytes is what screenshots may take together. Zero means 8 MiB.
	ImageBytes int
	// Steps is how many steps are kept. Zero means 2000.
	Steps int
}

func (l Limits) orDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 4 << 20
	}
	if l.HTMLBytes <= 0 {
		l.HTMLBytes = 8 << 20
	}
	if l.ImageBytes <= 0 {
		l.ImageBytes = 8 << 20
	}
	if l.Steps <= 0 {
		l.Steps = 2000
	}
	return l
}

const (
	maxTextBytes = 16 << 10 // of one console message or error text; longer ones are cut
	maxURLBytes  = 4 << 10  // of one address: data: URLs hold whole images
)
