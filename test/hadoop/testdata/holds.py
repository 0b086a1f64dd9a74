"""Hold executors for some seconds, with tasks that sleep.

usage: holds.py TASKS SECONDS
"""
import sys
import time

from pyspark.sql import SparkSession

tasks, seconds = int(sys.argv[1]), float(sys.argv[2])
spark = SparkSession.builder.appName("holds").getOrCreate()
spark.sparkContext.parallelize(range(tasks), tasks).foreach(lambda _: time.sleep(seconds))
spark.stop()
