"""Speed as ratios: each bench measures Strata and what it is held against in one run, on real data.

`python -m tests.benchmarks [NAME…]` prints a line a ratio and ends with 1 where one misses its bar.
A set of data that is not at hand is left out, which is said. `STRATA_BENCH_DATA` names the folder
of data sets.

- `retrieval`, `indexing`, `context`, `window`, `durability`: the benches, by topic
- `measure`, `filled`: ratios and data that all benches use
- `page`: writes `BENCHMARKS.md`, from `rows`
- `top_lines`: the ten lines on top of the page, and where each takes its figures
- `missed`: why goals are missed, one sentence a row
"""
