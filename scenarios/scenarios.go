// Package scenarios has the scenarios of this folder that programs run without the folder.
package scenarios

import _ "embed"

// Demo is demo.yaml, the scenario of the README's first table.
//
//go:embed demo.yaml
var Demo []byte
