package provider

import (
	"bytes"
	_ "embed" // the catalogue is data that ships with the binary
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

//go:embed catalogue.yaml
var catalogueYAML string

// Catalogue is every provider that ships with Limpet, in the order of the file. The caller owns the result.
func Catalogue() []Definition {
	defs, err := Parse([]byte(catalogueYAML))
	if err != nil {
		panic("embedded provider catalogue: " + err.Error()) // a bug: the file is part of the program
	}
	return defs
}

// Lookup finds a definition of the catalogue by name. An unknown name is an error that lists the known ones.
func Lookup(name string) (Definition, error) {
	var known []string
	for _, d := range Catalogue() {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return Definition{}, fmt.Errorf("provider %q is not in the catalogue: use one of %s", name, strings.Join(known, ", "))
}

// Parse reads a YAML list of definitions. Unknown keys and invalid definitions are errors, all reported.
func Parse(data []byte) ([]Definition, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var defs []Definition
	if err := dec.Decode(&defs); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("provider definitions: %w", err)
	}
	var faults []error
	for _, d := range defs {
		faults = append(faults, d.Validate())
	}
	return defs, errors.Join(faults...)
}
