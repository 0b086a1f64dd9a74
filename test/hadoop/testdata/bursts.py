"""Two bursts of work with a pause between them that is longer than an idle executor lives.

usage: bursts.py PAUSE-SECONDS
"""
import sys
import time

from pyspark.sql import SparkSession


def burst(context, tasks):
    def one(n):
        time.sleep(3)
        return n % 3, n

    return context.parallelize(range(tasks), tasks).map(one).reduceByKey(lambda a, b: a + b, 2).collect()


def main():
    spark = SparkSession.builder.appName("bursts").getOrCreate()
    first = sum(total for _, total in burst(spark.sparkContext, 12))
    time.sleep(float(sys.argv[1]))
    second = sum(total for _, total in burst(spark.sparkContext, 6))
    print("totals", first, second)
    spark.stop()


main()
