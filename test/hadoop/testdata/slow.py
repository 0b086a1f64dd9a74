"""Many short tasks in two stages: time for something to happen to the cluster meanwhile.

usage: slow.py TASKS SECONDS
"""
import sys
import time

from pyspark.sql import SparkSession


def main():
    tasks, seconds = int(sys.argv[1]), float(sys.argv[2])
    spark = SparkSession.builder.appName("slow").getOrCreate()

    def square(n):
        time.sleep(seconds)
        return n % 4, n * n

    numbers = spark.sparkContext.parallelize(range(tasks), tasks)
    sums = dict(numbers.map(square).reduceByKey(lambda a, b: a + b, 4).collect())
    print("sums", [sums[k] for k in sorted(sums)])
    spark.stop()


main()
