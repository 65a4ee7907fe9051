#!/usr/bin/env python3
"""Computes how many commits a second several servers of one PostgreSQL store reach; see Documentation/Scaling.md.

    Scripts/scaling.py                                   the table of the documentation
    Scripts/scaling.py --share 0.2 --servers 1,2,3,4     each server has a fifth of a processor
    Scripts/scaling.py --measured 1=1500,2=2700          also shows how far the model is off

The model is a closed queueing network in product form, which mean value analysis and convolution solve exactly; this
is convolution, which stays exact for stations whose speed depends on their queue. Each server is one station. The line
of commits is another: with n commits of s servers in it, a turn of one server takes n / s of them and lasts
fixed + n / s * each. Every client waits for its commit and sends the next one at once.
"""

import argparse
from math import exp, lgamma, log


def combined(parts):
    """Returns the logarithm of the sum of numbers given by their logarithms."""
    most = max(parts)
    return most + log(sum(exp(part - most) for part in parts))


def solved(servers, clients, work, fixed, each):
    """Returns the commits a second, and the milliseconds of a commit and of its part in the line."""
    def seconds_between(n):
        size = max(1, n / servers)
        return (fixed + size * each) / size

    line = [0.0]
    for n in range(1, clients + 1):
        line.append(line[-1] + log(seconds_between(n)))
    # All ways to distribute n commits among servers that are equally fast and equally busy.
    at_servers = [
        n * log(work / servers) + lgamma(n + servers) - lgamma(servers) - lgamma(n + 1) for n in range(clients + 1)
    ]

    def states(n):
        return [line[j] + at_servers[n - j] for j in range(n + 1)]

    whole = combined(states(clients))
    rate = exp(combined(states(clients - 1)) - whole)
    in_line = sum(j * exp(part - whole) for j, part in enumerate(states(clients)))
    return rate, 1000 * clients / rate, 1000 * in_line / rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", default="1,2,4,8,16", help="numbers of servers")
    parser.add_argument("--clients", type=int, default=64, help="clients of each server")
    parser.add_argument("--work", type=float, default=150, help="microseconds of a server's processor for a commit")
    parser.add_argument("--share", type=float, default=2, help="processors of each server")
    parser.add_argument("--fixed", type=float, default=1000, help="microseconds of a turn in the line")
    parser.add_argument("--each", type=float, default=27, help="microseconds of each commit in a turn")
    parser.add_argument("--measured", default="", help="measured commits a second, such as 1=1500,2=2700")
    options = parser.parse_args()
    measured = dict(pair.split("=") for pair in options.measured.split(",") if pair)
    first = None
    print(f"{'servers':>7} {'commits/s':>10} {'of one':>7} {'ms':>7} {'in line':>8}  measured")
    for text in options.servers.split(","):
        servers = int(text)
        rate, time, in_line = solved(
            servers,
            servers * options.clients,
            options.work / options.share / 1e6,
            options.fixed / 1e6,
            options.each / 1e6,
        )
        first = first or rate
        known = float(measured[text]) if text in measured else None
        against = f"{known:.0f} ({100 * (rate / known - 1):+.0f} %)" if known else ""
        print(f"{servers:7} {rate:10.0f} {rate / first:7.2f} {time:7.1f} {in_line:8.1f}  {against}".rstrip())


if __name__ == "__main__":
    main()
