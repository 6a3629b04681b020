package config

import (
	_ "embed" // the schema is data that ships with the binary
	"slices"
	"sync"

	"github.com/limpet-dev/limpet/harness/strict"
)

//go:embed config.schema.json
var schemaJSON []byte

// Schema is the JSON Schema (draft 07) of limpet.yaml. The caller owns the result.
func Schema() []byte { return slices.Clone(schemaJSON) }

// compiledSchema is compiled on first use, once.
var compiledSchema = sync.OnceValue(func() *strict.Schema {
	s, err := strict.NewSchema("config.schema.json", schemaJSON)
	if err != nil {
		panic("embedded configuration schema: " + err.Error()) // a bug: the file is part of the program
	}
	return s
})
