package estimate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKMeans(t *testing.T) {
	points := [][]float64{{9, 9}, {0, 0}, {9, 8}, {0, 1}, {5, 4}, {1, 0}, {5, 5}}
	for seed := range uint64(20) {
		of := KMeans(points, 3, rand.New(rand.NewPCG(seed, 1)))
		if want := []int{2, 0, 2, 0, 1, 0, 1}; !slices.Equal(of, want) {
			t.Errorf("seed %d: %v, want %v", seed, of, want)
		}
	}
}

// One cluster, no points to divide, fewer distinct points than clusters.
func TestKMeansEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	if of := KMeans(nil, 3, rng); len(of) != 0 {
		t.Error(of)
	}
	if of := KMeans([][]float64{{1}, {2}}, 1, rng); !slices.Equal(of, []int{0, 0}) {
		t.Error(of)
	}
	of := KMeans([][]float64{{1}, {7}, {1}, {7}}, 3, rng)
	if of[0] != of[2] || of[1] != of[3] || of[0] == of[1] {
		t.Error(of)
	}
}
