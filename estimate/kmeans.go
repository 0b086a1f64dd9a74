package estimate

import (
	"math"
	"math/rand/v2"
)

// KMeans divides points into k clusters, each point to the nearest mean, and returns every point's cluster. It uses
// Lloyd's algorithm from starting points that are drawn as in k-means++, far from each other. Of several such starts it
// keeps the one that ends with the points nearest to their means. Ties go to the lower cluster. Clusters are numbered
// by the last coordinate of their means, rising. If there are fewer distinct points than k, some clusters are empty.
func KMeans(points [][]float64, k int, rng *rand.Rand) (of []int) {
	const starts = 8
	of = make([]int, len(points))
	if len(points) == 0 || k <= 1 {
		return of
	}
	least := math.Inf(1)
	for range starts {
		means := spread(points, k, rng)
		try, sum := settle(points, means)
		if sum < least {
			renumber(try, means)
			of, least = try, sum
		}
	}
	return of
}

// settle moves means until no point changes its cluster, and returns the sum of squared distances. It finishes long
// before the bound, which only guards against cycles caused by rounding.
func settle(points, means [][]float64) (of []int, sum float64) {
	of = make([]int, len(points))
	for range 100 {
		moved := false
		sum = 0
		for i, p := range points {
			c, d := nearest(means, p)
			moved = moved || c != of[i]
			of[i] = c
			sum += d
		}
		if !moved {
			break
		}
		centre(points, of, means)
	}
	return of, sum
}

// spread draws k points, each with a probability proportional to its squared distance from those already drawn.
func spread(points [][]float64, k int, rng *rand.Rand) [][]float64 {
	means := [][]float64{append([]float64(nil), points[rng.IntN(len(points))]...)}
	far := make([]float64, len(points))
	for len(means) < k {
		total := 0.0
		for i, p := range points {
			_, far[i] = nearest(means, p)
			total += far[i]
		}
		at, pick := rng.Float64()*total, 0
		for i, d := range far {
			if at -= d; at < 0 {
				pick = i
				break
			}
		}
		means = append(means, append([]float64(nil), points[pick]...))
	}
	return means
}

func nearest(means [][]float64, p []float64) (cluster int, squared float64) {
	squared = math.Inf(1)
	for c, m := range means {
		d := 0.0
		for i := range p {
			d += (p[i] - m[i]) * (p[i] - m[i])
		}
		if d < squared {
			cluster, squared = c, d
		}
	}
	return cluster, squared
}

// centre moves each mean to the centre of its points; one without points stays.
func centre(points [][]float64, of []int, means [][]float64) {
	count := make([]int, len(means))
	for _, c := range of {
		count[c]++
	}
	for c, n := range count {
		if n > 0 {
			clear(means[c])
		}
	}
	for i, p := range points {
		for j, v := range p {
			means[of[i]][j] += v / float64(count[of[i]])
		}
	}
}

func renumber(of []int, means [][]float64) {
	last := len(means[0]) - 1
	rank := make([]int, len(means))
	for c := range means {
		for d := range means {
			if means[d][last] < means[c][last] || means[d][last] == means[c][last] && d < c {
				rank[c]++
			}
		}
	}
	for i, c := range of {
		of[i] = rank[c]
	}
}
