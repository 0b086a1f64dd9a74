package newcomers_test

import (
	"testing"

	"heddle/internal/testkit/dialogue"
)

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }
