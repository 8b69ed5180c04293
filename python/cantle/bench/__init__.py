"""Speed and memory of the strategies over a corpus, beside other libraries.

`cantle bench` and the repository's own benchmarks are built from this; nothing else imports it.
Here: the peers, the check of an answer, one measurement in a process of its own, the rounds of
many, and the results as a table and a picture.
"""
