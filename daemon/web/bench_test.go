package web

import (
	"reflect"
	"testing"

	"heddle/rm"
	"heddle/yarn/rest"
)

// BenchmarkTakesUp measures how long it takes to find out how much memory an answer with 1,000 applications takes up.
func BenchmarkTakesUp(b *testing.B) {
	out := rest.Apps{List: make([]rest.App, 1000)}
	list := rm.Apps{List: make([]rm.AppReport, 1000)}
	b.Run("rest", func(b *testing.B) {
		for b.Loop() {
			takesUp(reflect.ValueOf(out), 3)
		}
	})
	b.Run("rm", func(b *testing.B) {
		for b.Loop() {
			takesUp(reflect.ValueOf(list), 3)
		}
	})
}
