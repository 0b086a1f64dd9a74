"""Joins two tables and groups what comes of it, twice, with a pause between; fails where a result is wrong.

usage: sql.py ROWS PAUSE-SECONDS
"""
import sys
import time

from pyspark.sql import SparkSession

ITEMS, KINDS, PARTS = 100, 7, 6

QUERY = """
SELECT kind, count(*) AS sold, sum(amount) AS total
FROM sales JOIN items ON sales.item = items.item
GROUP BY kind ORDER BY kind
"""


def expected(rows):
    each = rows // ITEMS
    totals = [[kind, 0, 0] for kind in range(KINDS)]
    for item in range(ITEMS):
        of = totals[item % KINDS]
        of[1] += each
        of[2] += each * item + ITEMS * each * (each - 1) // 2
    return totals


def main():
    rows, pause = int(sys.argv[1]), float(sys.argv[2])
    spark = (
        SparkSession.builder.appName("sql")
        .config("spark.sql.shuffle.partitions", PARTS)
        .config("spark.sql.autoBroadcastJoinThreshold", -1)
        .getOrCreate()
    )
    spark.range(0, rows, 1, PARTS).selectExpr(f"id % {ITEMS} AS item", "id AS amount").createOrReplaceTempView("sales")
    spark.range(ITEMS).selectExpr("id AS item", f"id % {KINDS} AS kind").createOrReplaceTempView("items")
    for again in range(2):
        time.sleep(again * pause)
        got = [list(row) for row in spark.sql(QUERY).collect()]
        if got != expected(rows):
            sys.exit(f"got {got}, want {expected(rows)}")
    print("as expected")
    spark.stop()


main()
